"""The record of a run: motion, contacts, energy and certificate, for people, plots and files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array, IntArray, checked, checked_number
from signorini.errors import FileError, InputError
from signorini.formulations import Balance
from signorini.io import clipped, replacing, short
from signorini.math.rotation import rotate
from signorini.model import State
from signorini.posing.base import IMPULSES
from signorini.simulation.angles import euler_angles
from signorini.simulation.certificate import Certificate
from signorini.simulation.contact_record import ContactRecord, contact_record
from signorini.simulation.contact_table import ContactLog, ContactTable
from signorini.simulation.deformed import ModalRecord, entry_of, line
from signorini.simulation.joint_log import JointLog, JointRecord
from signorini.simulation.layer_log import LayerLog, LayerRecord
from signorini.simulation.recording import Recording
from signorini.simulation.repair import repaired_tree
from signorini.simulation.report import report_text, told
from signorini.simulation.seen import UNITS, film_of, seen_poses, seen_solids
from signorini.simulation.tables import dataset_of, described, table_of, write_csv
from signorini.simulation.tree_shapes import check_tree
from signorini.simulation.verdict import judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from signorini.visual import JointCurves
    from signorini.visual.card import Shown
    from signorini.visual.live import Viewer

_ENDINGS = (".html", ".glb", ".mp4", ".gif")
_MOST_FRAMES = 1800  # of an animation: a minute at 30 a second
_VIEW_RATE = 30.0  # pictures a second
_LEAST_SHOWN = 2.0  # seconds
_SPEEDS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001)
_MOMENTS = 4  # of a sheet of pictures
_FORMAT = "signorini trajectory 2"
_EARLIER = "signorini trajectory 1"  # states have no further coordinates, memories one kind


@dataclass(frozen=True, slots=True)
class Energy:
    """Energies at every recorded time, (n+1,) [J]; dissipation and work add up from the start."""

    kinetic: Array
    potential: Array
    elastic: Array
    friction: Array
    """Dissipated by sliding."""
    impact: Array
    """Dissipated by collisions."""
    damping: Array
    """Dissipated by dampers."""
    integration: Array
    """Dissipated by the time-stepping scheme itself: implicit flight under loads, springs and, with joints or by
    choice, the gyroscopic term."""
    loads: Array
    """Work of the forces added to the scene."""
    drives: Array
    """Work of prescribed motions."""
    correction: Array
    """Work of gap correction: energy given to overlapping bodies to part them."""
    joints: Array
    """Work of pulling drifted joints together."""
    error: Array
    """Total energy minus what the terms above explain."""

    @property
    def total(self) -> Array:
        """Kinetic, potential and elastic energy together."""
        return self.kinetic + self.potential + self.elastic


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What :func:`signorini.simulate` returns.

    Bodies are read by name; in a planar scene positions are 2-vectors and orientations angles, unless ``spatial=True``.
    """

    names: tuple[str, ...]
    fixed_count: int
    planar: bool
    mass_centre: Array
    """In the body frames, (n_b, 3) [m]."""
    time: Array
    """(n+1,) [s]"""
    q: Array
    """Poses of the mass centres, (n+1, n_b, 7)."""
    v: Array
    """Velocities, (n+1, n_b, 6)."""
    modal: Array
    """Further coordinates, see :class:`~signorini.State`, (n+1, n_m)."""
    modal_rate: Array
    """Their rates, (n+1, n_m)."""
    contact_log: ContactLog
    joint_log: JointLog
    elastic: float
    """Energy of springs at the start [J]."""
    kinetic: Array
    """(n+1,) [J]"""
    potential: Array
    """(n+1,) [J]"""
    balance: dict[str, Array]
    """Terms of the energy balance of every step, (n,) [J]."""
    certificate: Certificate
    memory: dict[str, Any]
    """What the stepper remembers at the end of the run, by name as files hold it."""
    layer_log: LayerLog | None = None
    """Compliant layers; None in scenes without, and in files of earlier versions."""
    flexible: dict[str, Any] = field(default_factory=dict)
    """What the modes of flexible bodies mean, by their numbers; empty in scenes of rigid bodies."""
    looks: dict[str, Any] = field(default_factory=dict)
    """What bodies look like, for pictures; empty in files of earlier versions."""
    last: dict[str, Any] = field(default_factory=dict)
    """The state at which the run ended, whole, where only part was recorded; see ``simulate(record=...)``."""
    settings: dict[str, Any] = field(default_factory=dict)
    """How the run was made: h, duration, tolerance, formulation, the scene if it can be written down, and what was said
    to be suspicious, ``"warnings"`` (files of older versions have none)."""

    # --- motion --------------------------------------------------------------

    def position(self, name: str, *, spatial: bool = False) -> Array:
        """Return the position of the body frame's origin, (n+1, 3) [m]; the mass centre is :meth:`centre`."""
        offset, b = self.mass_centre[self._index(name)], self._column(name)
        x = self.q[:, b, :3].copy()
        if offset.any():
            x -= np.array([rotate(e, offset) for e in self.q[:, b, 3:]])
        return x[:, :2] if self.planar and not spatial else x

    def centre(self, name: str, *, spatial: bool = False) -> Array:
        """Return the position of the mass centre, (n+1, 3) [m]."""
        x = self.q[:, self._column(name), :3]
        return x[:, :2] if self.planar and not spatial else x

    def orientation(self, name: str, *, spatial: bool = False) -> Array:
        """Return the unit quaternion (w, x, y, z), (n+1, 4); in the plane the angle, (n+1,) [rad]."""
        e = self.q[:, self._column(name), 3:]
        if self.planar and not spatial:
            return np.unwrap(2.0 * np.arctan2(e[:, 3], e[:, 0]))
        return e

    def linear_velocity(self, name: str, *, spatial: bool = False) -> Array:
        """Return the velocity of the mass centre, (n+1, 3) [m/s]."""
        v = self.v[:, self._column(name), :3]
        return v[:, :2] if self.planar and not spatial else v

    def angular_velocity(self, name: str, *, spatial: bool = False) -> Array:
        """Return the angular velocity in world axes, (n+1, 3), in the plane (n+1,) [rad/s]."""
        omega = self.v[:, self._column(name), 3:]
        return omega[:, 2] if self.planar and not spatial else omega

    def angles(self, name: str, order: str = "xyz") -> Array:
        """Return Euler angles about the body's own axes in this order, unwrapped, (n+1, 3) [rad].

        ``"xyz"`` means ``R = R_x(a_0) R_y(a_1) R_z(a_2)``. Where the second angle is a right one the others are not
        unique.
        """
        return euler_angles(self.q[:, self._column(name), 3:], order)

    def modes(self, name: str) -> ModalRecord:
        """Return coordinates and rates of the modes of a flexible body."""
        entry = entry_of(self.flexible, name)
        own = slice(entry["first"], entry["first"] + entry["count"])
        return ModalRecord(self.modal[:, own], self.modal_rate[:, own])

    def deformed(self, name: str, step: int, points: int = 50, *, spatial: bool = False) -> Array:
        """Return the line of a flexible body after so many steps: places on a beam's axis, nodes of others, (m, 3) [m].

        In a planar scene (m, 2), unless `spatial`.
        """
        entry, row = entry_of(self.flexible, name), self._column(name)
        if not -self.time.size <= step < self.time.size:
            raise InputError(f"step is {step}, must be from 0 to {self.time.size - 1}")
        x = line(entry, self.q[step, row], self.modes(name).coordinate[step], points)
        return x[:, :2] if self.planar and not spatial else x

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"no body is called {name!r}; there are {', '.join(map(repr, self.names))}")
        return self.names.index(name)

    def _column(self, name: str) -> int:
        """Return where a body is among those recorded."""
        b, rows = self._index(name), self._recording.rows(self.names, self.fixed_count)
        if b not in rows:
            raise InputError(f"the motion of {name!r} was not recorded, must be among record={{'bodies': [...]}}")
        return int(np.searchsorted(rows, b))

    # --- contacts, energy, certificate ---------------------------------------

    @property
    def step_count(self) -> int:
        """Number of steps computed."""
        return int(self.certificate.residual.size)

    @property
    def recorded(self) -> tuple[str, ...]:
        """Names of the bodies whose motion was recorded, fixed ones first."""
        return tuple(self.names[b] for b in self._recording.rows(self.names, self.fixed_count))

    @property
    def _recording(self) -> Recording:
        return Recording.of(self.settings)

    @property
    def every(self) -> int:
        """Every how many steps states were recorded."""
        return self._recording.every

    @property
    def step_time(self) -> Array:
        """Start of the run and end of every step, (number of steps + 1,) [s]; `time` has those that were recorded."""
        every = self._recording.every
        return self.time if every == 1 else self.time[0] + float(self.settings["h"]) * np.arange(self.step_count + 1)

    @property
    def step_sizes(self) -> Array:
        """Duration of each step whose contacts were recorded, (n,) [s]."""
        return np.diff(self.time) if self._recording.every == 1 else np.diff(self.step_time)[: self.time.size - 1]

    def end(self) -> tuple[State, Array]:
        """Return the whole state at which the run ended, and the joint coordinates there."""
        if not self.last:
            return self.state(-1), self.joint_log.coordinate[-1]
        values = {key: self.last[key].copy() for key in ("q", "v", "modal", "modal_rate")}
        return State(t=float(self.last["t"]), **values), self.last["joints"]

    def state(self, step: int) -> State:
        """Return a state that was recorded, counted from 0; negative counts from the end."""
        arrays = (x[step].copy() for x in (self.q, self.v, self.modal, self.modal_rate))
        q, v, modal, modal_rate = arrays
        return State(t=float(self.time[step]), q=q, v=v, modal=modal, modal_rate=modal_rate)

    def contacts(self, step: int) -> ContactTable:
        """Return the table of contacts of one recorded step, counted from 0; negative counts from the end."""
        recorded = self.contact_log.start.size - 1
        if not -recorded <= step < recorded:
            raise InputError(f"step is {step}, must be from 0 to {recorded - 1} (steps with recorded contacts)")
        return self.contact_log.table(step % recorded, self.names)

    def joint(self, name: str) -> JointRecord:
        """Return coordinates, speeds and impulses of a joint."""
        return self.joint_log.of(name)

    def layer(self, body: str, other: str) -> LayerRecord:
        """Return deflections and impulses of the layer of `body` against `other`, which must touch at one place."""
        a, b = self._index(body), self._index(other)
        if self.layer_log is None:
            raise InputError("layer: no body has a compliant layer, must have one of set_layer")
        return self.layer_log.of(min(a, b), max(a, b), side=int(a > b), names=(body, other))

    def energy(self) -> Energy:
        """Return energies, dissipation and work over time."""
        sums = {key: np.concatenate([[0.0], np.cumsum(x)]) for key, x in self.balance.items()}
        gained = sums["load_work"] + sums["drive_work"] + sums["correction_work"] + sums["joint_work"]
        lost = sums["friction"] + sums["impact"] + sums["damping"] + sums["integration"]
        elastic = self.elastic + sums["elastic"]
        if self._recording.every > 1:  # sums over all steps, at the states that were recorded
            at = self._recording.every * np.arange(self.time.size)
            sums, elastic = {key: x[at] for key, x in sums.items()}, self.elastic + sums["elastic"][at]
            gained, lost = gained[at], lost[at]
        total = self.kinetic + self.potential + elastic
        return Energy(
            kinetic=self.kinetic,
            potential=self.potential,
            elastic=elastic,
            friction=sums["friction"],
            impact=sums["impact"],
            damping=sums["damping"],
            integration=sums["integration"],
            loads=sums["load_work"],
            drives=sums["drive_work"],
            correction=sums["correction_work"],
            joints=sums["joint_work"],
            error=total - total[0] - (gained - lost),
        )

    @property
    def verdict(self) -> str:
        """``"trusted"``, ``"trusted with remarks"`` or ``"not trusted"``; :meth:`report` says why."""
        return self.certificate.verdict

    def remarks(self) -> list[str]:
        """Return what lowers the grade of the run, one line each: what, how often, how much, when, who, what to try."""
        return told(judge(self.certificate), self.step_time, self.names, self.joint_log.names, self._scheme)

    @property
    def _scheme(self) -> dict[str, Any] | None:
        """The formulation with its options, None if the file does not tell."""
        return self.settings.get("scheme") or self.settings.get("formulation")

    def report(self) -> str:
        """Return the certificate as a short table, remarks and notes, and a plain verdict in the last line."""
        tolerance = float(self.settings.get("tolerance", np.nan))
        return report_text(self.step_time, self.certificate, tolerance, self.names, self.joint_log.names, self._scheme)

    def picture(self, t: float | None = None, *, view: ArrayLike | None = None, width: int | None = None) -> Figure:
        """Draw the bodies as they are at time `t`, or at four moments of the run; a matplotlib figure.

        Parameters
        ----------
        t : float, optional
            [s]; the last recorded state before it is drawn.
        view : array_like, optional
            Direction from the scene to the camera, (3,); one from which much is seen if not given.
        width : int, optional
            Pixels of one still.
        """
        from signorini.visual import plot_motion

        if t is None:
            # Most happens early: the moments lie closer together there.
            share = np.linspace(0.0, 1.0, _MOMENTS) ** 1.5
            states = np.unique(np.round(share * (self.time.size - 1)).astype(int))
        else:
            states = np.array([self._state_at(checked_number(t, "picture: t"))])
        return plot_motion(
            seen_solids(self),
            self.time[states],
            seen_poses(self, states),
            self.fixed_count,
            planar=self.planar,
            width=width or (420 if t is None else 840),
            view=None if view is None else checked(view, (3,), "picture: view"),
        )

    def animate(
        self, path: str | os.PathLike[str], *, speed: float | None = None, rate: float = 30.0, width: int = 640
    ) -> None:
        """Write the motion as one file.

        ========  =========================================================================================
        ``html``  a page that plays in any browser without a network, with forces at contacts and curves of the
                  certificate beside it (needs the extra ``view``)
        ``glb``   an animated model for Blender and other viewers
        ``mp4``   a film (needs the extra ``video``)
        ``gif``   the same for pages that take pictures only
        ========  =========================================================================================

        Parameters
        ----------
        path : path
            Its ending chooses.
        speed : float, optional
            Seconds of the run that are shown in one; default 1, less where all would be over in two.
        rate : float
            Pictures a second.
        width : int
            Pixels of films.
        """
        target = Path(path)
        if target.suffix not in _ENDINGS:
            raise InputError(f"animate: {os.fspath(path)!r} must end in {', '.join(_ENDINGS)}")
        speed = self._speed() if speed is None else checked_number(speed, "animate: speed", above=0.0)
        film = film_of(self, self._moments(checked_number(rate, "animate: rate", above=0.0) / speed))
        if target.suffix in (".mp4", ".gif"):
            from signorini.visual.video import write_video

            with replacing(target) as part:
                named = part.with_suffix(target.suffix)
                try:
                    write_video(film, named, rate=rate, width=width)
                    named.replace(part)
                finally:
                    named.unlink(missing_ok=True)
            return
        if target.suffix == ".glb":
            from signorini.visual.glb import glb

            data = glb(film)
        else:
            from signorini.visual.page import page

            data = page(film, speed).encode()
        with replacing(target) as part:
            part.write_bytes(data)

    def view(self, *, port: int = 8080, open_browser: bool = True, speed: float | None = None) -> Viewer:
        """Show the run in the browser: play, scrub, follow a body, click one to read its state (the extra ``view``).

        The page is served on this machine alone until the viewer is closed or the process ends;
        ``trajectory.view().wait()`` at the end of a script keeps it.
        """
        from signorini.visual.live import Viewer

        viewer = Viewer(port=port, open_browser=open_browser)
        self.play_in(viewer, speed=speed)
        return viewer

    def play_in(self, viewer: Viewer, *, speed: float | None = None) -> None:
        """Play the run in a viewer that is open."""
        speed = self._speed() if speed is None else checked_number(speed, "view: speed", above=0.0)
        viewer.play(film_of(self, self._moments(_VIEW_RATE / speed)), speed=speed)

    def show(self, height: int = 480) -> Shown:
        """Return the page of :meth:`animate` for a notebook; it stays in the notebook and in what is made of it."""
        from signorini.visual.card import Shown
        from signorini.visual.page import page

        speed = self._speed()
        return Shown(page(film_of(self, self._moments(_VIEW_RATE / speed)), speed), int(height))

    def _speed(self) -> float:
        """Return a round speed at which the run takes at least two seconds."""
        duration = float(self.time[-1] - self.time[0])
        return next((speed for speed in _SPEEDS if duration >= _LEAST_SHOWN * speed), _SPEEDS[-1])

    def _moments(self, rate: float) -> IntArray:
        """Return recorded states, so many a second of the run, as far as there are."""
        span = float(self.time[-1] - self.time[0])
        count = int(np.clip(span * rate + 1.0, 2, _MOST_FRAMES))
        at = np.linspace(self.time[0], self.time[-1], count)
        nearest = np.searchsorted(0.5 * (self.time[1:] + self.time[:-1]), at)
        return np.unique(nearest)

    def _repr_html_(self) -> str:
        """Return a card for notebooks: the bodies at the end, the verdict, sizes."""
        from signorini.visual.card import card

        moving, joints = len(self.names) - self.fixed_count, len(self.joint_log.names)
        contacts = int(self.contact_log.start[-1])
        many = [(moving, "bodies"), (joints, "joints"), (self.step_count, "steps"), (contacts, "contacts of all steps")]
        lines = [
            ", ".join(f"{count} {what}" for count, what in many if count),
            f"{self.step_time[0]:g} to {self.step_time[-1]:g} s",
            *self.remarks(),
        ]
        return card(self.picture(float(self.time[-1]), width=320), self.verdict.capitalize(), lines)

    def _state_at(self, t: float) -> int:
        """Return the last recorded state that is not after a time."""
        slack = 1e-9 * max(1.0, abs(float(self.time[-1])))
        if not self.time[0] - slack <= t <= self.time[-1] + slack:
            raise InputError(f"t is {t} s, must be from {self.time[0]:g} to {self.time[-1]:g} s")
        return int(np.searchsorted(self.time, t + slack, side="right")) - 1

    def plot(self, name: str | None = None) -> Any:
        """Draw the motion of a body or a joint, or the energies and the certificate of the run; a matplotlib figure.

        See also :meth:`plot_contact` and :meth:`plot_phase`.
        """
        from signorini.visual import plot_body, plot_joint, plot_run

        if name is None:
            tolerance = self.settings.get("tolerance")
            return plot_run(self.time, self.energy(), self.certificate, tolerance, self.step_time)
        if name in self.joint_log.names and name not in self.names:
            return plot_joint(self.time, name, self._joint_curves(name))
        if name not in self.names and self.joint_log.names:
            known = (", ".join(map(repr, names)) for names in (self.names, self.joint_log.names))
            raise InputError(
                "no body is called {!r}, nor a joint; there are {}, and the joints {}".format(name, *known)
            )
        return plot_body(
            self.time,
            name,
            self.position(name, spatial=True),
            self.linear_velocity(name, spatial=True),
            self.angular_velocity(name, spatial=True),
            self._contact_force(name),
        )

    def plot_contact(self, first: str, second: str) -> Figure:
        """Draw forces and sliding speed between two bodies, and when they stick, slip and are apart."""
        from signorini.visual import plot_pair

        pair = self.contact(first, second)
        bars = [(mode, pair.intervals(mode)) for mode in ("stick", "slip", "separating")]
        title = f"{second} on {first}"
        return plot_pair(self.time, title, pair.normal_force, pair.friction_force, pair.slip, bars)

    def plot_phase(self, name: str) -> Figure:
        """Draw speed against place: of a joint its coordinate, of a body every coordinate of its mass centre."""
        from signorini.visual import plot_phase

        if name in self.joint_log.names and name not in self.names:
            joint = self._joint_curves(name)
            if not joint.unit:
                raise InputError(f"plot_phase: joint {name!r} has no single coordinate")
            return plot_phase(name, [("", joint.coordinate, joint.speed, joint.unit)])
        x, v = self.centre(name), self.linear_velocity(name)
        panels = [(axis, x[:, k], v[:, k], "m") for k, axis in enumerate("xyz"[: x.shape[1]])]
        if self.planar:
            panels.append(("turn", self.orientation(name), self.angular_velocity(name), "rad"))
        return plot_phase(name, panels)

    def _joint_curves(self, name: str) -> JointCurves:
        from signorini.visual import JointCurves

        joint, g = self.joint(name), self.joint_log.names.index(name)
        reaction = joint.reaction / self.step_sizes[:, None]
        unit = UNITS[self.looks["joints"]["unit"][g]] if self.looks else "?"
        effort = joint.effort / self.step_sizes
        return JointCurves(joint.coordinate, joint.speed, effort, reaction[:, :3], reaction[:, 3:], unit)

    def _contact_force(self, name: str) -> Array:
        """Return the sum of the contact forces on a body in every step, (n, 3) [N]."""
        force: Array = self.contact_log.body_impulse(self._index(name), self.time.size - 1) / self.step_sizes[:, None]
        return force

    def contact(self, first: str, second: str) -> ContactRecord:
        """Return force, slip and mode of all contacts between two bodies over time; forces act on the second."""
        a, b = self._index(first), self._index(second)
        if a == b:
            raise InputError(f"contact: both bodies are {first!r}, must be two")
        self._need_contacts("contact")
        return contact_record(self.contact_log, self.time, self.step_sizes, a, b)

    def _need_contacts(self, what: str) -> None:
        if self.contact_log.start.size < self.time.size:
            raise InputError(f"{what}: the run was recorded without contacts, must be with them: record='all'")

    # --- for other programs --------------------------------------------------

    def to_xarray(self) -> Any:
        """Return motion, joints, energies, certificate and contacts as an xarray Dataset (needs the package xarray).

        Contacts of all steps follow one another along the dimension ``contact``; ``contact_step`` tells them apart.
        """
        return dataset_of(self)

    def to_pandas(self, what: str = "motion") -> Any:
        """Return one table as a pandas DataFrame (needs the package pandas), by time.

        `what` is ``"motion"``, ``"joints"``, ``"energy"``, ``"certificate"`` or ``"contacts"`` (a row
        for each).
        """
        try:
            import pandas
        except ImportError as error:
            raise InputError("to_pandas needs the package 'pandas', which is not installed") from error
        return pandas.DataFrame(table_of(self, what)).set_index("time")

    def to_csv(self, path: str | os.PathLike[str], what: str = "motion") -> None:
        """Write one table, see :meth:`to_pandas`, as text with commas."""
        write_csv(self, path, what)

    # --- files ---------------------------------------------------------------

    def columns(self) -> dict[str, Any]:
        """Return all that grows with the steps, as files hold it; the other way is :meth:`of`."""
        joints = self.joint_log.to_dict()
        return {
            "time": self.time,
            "q": self.q,
            "v": self.v,
            "modal": self.modal,
            "modal_rate": self.modal_rate,
            "contacts": self.contact_log.to_dict(),
            "joints": {key: value for key, value in joints.items() if key != "names"},
            "kinetic": self.kinetic,
            "potential": self.potential,
            "balance": self.balance,
            "certificate": self.certificate.to_dict(),
            **({} if self.layer_log is None else {"layers": self.layer_log.to_dict()}),
        }

    @staticmethod
    def of(columns: dict[str, Any], *, joints: Sequence[str], **others: Any) -> Trajectory:
        """Return the trajectory of these columns, the names of joints and the other fields."""
        return Trajectory(
            time=columns["time"],
            q=columns["q"],
            v=columns["v"],
            modal=columns["modal"],
            modal_rate=columns["modal_rate"],
            contact_log=ContactLog.from_dict(columns["contacts"]),
            joint_log=JointLog(**{**columns["joints"], "names": tuple(joints)}),
            kinetic=columns["kinetic"],
            potential=columns["potential"],
            balance={key: columns["balance"][key] for key in Balance._fields},
            certificate=Certificate.from_dict(columns["certificate"]),
            layer_log=LayerLog(**columns["layers"]) if "layers" in columns else None,
            **others,
        )

    def tree(self) -> dict[str, Any]:
        """Return all that a file holds."""
        columns = self.columns()
        return {
            "format": _FORMAT,
            "names": list(self.names),
            "fixed_count": self.fixed_count,
            "planar": self.planar,
            "mass_centre": self.mass_centre,
            **columns,
            "joints": columns["joints"] | {"names": list(self.joint_log.names)},
            "elastic": self.elastic,
            "memory": self.memory,
            "settings": self.settings,
            **({"looks": self.looks} if self.looks else {}),
            **({"flexible": self.flexible} if self.flexible else {}),
            **({"last": self.last, "recorded": list(self.recorded)} if self.last else {}),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to an HDF5 file; an interrupted write leaves the old file whole.

        ``xarray.open_dataset(path, engine="h5netcdf")`` opens it with named dimensions and units, without this library.
        A path that ends in ``.glb`` gets the motion alone, see :meth:`animate`.
        """
        from signorini.io import write_tree

        if Path(path).suffix == ".glb":
            self.animate(path)
            return
        tree = self.tree()
        write_tree(path, tree, described(tree))

    @staticmethod
    def load(path: str | os.PathLike[str], *, repair: bool = False) -> Trajectory:
        """Read a trajectory written by :meth:`save`, or the checkpoint of a run.

        Damage is an error. With `repair` the steps before it are returned, and ``settings["repaired"]`` says how many
        of how many; such a run can be read and audited, but not resumed.

        Raises
        ------
        FileError
            If the file is damaged or is not the file of a run.
        """
        from signorini.io import read_tree

        tree = repaired_tree(path) if repair else read_tree(path)
        if tree.get("format") not in (_FORMAT, _EARLIER):
            raise FileError(f"{path}: format is {short(tree.get('format'))}, must be {_FORMAT!r}")
        check_tree(tree, os.fspath(path))
        try:
            if tree["format"] == _EARLIER:
                none = np.zeros((len(tree["time"]), 0))
                tree |= {"modal": none, "modal_rate": none, "memory": {"kind": IMPULSES, **tree["memory"]}}
            return Trajectory.of(
                tree,
                names=tuple(tree["names"]),
                joints=tree["joints"]["names"],
                fixed_count=tree["fixed_count"],
                planar=tree["planar"],
                mass_centre=tree["mass_centre"],
                elastic=tree["elastic"],
                memory=tree["memory"],
                settings=tree["settings"],
                flexible=tree.get("flexible", {}),
                looks=tree.get("looks", {}),
                last=tree.get("last", {}),
            )
        except (KeyError, TypeError) as error:
            raise FileError(f"{path}: the trajectory is incomplete: {clipped(str(error), 150)}") from error
