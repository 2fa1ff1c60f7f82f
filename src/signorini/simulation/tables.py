"""A run for other programs: tables of named columns, a labelled dataset, and the dimensions of what a file holds."""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from signorini._arrays import Array
from signorini.errors import InputError, suggestion
from signorini.io import Axes, replacing
from signorini.simulation.contact_table import Mode

if TYPE_CHECKING:
    from signorini.simulation.trajectory import Trajectory

TABLES: Final = ("motion", "joints", "energy", "certificate", "contacts")
_MOTION_UNITS: Final = {
    "position": "m",
    "centre": "m",
    "orientation": "1",
    "linear_velocity": "m s-1",
    "angular_velocity": "rad s-1",
}
_CONTACT_UNITS: Final = {
    "point": "m",
    "normal": "1",
    "gap": "m",
    "impulse": "N s",
    "slip": "m s-1",
}
_STATES: Final = {
    "time": Axes(("time",), "s", "recorded times"),
    "modal": Axes(("time", "mode"), "", "coordinates of modes"),
    "modal_rate": Axes(("time", "mode"), "", "rates of modes"),
    "kinetic": Axes(("time",), "J", "kinetic energy"),
    "potential": Axes(("time",), "J", "potential energy"),
    "mass_centre": Axes(("names", "axis"), "m", "mass centre in the frame of the body"),
    "joints/coordinate": Axes(("time", "names"), "", "coordinate of the joint [rad] or [m]"),
    "joints/speed": Axes(("time", "names"), "", "its speed [rad/s] or [m/s]"),
    "joints/effort": Axes(("recorded_step", "names"), "", "impulse of the step along it [N m s] or [N s]"),
    "joints/reaction": Axes(("recorded_step", "names", "twist"), "", "impulse [N s] and moment [N m s] on body b"),
    "joints/ending": Axes(("recorded_step", "names", "twist"), "", "part of the reaction where the step ends"),
}


def described(tree: dict[str, Any]) -> dict[str, Axes]:
    """Return the dimensions of the arrays in the tree of a run, so that others can read its file by their names."""
    bodies = "recorded" if "recorded" in tree else "names"
    axes = {
        **_STATES,
        "q": Axes(("time", bodies, "pose"), "", "mass centre [m], then unit quaternion (w, x, y, z)"),
        "v": Axes(("time", bodies, "twist"), "", "velocity of the mass centre [m/s], then angular velocity [rad/s]"),
    }
    axes |= {f"balance/{key}": Axes(("step",), "J", "of the step") for key in tree["balance"]}
    axes |= {f"certificate/{key}": Axes(("step",)) for key in tree["certificate"]}
    axes |= {
        f"contacts/{key}": Axes(("contact", "axis")[: column.ndim])
        for key, column in tree["contacts"].items()
        if column is not None and key != "start"
    }
    return axes | {"contacts/start": Axes(("bound",), "1", "rows of step l: from start[l] to start[l + 1]")}


def table_of(trajectory: Trajectory, what: str) -> dict[str, Any]:
    """Return the columns of one of the `TABLES` by name, all of the same length."""
    if what not in TABLES:
        raise InputError(f"table {what!r} is unknown{suggestion(what, TABLES)}")
    match what:
        case "motion":
            return {"time": trajectory.time, **_motion(trajectory)}
        case "joints":
            log = trajectory.joint_log
            both = (("coordinate", log.coordinate), ("speed", log.speed))
            columns = {f"{name}.{word}": x[:, g] for g, name in enumerate(log.names) for word, x in both}
            return {"time": trajectory.time, **columns}
        case "energy":
            energy = trajectory.energy()
            return {"time": trajectory.time, **{name: getattr(energy, name) for name in energy.__slots__}}
        case "certificate":
            return {"time": trajectory.step_time[1:], **trajectory.certificate.to_dict()}
        case _:
            contacts = _contacts(trajectory)
            flat: dict[str, Any] = {}
            for name, x in contacts.items():
                flat |= {name: x} if x.ndim == 1 else {f"{name}.{axis}": x[:, k] for k, axis in enumerate("xyz")}
            return flat


