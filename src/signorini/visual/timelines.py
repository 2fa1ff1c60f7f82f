"""Figures over time: one body or joint, energies and certificate of a run, curves against their exact shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.visual.style import AXIS_COLOURS, INK, SERIES_COLOURS, finish_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
        for k, axis in enumerate("xyz"):
            _stairs(axes[1, 1], time, force[:, k], AXIS_COLOURS[k], axis)
        finish_axes(axes[1, 1], "contact force", "[N]")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper right", ncols=3)
        figure.suptitle(name, x=0.01, y=0.985, ha="left", fontweight="bold", color=INK)
    return figure


def plot_joint(time: Array, name: str, coordinate: Array, speed: Array, effort: Array) -> Figure:
    """Draw coordinate and speed (n+1,) of one joint, and the force or torque along it (n,)."""
    with styled():
        figure = new_figure(11.0, 3.4, left=0.06, right=0.985, bottom=0.14, top=0.8, wspace=0.25)
        axes = figure.subplots(1, 3, sharex=True)
        for panel, title, unit, values in (
            (axes[0], "coordinate", "[rad] or [m]", coordinate),
            (axes[1], "speed", "[rad/s] or [m/s]", speed),
        ):
            panel.plot(time, values, color=SERIES_COLOURS[0])
            finish_axes(panel, title, unit)
        _stairs(axes[2], time, effort, SERIES_COLOURS[1], "")
        finish_axes(axes[2], "effort", "[N m] or [N]")
        figure.suptitle(name, x=0.01, y=0.985, ha="left", fontweight="bold", color=INK)
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


def plot_against_exact(panels: Sequence[tuple[str, str, Sequence[Curve]]], title: str) -> Figure:
    """Draw computed values on top of exact ones (dotted), one panel for each (title, unit, curves)."""
    with styled():
        figure = new_figure(
            4.6 * len(panels),
            3.6,
            left=0.13 / len(panels),
            right=0.985,
            bottom=0.13,
            top=0.83,
            wspace=0.2,
        )
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (name, unit, curves) in zip(row, panels, strict=True):
            for curve, colour in zip(curves, SERIES_COLOURS, strict=False):
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


def _stairs(axes: Axes, time: Array, values: Array, colour: str, label: str) -> None:
    """Draw values that are constant during each step; a run without steps has none."""
    from matplotlib.patches import StepPatch

    if values.size:
        # Axes.stairs would find the limits of its patch segment by segment in Python, minutes for a million steps.
        look: dict[str, Any] = {"baseline": None, "fill": False, "edgecolor": colour, "lw": 1.4, "label": label}
        axes.add_artist(StepPatch(values, time, **look))
        axes.update_datalim([(time[0], np.nanmin(values)), (time[-1], np.nanmax(values))])
        axes.autoscale_view()
