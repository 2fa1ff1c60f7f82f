from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from signorini._arrays import Array, IntArray
from signorini.visual import Curve, plot_against_exact, plot_body, plot_run

TIME = np.linspace(0.0, 1.0, 11)


@dataclass
class Energies:
    """Stands for the energies of a run."""

    kinetic: Array
    potential: Array
    elastic: Array
    friction: Array
    impact: Array
    damping: Array
    integration: Array

    @property
    def total(self) -> Array:
        return self.kinetic + self.potential + self.elastic


@dataclass
class Checked:
    """Stands for the certificate of a run."""

    residual: Array
    min_gap: Array
    energy_error: Array
    iterations: IntArray


def energies(n: int) -> Energies:
    t = np.linspace(0.0, 1.0, n + 1)
    return Energies(t, 1.0 - t, 0.0 * t, 0.1 * t, 0.2 * t, 0.0 * t, 0.0 * t)


def checked(n: int) -> Checked:
    return Checked(np.full(n, 1e-12), np.full(n, np.inf), np.zeros(n), np.arange(n))


def test_plot_body_draws_each_component() -> None:
    values = np.column_stack([TIME, TIME**2, -TIME])
    figure = plot_body(TIME, "ball", values, 2.0 * values, 3.0 * values, values[1:])
    position, velocity, spin, force = figure.axes
    assert np.array_equal(position.lines[1].get_ydata(), TIME**2)
    assert np.array_equal(velocity.lines[0].get_ydata(), 2.0 * TIME)
    assert np.array_equal(spin.lines[2].get_ydata(), -3.0 * TIME)
    assert len(force.patches) == 3
    assert [axes.get_ylabel() for axes in figure.axes] == ["[m]", "[m/s]", "[rad/s]", "[N]"]
    assert force.get_xlabel() == "time [s]"


def test_plot_run_shows_the_tolerance_and_zeros() -> None:
    figure = plot_run(TIME, energies(10), checked(10), 1e-10)
    residual = figure.axes[2]
    assert residual.get_yscale() == "log"
    assert [np.asarray(line.get_ydata())[0] for line in residual.lines[1:]] == [1e-10]
    errors = np.asarray(figure.axes[3].lines[0].get_ydata())
    assert (errors > 0.0).all(), "zeros must not vanish from a logarithmic axis"


def test_plot_run_takes_a_run_without_steps() -> None:
    assert len(plot_run(np.zeros(1), energies(0), checked(0)).axes) == 6


def test_plot_against_exact_tells_points_from_stairs() -> None:
    point = Curve("v", TIME, TIME, TIME, TIME)
    stairs = Curve("c", TIME, TIME[1:], TIME, TIME)
    figure = plot_against_exact([("velocity", "[m/s]", [point]), ("force", "[N]", [stairs])], "title")
    assert len(figure.axes[0].lines) == 2
    assert (len(figure.axes[1].lines), len(figure.axes[1].patches)) == (1, 1)


def test_no_figure_stays_open_and_files_are_written(tmp_path: Path) -> None:
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    plot_run(TIME, energies(10), checked(10)).savefig(tmp_path / "run.png")
    assert pyplot.get_fignums() == before
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_the_users_settings_come_back() -> None:
    import matplotlib

    before = matplotlib.rcParams["axes.grid"], matplotlib.rcParams["font.size"]
    plot_run(TIME, energies(10), checked(10))
    assert (matplotlib.rcParams["axes.grid"], matplotlib.rcParams["font.size"]) == before


@pytest.mark.parametrize(("gap", "overlap"), [(0.001, 0.0), (-0.001, 1.0), (np.inf, 0.0)])
def test_overlaps_are_drawn_in_millimetres(gap: float, overlap: float) -> None:
    certificate = checked(10)
    certificate.min_gap[3] = gap
    line = plot_run(TIME, energies(10), certificate).axes[4].lines[0]
    assert np.asarray(line.get_ydata())[3] == overlap
