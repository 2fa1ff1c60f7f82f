"""Files that can be audited, for results of other programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array
from signorini.audit.record import record_of
from signorini.audit.steps import contact_frames
from signorini.errors import InputError
from signorini.io import write_tree
from signorini.scene import Scene, compile_scene, scene_to_text


def write_record(
    path: str | os.PathLike[str],
    scene: Scene,
    *,
    time: ArrayLike,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Mapping[str, ArrayLike] | None = None,
    tolerance: float | None = None,
    theta: float = 1.0,
    gyroscopic: str = "conserving",
) -> None:
    """Write the motion of `scene` as any program computed it, so that it can be audited.

    Parameters
    ----------
    time : (n+1,) [s]
    q : (n+1, n_b, 7)
        Positions of the mass centres and unit quaternions (w, x, y, z); fixed bodies first, then the others, each in
        the order in which they were added.
    v : (n+1, n_b, 6)
        Velocities of the mass centres and angular velocities, world axes.
    contacts : columns, optional
        ``start`` (n+1,): step l has the rows ``start[l]:start[l+1]``; ``body_a``, ``body_b`` (rows,): numbers of
        bodies; ``point`` (rows, 3): on body b when the step begins; ``normal`` (rows, 3): unit, from a to b; ``gap``
        (rows,) when the step begins; ``impulse`` (rows, 3): on body b in this step, world axes. May have ``point_a``
        (rows, 3), on body a, and ``mu`` (rows,); otherwise these follow from the gap and from the scene; and ``couple``
        (rows, 3) of torsional and rolling friction on body b, world axes.
    tolerance : float, optional
        Residual to which the contact law was to be solved; default 1e-6.
    theta, gyroscopic
        How a step moves and turns bodies, as in :class:`~signorini.MoreauJean`.
    """
    text = scene_to_text(scene)
    if text is None:
        raise InputError("the scene holds Python functions, which no file can hold")
    settings: dict[str, Any] = {
        "scene": text,
        "formulation": {"moreau_jean": {"theta": theta, "gyroscopic": gyroscopic}},
    }
    if tolerance is not None:
        settings["tolerance"] = tolerance
    tree: dict[str, Any] = {
        "names": list(compile_scene(scene).names),
        "time": np.asarray(time, dtype=np.float64),
        "q": np.asarray(q, dtype=np.float64),
        "v": np.asarray(v, dtype=np.float64),
        "settings": settings,
    }
    if contacts is not None:
        columns = {key: np.asarray(value) for key, value in contacts.items()}
        for word in {"impulse", "couple"} & columns.keys():
            columns[word] = in_frames(columns["normal"], columns[word])
        tree["contacts"] = columns
    record_of(tree, str(path))  # complains about what does not fit
    write_tree(path, tree)


def in_frames(normal: ArrayLike, world: ArrayLike) -> Array:
    """Return vectors `world` (n, 3) in the frames (n, t, o) of contacts, (n, 3)."""
    frames = contact_frames(np.asarray(normal, dtype=np.float64).reshape(-1, 3))
    out: Array = np.einsum("cij,cj->ci", frames, np.asarray(world, dtype=np.float64).reshape(-1, 3))
    return out
