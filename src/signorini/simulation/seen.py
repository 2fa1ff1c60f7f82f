"""From the record of a run to the arrays that pictures and viewers take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._grades import OVERLAP_REMARK
from signorini.errors import FileError, InputError
from signorini.model.joints import RowKind
from signorini.scene import compile_scene, scene_from_text
from signorini.scene.solids import solids
from signorini.simulation.contact_table import ContactRows, Mode
from signorini.visual import Solid
from signorini.visual.film import CurveSeen, Film, Forces, JointsSeen
from signorini.visual.solids import SOLID_COLUMNS, solids_from_dict, solids_to_dict

if TYPE_CHECKING:
    from signorini.model import Model, State
    from signorini.simulation.trajectory import Trajectory

UNITS = ("", "rad", "m")
"""Of the coordinates of joints, by their numbers in files; joints may have none."""
_BEAM_POINTS = 13  # of the line of a flexible body
_THINNEST = 0.012  # of its length: the radius with which the line is drawn


def looks_of(model: Model) -> dict[str, Any]:
    """Return what bodies and joints look like, for files."""
    joints = model.joints.arrays
    return {
        "solids": solids_to_dict(solids(model)),
        "joints": {"body": joints.body_b, "anchor": joints.anchor_b, "frame": joints.frame_b, "unit": _units(model)},
    }


def _units(model: Model) -> IntArray:
    """Return the units of the coordinates of joints, by their numbers in `UNITS`."""
    rows = model.joints.coordinates
    units = np.full(model.joints.count, UNITS.index(""))
    units[rows.joint] = np.where(rows.kind == RowKind.ANGLE, UNITS.index("rad"), UNITS.index("m"))
    return units


def check_looks(looks: Any, bodies: int, where: str) -> None:
    """Raise `FileError` unless a file says what bodies look like as :func:`looks_of` does."""
    joints = looks.get("joints") if isinstance(looks, dict) else None
    if not isinstance(joints, dict) or not isinstance(looks.get("solids"), dict):
        raise FileError(f"{where}: looks must be a group of solids and joints")
    solid = looks["solids"]
    sizes: dict[str, Any] = {"joints": len(np.atleast_1d(joints.get("body", ())))}
    for word, first in (("solids", "body"), ("vertices", "vertex"), ("planes", "plane")):
        sizes[word] = len(np.atleast_1d(solid.get(first, ())))
    shapes = {"body": ("joints",), "anchor": ("joints", 3), "frame": ("joints", 4), "unit": ("joints",)}
    for group, columns in ((solid, SOLID_COLUMNS), (joints, shapes)):
        for name, axes in columns.items():
            found = group.get(name)
            shape = tuple(sizes[n] if isinstance(n, str) else n for n in axes)
            whole = name in ("body", "form", "unit") or name.endswith("_count")
            if not isinstance(found, np.ndarray) or found.shape != shape or found.dtype.kind != ("i" if whole else "f"):
                raise FileError(f"{where}: looks: {name} must be an array of the shape {shape}")
        if group["body"].size and not 0 <= group["body"].min() <= group["body"].max() < bodies:
            raise FileError(f"{where}: looks: body has values beyond 0 to {bodies - 1}")
    counts = (solid["vertex_count"], solid["plane_count"])
    form = solid["form"]
    if any((c < 0).any() for c in counts) or [int(c.sum()) for c in counts] != [sizes["vertices"], sizes["planes"]]:
        raise FileError(f"{where}: looks: counts of vertices and planes must add up to what is there")
    for name, values, count in (("form", form, 4), ("unit", joints["unit"], len(UNITS))):
        if values.size and not 0 <= values.min() <= values.max() < count:
            raise FileError(f"{where}: looks: {name} has values beyond 0 to {count - 1}")


def looks(trajectory: Trajectory) -> Mapping[str, Any]:
    """Return what bodies look like, of files of earlier versions from the scene that they hold."""
    if trajectory.looks:
        return trajectory.looks
    scene = trajectory.settings.get("scene")
    if scene is None:
        raise InputError("the file does not tell what its bodies look like: it was written by an earlier version")
    return looks_of(compile_scene(scene_from_text(scene, "the scene of the run")))


def seen_solids(trajectory: Trajectory) -> list[Solid]:
    """Return the solids of recorded bodies, numbered as :func:`seen_poses` has them.

    A flexible body is a chain of short capsules along its line.
    """
    rows = [trajectory.names.index(name) for name in trajectory.recorded]
    column = {b: k for k, b in enumerate(rows)}
    own = [
        solid._replace(body=column[solid.body])
        for solid in solids_from_dict(looks(trajectory)["solids"])
        if solid.body in column
    ]
    count = len(rows)
    for name, line in _lines(trajectory, np.array([0])):
        lengths = np.linalg.norm(np.diff(line[0], axis=0), axis=1)
        radius = _THINNEST * float(lengths.sum())
        owner = column[trajectory.names.index(name)]
        for k, length in enumerate(lengths):
            ends = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
            own.append(Solid(count + k, ends, np.zeros((0, 4)), radius, owner=owner))
        count += lengths.size
    return own


def seen_poses(trajectory: Trajectory, states: IntArray) -> Array:
    """Return the poses of recorded bodies in some of the recorded states, (k, rows, 7)."""
    poses: Array = trajectory.q[states]
    for _, line in _lines(trajectory, states):
        along = np.diff(line, axis=1)
        along /= np.linalg.norm(along, axis=2, keepdims=True)
        # The shortest turn that takes x along the piece; of one straight back any half turn.
        w = 1.0 + along[..., 0]
        turn = np.stack([w, np.zeros_like(w), -along[..., 2], along[..., 1]], axis=-1)
        turn[w < 1e-9] = (0.0, 0.0, 0.0, 1.0)
        turn /= np.linalg.norm(turn, axis=-1, keepdims=True)
        poses = np.concatenate([poses, np.concatenate([line[:, :-1], turn], axis=2)], axis=1)
    return poses


def film_of(trajectory: Trajectory, states: IntArray) -> Film:
    """Return some of the recorded states as a film."""
    look, solid = looks(trajectory), seen_solids(trajectory)
    joints, rows = look["joints"], [trajectory.names.index(name) for name in trajectory.recorded]
    seen = np.isin(joints["body"], rows)
    return Film(
        title=_title(trajectory),
        verdict="; ".join([trajectory.verdict, *trajectory.remarks()]),
        names=trajectory.recorded,
        solids=solid,
        time=trajectory.time[states],
        poses=seen_poses(trajectory, states),
        fixed_count=trajectory.fixed_count,
        planar=trajectory.planar,
        forces=forces_of(trajectory, states),
        joints=JointsSeen(
            np.searchsorted(rows, joints["body"][seen]),
            joints["anchor"][seen],
            joints["frame"][seen],
            joints["unit"][seen] > 0,
        ),
        curves=_curves(trajectory),
    )


def forces_of(trajectory: Trajectory, states: IntArray) -> list[Forces]:
    """Return the contacts of the steps that ended at some states; none at all where they were not recorded."""
    log = trajectory.contact_log
    if log.start.size < trajectory.time.size:
        return []
    found = log.rows(states[states > 0] - 1)
    h = np.concatenate([[1.0], trajectory.step_sizes])[states]
    certificate, every = trajectory.certificate, trajectory.every
    thinnest = certificate.overlap_extent[every - 1 :: every][found.step]
    overlaps = (found.gap < -OVERLAP_REMARK * thinnest) & (thinnest > 0.0)
    own = np.searchsorted(found.step, states - 1), np.searchsorted(found.step, states - 1, side="right")
    return [forces_of_rows(found.between(a, b), dt, overlaps[a:b]) for a, b, dt in zip(*own, h, strict=True)]


def forces_of_rows(rows: ContactRows, h: float, overlaps: BoolArray) -> Forces:
    """Return the contacts of one step of duration `h`."""
    normal = rows.normal_impulse[:, None] * rows.normal
    return Forces(rows.point, normal / h, (rows.impulse - normal) / h, rows.mode == Mode.SLIP, overlaps)


def film_of_state(model: Model, state: State) -> Film:
    """Return a film of one moment, with room for the forces of others."""
    joints, none = model.joints.arrays, np.zeros((0, 3))
    return Film(
        title="",
        verdict="",
        names=model.names,
        solids=solids(model),
        time=np.array([state.t]),
        poses=state.q[None],
        fixed_count=model.fixed_count,
        planar=model.planar,
        forces=[Forces(none, none, none, np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))],
        joints=JointsSeen(joints.body_b, joints.anchor_b, joints.frame_b, _units(model) > 0),
        curves=[],
    )


def _title(trajectory: Trajectory) -> str:
    moving = len(trajectory.names) - trajectory.fixed_count
    return f"{moving} {'body' if moving == 1 else 'bodies'}, {trajectory.step_time[-1]:g} s"


def _curves(trajectory: Trajectory) -> list[CurveSeen]:
    certificate, ends, energy = trajectory.certificate, trajectory.step_time[1:], trajectory.energy()
    curves = [
        CurveSeen("residual of the contact law", "", ends, certificate.residual, logarithmic=True),
        CurveSeen("deepest overlap", "mm", ends, 1e3 * np.maximum(0.0, -certificate.min_gap), logarithmic=False),
        CurveSeen("compliance", "", ends, certificate.compliance, logarithmic=False),
        CurveSeen("joint drift", "m, rad", ends, certificate.joint_drift, logarithmic=True),
        CurveSeen("kinetic energy", "J", trajectory.time, energy.kinetic, logarithmic=False),
        CurveSeen("energy, total", "J", trajectory.time, energy.total - energy.total.min(), logarithmic=False),
        CurveSeen("error of the energy balance", "", ends, certificate.energy_error, logarithmic=True),
    ]
    always = ("residual of the contact law", "deepest overlap", "energy, total", "error of the energy balance")
    return [curve for curve in curves if curve.values.size and (curve.title in always or curve.values.any())]


def _lines(trajectory: Trajectory, states: IntArray) -> list[tuple[str, Array]]:
    """Return the lines of flexible bodies that can be drawn in some states, (k, m, 3)."""
    names = [entry["name"] for entry in trajectory.flexible.values() if "length" in entry]
    return [
        (name, np.array([trajectory.deformed(name, int(step), _BEAM_POINTS, spatial=True) for step in states]))
        for name in names
        if name in trajectory.recorded
    ]
