"""Joints, springs and what scene files say of them, so that reading gives the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.scene.joint import UNTURNED, Joint
from signorini.scene.scene import Scene
from signorini.scene.shape import Shape
from signorini.scene.shapes import Disc, Sphere

Repeating = Callable[[ArrayLike, Callable[[list[float]], ArrayLike]], Any]
"""Of a unit vector and of how it is read: a vector that reading turns into exactly this one."""

_TWO_POINTS = ("distance", "spring")
_TWO_AXES = ("universal", "gear")


def joint_to_dict(scene: Scene, joint: Joint, repeating: Repeating) -> dict[str, Any]:
    """Return the entry of a joint, or of a spring, in a scene file."""
    if joint.motion is not None:
        raise InputError(f"joint {joint.name!r}: motion is a Python function, cannot be saved in a scene file")
    entry: dict[str, Any] = {"name": joint.name}
    if joint.kind != "spring":
        entry["kind"] = joint.kind
    if joint.body_a is not None:
        entry["body_a"] = joint.body_a
    entry["body_b"] = joint.body_b
    if joint.kind != "gear":
        points = joint.anchor[:, : 2 if scene.planar else 3].tolist()
        entry["anchor"] = points if joint.kind in _TWO_POINTS else points[0]
    if joint.kind == "spring":
        return entry | _spring(joint)
    entry |= _axis(scene, joint, repeating)
    if joint.kind == "gear":
        entry["ratio"] = joint.ratio
    if any(joint.load_friction):
        entry["friction"] = ["load", *joint.load_friction]
    elif joint.friction > 0.0:
        entry["friction"] = joint.friction
    if np.isfinite(joint.limits).any():
        entry["limits"] = list(joint.limits)
    if joint.stiffness > 0.0 or joint.rest != 0.0:
        entry["spring"] = [joint.stiffness, joint.rest] if joint.rest != 0.0 else joint.stiffness
    if joint.damping > 0.0:
        entry["damping"] = joint.damping
    return entry


def _spring(joint: Joint) -> dict[str, Any]:
    """Return the words of a spring; reading subtracts the distance again, which undoes the rounding of the sum."""
    entry: dict[str, Any] = {"stiffness": joint.stiffness}
    if joint.damping > 0.0:
        entry["damping"] = joint.damping
    if joint.rest != 0.0:
        entry["length"] = joint.rest + float(np.linalg.norm(joint.anchor[1] - joint.anchor[0]))
    return entry


def _axis(scene: Scene, joint: Joint, repeating: Repeating) -> dict[str, Any]:
    """Return the word for one axis or two, none where the file need not say it."""
    if np.array_equal(joint.axis, np.tile([0.0, 0.0, 1.0], (2, 1))) and (scene.planar or joint.kind in UNTURNED):
        return {}
    if joint.kind not in _TWO_AXES:
        return {"axis": repeating(joint.axis[0], lambda axis: _read(scene, joint, axis)[0])}
    first = repeating(joint.axis[0], lambda axis: _read(scene, joint, [axis, joint.axis[1]])[0])
    return {"axis": [first, repeating(joint.axis[1], lambda axis: _read(scene, joint, [first, axis])[1])]}


def _read(scene: Scene, joint: Joint, axis: ArrayLike) -> Array:
    """Return the axes (2, 3) that a joint of this kind makes of `axis`."""
    trial = Scene(planar=scene.planar)
    shape: Shape = Disc(1.0) if scene.planar else Sphere(1.0)
    origin = np.zeros(2 if scene.planar else 3)
    body = trial.add_body(shape, mass=1.0, position=origin)
    anchor = None if joint.kind == "gear" else joint.anchor[: 2 if joint.kind in _TWO_POINTS else 1, : origin.size]
    if anchor is not None and joint.kind not in _TWO_POINTS:
        anchor = anchor[0]
    ratio = joint.ratio if joint.kind == "gear" else None
    return trial.add_joint(joint.kind, None, body, anchor=anchor, axis=axis, ratio=ratio).axis
