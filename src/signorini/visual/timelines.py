"""Figures over time: one body or joint, energies and certificate of a run, curves against their exact shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.visual.style import AXIS_COLOURS, INK, MODE_COLOURS, SERIES_COLOURS, finish_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STILL = 1e-9  # of the largest range: what moves less does not move
_FLOOR = 1e-17  # zeros are drawn here on a logarithmic axis, below anything that rounding leaves


class EnergyTerms(Protocol):
    """Energies over time, (n+1,) [J]."""

    @property
    def kinetic(self) -> Array: ...
    @property
    def potential(self) -> Array: ...
    @property
    def elastic(self) -> Array: ...
    @property
    def friction(self) -> Array: ...
    @property
    def impact(self) -> Array: ...
    @property
    def damping(self) -> Array: ...
    @property
    def integration(self) -> Array: ...
    @property
    def total(self) -> Array: ...


class Checks(Protocol):
    """Checks of every step, (n,)."""

    @property
    def residual(self) -> Array: ...
    @property
    def min_gap(self) -> Array: ...
    @property
    def energy_error(self) -> Array: ...
    @property
    def iterations(self) -> IntArray: ...


def plot_body(
    time: Array, name: str, position: Array, linear_velocity: Array, angular_velocity: Array, force: Array
) -> Figure:
    """Draw position, velocities (n+1, 3) and contact force (n, 3) of one body."""
    with styled():
        figure = new_figure(9.0, 5.6, left=0.07, right=0.985, bottom=0.085, top=0.88, wspace=0.2, hspace=0.25)
        axes = figure.subplots(2, 2, sharex=True)
        panels = [
            (axes[0, 0], "position", "[m]", position),
            (axes[0, 1], "velocity", "[m/s]", linear_velocity),
            (axes[1, 0], "angular velocity", "[rad/s]", angular_velocity),
        ]
        for panel, title, unit, values in panels:
            for k, axis in enumerate("xyz"):
                panel.plot(time, values[:, k], color=AXIS_COLOURS[k], label=axis)
            finish_axes(panel, title, unit, "time [s]" if panel is axes[1, 0] else None)
        _draw_vector(axes[1, 1], time, force)
        finish_axes(axes[1, 1], "contact force", "[N]")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper right", ncols=3)
        figure.suptitle(name, x=0.01, y=0.985, ha="left", fontweight="bold", color=INK)
    return figure


class JointCurves(NamedTuple):
    """A joint over time."""

    coordinate: Array
    """(n+1,)"""
    speed: Array
    effort: Array
    """Along the coordinate in every step, (n,)."""
    force: Array
    """On body b, world axes, (n, 3) [N]."""
    moment: Array
    """(n, 3) [N m]"""
    unit: str
    """Of the coordinate: "rad" or "m"; "" of joints without one; "?" where it is not known."""


def plot_joint(time: Array, name: str, joint: JointCurves) -> Figure:
    """Draw coordinate, speed and effort of a joint, if it has a coordinate, and force and moment that it transmits."""
    with styled():
        has_coordinate = joint.unit != ""
        rows = 2 if has_coordinate else 1
        figure = new_figure(9.0, 0.6 + 2.5 * rows, left=0.09, right=0.985, bottom=0.18 / rows, top=1.0 - 0.24 / rows)
        figure.subplots_adjust(wspace=0.22, hspace=0.35)
        axes = figure.subplots(rows, 2, sharex=True, squeeze=False)
        if has_coordinate:
            unit, effort = {"rad": ("rad", "N m"), "m": ("m", "N")}.get(joint.unit, ("rad or m", "N m or N"))
            what = {"rad": "angle", "m": "displacement"}.get(joint.unit, "coordinate")
            axes[0, 0].plot(time, joint.coordinate, color=SERIES_COLOURS[0])
            finish_axes(axes[0, 0], what, f"[{unit}]", None)
            speed = axes[0, 1]
            speed.plot(time, joint.speed, color=SERIES_COLOURS[0])
            finish_axes(speed, "speed", f"[{unit}/s]", None)
            _stairs(axes[1, 0], time, joint.effort, SERIES_COLOURS[1], "")
            finish_axes(axes[1, 0], "torque along it" if joint.unit == "rad" else "effort along it", f"[{effort}]")
        else:
            _draw_vector(axes[0, 0], time, joint.moment)
            finish_axes(axes[0, 0], "moment on the second body", "[N m]")
        _draw_vector(axes[-1, 1], time, joint.force)
        axes[-1, 1].legend(loc="best", ncols=3)
        finish_axes(axes[-1, 1], "force on the second body", "[N]")
        figure.suptitle(name, x=0.01, y=0.985, ha="left", fontweight="bold", color=INK)
    return figure


def plot_pair(
    time: Array, title: str, normal_force: Array, friction_force: Array, slip: Array, bars: Sequence[tuple[str, Array]]
) -> Figure:
    """Draw what two bodies do to each other: forces, sliding speed, and a bar for each of the times of a mode.

    Parameters
    ----------
    time : (n+1,) array
    title : str
    normal_force : (n,) array
    friction_force, slip : (n, 3) array
    bars : sequence of (name, (k, 2) array)
        Begin and end of the times in each mode.
    """
    with styled():
        figure = new_figure(8.0, 6.2, left=0.12, right=0.985, bottom=0.075, top=0.885, hspace=0.42)
        grid = {"height_ratios": [3.0, 3.0, 0.5 * len(bars)]}
        forces, speeds, modes = figure.subplots(3, 1, sharex=True, gridspec_kw=grid)
        _stairs(forces, time, normal_force, SERIES_COLOURS[0], "normal")
        _stairs(forces, time, np.linalg.norm(friction_force, axis=1), SERIES_COLOURS[1], "friction")
        forces.legend(loc="best", ncols=2)
        finish_axes(forces, "force", "[N]", None)
        _stairs(speeds, time, np.linalg.norm(slip, axis=1), SERIES_COLOURS[3], "")
        finish_axes(speeds, "sliding speed", "[m/s]", None)
        for k, (name, times) in enumerate(bars):
            spans = [(float(begin), float(end - begin)) for begin, end in times]
            modes.broken_barh(spans, (len(bars) - 1.4 - k, 0.8), facecolor=MODE_COLOURS[name])
        modes.set_yticks(range(len(bars)), [name for name, _ in reversed(bars)])
        modes.set_ylim(-0.6, len(bars) - 0.4)
        modes.set_xlim(time[0], time[-1])
        modes.grid(False)
        finish_axes(modes, "mode", "")
        figure.suptitle(title, x=0.01, y=0.985, ha="left", fontweight="bold", color=INK)
    return figure


def plot_phase(name: str, panels: Sequence[tuple[str, Array, Array, str]]) -> Figure:
    """Draw speed against place, one panel for each (label, place, speed, unit of the place); a dot where it begins."""
    with styled():
        figure = new_figure(3.6 * len(panels) + 0.4, 3.6)
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        most = max([1e-9, *(float(np.ptp(values)) for _, place, speed, _ in panels for values in (place, speed))])
        for axes, (label, place, speed, unit) in zip(row, panels, strict=True):
            axes.plot(place, speed, color=SERIES_COLOURS[0], lw=1.1)
            # What rounding moves is not to fill the panel.
            for values, limits in ((place, axes.set_xlim), (speed, axes.set_ylim)):
                if np.ptp(values) < _STILL * most:
                    limits(values[0] - 0.5 * most, values[0] + 0.5 * most)
            axes.plot(place[:1], speed[:1], "o", color=INK, ms=4.5)
            finish_axes(axes, label, f"speed [{unit}/s]", f"{'angle' if unit == 'rad' else 'place'} [{unit}]")
        figure.suptitle(name, ha="left", x=0.01, fontweight="bold", color=INK)
    return figure


def plot_run(
    time: Array,
    energy: EnergyTerms,
    certificate: Checks,
    tolerance: float | None = None,
    step_time: Array | None = None,
) -> Figure:
    """Draw where the energy of a run went, at `time`, and how well each of its steps was solved.

    `step_time` are start and ends of all steps, if states were not recorded at all of them.
    """
    step_time = time if step_time is None else step_time
    with styled():
        figure = new_figure(9.0, 7.6, left=0.08, right=0.985, bottom=0.065, top=0.955, wspace=0.2, hspace=0.25)
        axes = figure.subplots(3, 2, sharex=True)
        _draw_energies(axes[0, 0], axes[0, 1], time, energy)
        _draw_logarithmic(axes[1, 0], step_time, certificate.residual)
        if tolerance is not None and np.isfinite(tolerance):
            axes[1, 0].axhline(tolerance, color=AXIS_COLOURS[0], lw=1.0, ls="--", label=f"tolerance {tolerance:g}")
            axes[1, 0].legend(loc="lower right")
        finish_axes(axes[1, 0], "residual of the contact law", "[-]", None)
        _draw_logarithmic(axes[1, 1], step_time, certificate.energy_error)
        finish_axes(axes[1, 1], "error of the energy balance", "[-]", None)
        overlap = np.maximum(0.0, -certificate.min_gap)
        axes[2, 0].plot(step_time[1:], 1e3 * overlap, color=SERIES_COLOURS[0], lw=1.0)
        finish_axes(axes[2, 0], "deepest overlap", "[mm]")
        _stairs(axes[2, 1], step_time, certificate.iterations.astype(float), SERIES_COLOURS[0], "")
        finish_axes(axes[2, 1], "iterations of the solver", "[-]")
    return figure


class Curve(NamedTuple):
    """Points over time with the exact curve beneath them."""

    label: str
    time: Array
    values: Array
    """At the times (n,), or constant between them (n-1,)."""
    exact_time: Array
    exact: Array


def plot_against_exact(
    panels: Sequence[tuple[str, str, Sequence[Curve]]], title: str, *, few_exact: bool = False
) -> Figure:
    """Draw computed values on top of exact ones (dotted), one panel for each (title, unit, curves).

    With `few_exact` computed values are lines, and the exact ones, known at few times, points.
    """
    with styled():
        figure = new_figure(
            4.6 * len(panels),
            3.6,
            left=(0.16 if few_exact else 0.13) / len(panels),
            right=0.985,
            bottom=0.13,
            top=0.83,
            wspace=0.2,
        )
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (name, unit, curves) in zip(row, panels, strict=True):
            for curve, colour in zip(curves, SERIES_COLOURS, strict=False):
                if few_exact:
                    axes.plot(curve.time, curve.values, color=colour, lw=1.2, label=curve.label)
                    axes.plot(curve.exact_time, curve.exact, "o", color=colour, ms=4.5)
                    continue
                axes.plot(curve.exact_time, curve.exact, color=colour, ls=":", lw=1.8)
                if curve.values.size == curve.time.size:
                    axes.plot(curve.time, curve.values, "o", color=colour, ms=4.5, label=curve.label)
                else:
                    _stairs(axes, curve.time, curve.values, colour, curve.label)
            axes.legend(loc="best")
            finish_axes(axes, name, unit)
        figure.suptitle(title, x=0.01, y=0.985, ha="left", color=INK)
    return figure


def _draw_energies(state: Axes, lost: Axes, time: Array, energy: EnergyTerms) -> None:
    # Only differences of potential energy mean something: it starts from its lowest value.
    potential = energy.potential - energy.potential.min(initial=np.inf)
    for values, label, colour in (
        (energy.kinetic, "kinetic", SERIES_COLOURS[0]),
        (potential, "potential", SERIES_COLOURS[1]),
        (energy.elastic, "springs", SERIES_COLOURS[2]),
        (energy.kinetic + potential + energy.elastic, "total", INK),
    ):
        if label == "springs" and not values.any():
            continue
        state.plot(time, values, color=colour, label=label, lw=1.2 if colour == INK else 1.5)
    state.legend(loc="best")
    finish_axes(state, "energy", "[J]", None)
    for values, label, colour in (
        (energy.friction, "friction", SERIES_COLOURS[3]),
        (energy.impact, "impact", SERIES_COLOURS[4]),
        (energy.damping, "dampers", SERIES_COLOURS[2]),
        (energy.integration, "time stepping", SERIES_COLOURS[5]),
    ):
        if label == "dampers" and not values.any():
            continue
        lost.plot(time, values, color=colour, label=label)
    lost.legend(loc="best")
    finish_axes(lost, "energy dissipated by", "[J]", None)


def _draw_logarithmic(axes: Axes, time: Array, values: Array) -> None:
    axes.semilogy(time[1:], np.maximum(values, _FLOOR), ".", ms=2.5, color=SERIES_COLOURS[0])
    axes.set_ylim(0.3 * _FLOOR, max(1e-14, 3.0 * float(np.max(values, initial=0.0))))


def _draw_vector(axes: Axes, time: Array, values: Array) -> None:
    for k, axis in enumerate("xyz"):
        _stairs(axes, time, values[:, k], AXIS_COLOURS[k], axis)


def _stairs(axes: Axes, time: Array, values: Array, colour: str, label: str) -> None:
    """Draw values that are constant during each step; a run without steps has none."""
    from matplotlib.patches import StepPatch

    if values.size:
        # Axes.stairs would find the limits of its patch segment by segment in Python, minutes for a million steps.
        look: dict[str, Any] = {"baseline": None, "fill": False, "edgecolor": colour, "lw": 1.4, "label": label}
        axes.add_artist(StepPatch(values, time, **look))
        axes.update_datalim([(time[0], np.nanmin(values)), (time[-1], np.nanmax(values))])
        axes.autoscale_view()
