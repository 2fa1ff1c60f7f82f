"""Pictures of runs beside each other: one panel per run, the same curves in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from signorini._arrays import Array
from signorini.visual.style import SERIES_COLOURS, finish_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_histories(runs: Sequence[tuple[str, Array, Array]], labels: Sequence[str], ylabel: str, xlabel: str) -> Figure:
    """Draw the columns of every run, given as (title, abscissa (n,), values (n, k)), `labels` naming the columns."""
    with styled():
        figure = new_figure(4.0 * len(runs), 3.4)
        row = figure.subplots(1, len(runs), squeeze=False)[0]
        for k, (panel, (title, x, values)) in enumerate(zip(row, runs, strict=True)):
            for column, label, colour in zip(values.T, labels, SERIES_COLOURS, strict=False):
                panel.plot(x, column, color=colour, lw=1.2, label=label)
            finish_axes(panel, title, ylabel if k == 0 else "", xlabel)
        if len(labels) > 1:
            row[0].legend(loc="best")
    return figure
