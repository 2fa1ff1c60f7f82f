"""A picture of solvers beside each other: residual against time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from signorini._arrays import Array
from signorini.visual.style import GREY, SERIES_COLOURS, finish_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST_RESIDUAL = 1e-17  # zero is drawn here
_LEAST_TIME = 1e-6  # of the axis [s]
_STYLES = ("-", "--", ":")


class Convergence(NamedTuple):
    """The way of one solver."""

    name: str
    seconds: Array
    residual: Array
    solved: bool


def plot_convergence(runs: Sequence[Convergence], title: str, tolerance: float) -> Figure:
    """Draw the best residual so far of every run against time, a dot where it was solved and a cross where not."""
    with styled():
        figure = new_figure(7.6, 4.2)
        axes = figure.subplots()
        for k, run in enumerate(runs):
            colour = SERIES_COLOURS[k % len(SERIES_COLOURS)]
            time = np.maximum(run.seconds, _LEAST_TIME)
            best = np.maximum(np.minimum.accumulate(run.residual), _LEAST_RESIDUAL)
            style = _STYLES[k // len(SERIES_COLOURS) % len(_STYLES)]
            axes.plot(time, best, style, drawstyle="steps-post", color=colour, label=run.name)
            axes.plot(time[-1:], best[-1:], "o" if run.solved else "x", color=colour, ms=6.0)
        axes.axhline(tolerance, color=GREY, lw=0.9, ls=(0, (4, 3)))
        axes.annotate(
            "tolerance",
            (0.0, tolerance),
            (3, 3),
            color=GREY,
            fontsize=8.0,
            ha="left",
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
        finish_axes(axes, title, "residual, best so far")
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    return figure
