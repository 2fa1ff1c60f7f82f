"""Figures of piles and of fixed-point iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import Array
from signorini.visual.style import BODY_COLOURS, INK, SERIES_COLOURS, finish_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FLOOR = 1e-17  # zeros are drawn here on a logarithmic axis


def plot_pile(moments: Sequence[tuple[float, Array]], radius: float, title: str) -> Figure:
    """Draw equal discs (count, 2) at several times [s], coloured by the row in which they began."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    begin = moments[0][1]
    row = np.unique(begin[:, 1].round(6), return_inverse=True)[1]
    colours = [BODY_COLOURS[k % len(BODY_COLOURS)] for k in row]
    every = np.concatenate([q for _, q in moments])
    low, high = every.min(axis=0) - 2.0 * radius, every.max(axis=0) + 2.0 * radius
    with styled():
        columns = 2
        lines = -(-len(moments) // columns)
        shape = (high[1] - low[1]) / (high[0] - low[0])
        figure = new_figure(9.0, lines * (4.5 * shape + 0.4) + 0.4)
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        for axes, (t, q) in zip(panels, moments, strict=False):
            discs = [Circle((x, y), radius) for x, y in q]
            axes.add_collection(PatchCollection(discs, facecolors=colours, edgecolors=INK, linewidths=0.4))
            axes.axhline(0.0, color=INK, linewidth=1.0)
            axes.set_xlim(low[0], high[0])
            axes.set_ylim(-radius, high[1])
            axes.set_aspect("equal")
            axes.grid(False)
            finish_axes(axes, f"t = {t:g} s", "y [m]", "x [m]")
        for axes in panels[len(moments) :]:
            axes.set_visible(False)
        figure.suptitle(title)
    return figure


def plot_convergence(histories: Sequence[tuple[str, Array]], title: str) -> Figure:
    """Draw the residual after each iteration for several methods."""
    with styled():
        figure = new_figure(7.0, 4.2)
        axes = figure.subplots()
        for k, (name, residual) in enumerate(histories):
            colour = SERIES_COLOURS[k % len(SERIES_COLOURS)]
            count = np.arange(1, residual.size + 1)
            marker = "o" if residual.size < 20 else None
            axes.semilogy(count, np.maximum(residual, _FLOOR), color=colour, marker=marker, markersize=4, label=name)
        axes.legend()
        finish_axes(axes, title, "residual of the friction problem", "iteration")
    return figure


def plot_factors(families: Mapping[str, Sequence[tuple[float, float, float]]], title: str) -> Figure:
    """Draw triples (mu, factor of algorithm 1, factor of algorithm 2), one panel for each family."""
    with styled():
        figure = new_figure(8.0, 3.8)
        panels = figure.subplots(1, len(families), sharey=True, squeeze=False)[0]
        for axes, (name, rows) in zip(panels, families.items(), strict=True):
            mu = np.array([row[0] for row in rows])
            for k in (1, 2):
                factor = np.array([row[k] if row[k] > 0.0 else np.nan for row in rows])
                axes.loglog(mu, factor, "o-", color=SERIES_COLOURS[k - 1], markersize=4, label=f"algorithm {k}")
            axes.loglog(mu, rows[0][1] * mu / mu[0], ":", color=INK, linewidth=1.0, label="proportional to mu")
            axes.axhline(1.0, color=INK, linewidth=0.8)
            axes.legend()
            finish_axes(axes, name, "factor per iteration", "mu")
        figure.suptitle(title)
    return figure