def write_csv(trajectory: Trajectory, path: str | os.PathLike[str], what: str) -> None:
    """Write one table with a line of names; numbers have all their digits."""
    columns = table_of(trajectory, what)
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))


def dataset_of(trajectory: Trajectory) -> Any:
    """Return all of it as an xarray Dataset."""
    try:
        import xarray
    except ImportError as error:
        raise InputError("to_xarray needs the package 'xarray', which is not installed") from error
    log = trajectory.joint_log
    motion = {
        "position": (("time", "body", "axis"), _origins(trajectory)),
        "centre": (("time", "body", "axis"), trajectory.q[:, :, :3]),
        "orientation": (("time", "body", "quaternion"), trajectory.q[:, :, 3:]),
        "linear_velocity": (("time", "body", "axis"), trajectory.v[:, :, :3]),
        "angular_velocity": (("time", "body", "axis"), trajectory.v[:, :, 3:]),
    }
    return xarray.Dataset(
        {
            **{name: (*entry, {"units": _MOTION_UNITS[name]}) for name, entry in motion.items()},
            "joint_coordinate": (("time", "joint"), log.coordinate, {"units": "rad or m"}),
            "joint_speed": (("time", "joint"), log.speed, {"units": "rad s-1 or m s-1"}),
            **{
                f"energy_{name}": ("time", x, {"units": "J"})
                for name, x in table_of(trajectory, "energy").items()
                if name != "time"
            },
            **{f"certificate_{name}": ("step", x) for name, x in trajectory.certificate.to_dict().items()},
            **{
                f"contact_{name}": (("contact", "axis")[: x.ndim], x, {"units": _CONTACT_UNITS.get(name, "1")})
                for name, x in _contacts(trajectory).items()
            },
        },
        coords={
            "time": ("time", trajectory.time, {"units": "s", "long_name": "time"}),
            "body": list(trajectory.recorded),
            "joint": list(log.names),
            "axis": list("xyz"),
            "quaternion": list("wxyz"),
            "step": np.arange(trajectory.step_count),
        },
    )


def _motion(trajectory: Trajectory) -> dict[str, Array]:
    """Return positions, orientations and velocities of all bodies, column by column; of planar ones what they have."""
    words = ("x y angle vx vy omega" if trajectory.planar else "x y z qw qx qy qz vx vy vz wx wy wz").split()
    columns: dict[str, Array] = {}
    for name in trajectory.recorded:
        parts = (
            trajectory.position(name),
            trajectory.orientation(name),
            trajectory.linear_velocity(name),
            trajectory.angular_velocity(name),
        )
        values = np.column_stack([part.reshape(trajectory.time.size, -1) for part in parts])
        columns |= {f"{name}.{word}": column for word, column in zip(words, values.T, strict=True)}
    return columns


def _origins(trajectory: Trajectory) -> Array:
    """Return the origins of the body frames, (n+1, n_b, 3)."""
    x = np.empty_like(trajectory.q[:, :, :3])
    for k, name in enumerate(trajectory.recorded):
        x[:, k] = trajectory.position(name, spatial=True)
    return x


def _contacts(trajectory: Trajectory) -> dict[str, Any]:
    """Return the contacts of all steps, one row each, in world axes; impulses act on body b."""
    rows = trajectory.contact_log.rows()
    names, words = np.array(trajectory.names, dtype=np.str_), np.array([str(mode) for mode in Mode], dtype=np.str_)
    return {
        "step": rows.step,
        "time": trajectory.time[1:][rows.step],
        "body_a": names[rows.body_a],
        "body_b": names[rows.body_b],
        "mode": words[rows.mode],
        "gap": rows.gap,
        "point": rows.point,
        "normal": rows.normal,
        "impulse": rows.impulse,
        "slip": rows.slip,
    }
