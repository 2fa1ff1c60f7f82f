"""Pictures of maps over two parameters: regions with their names, and curves between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from signorini._arrays import Array, IntArray
from signorini.visual.style import INK, finish_axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REGION_COLOURS = ("#ffffff", "#dbe6f4", "#c7b8dc", "#f3d9b8", "#e9b4ae", "#d5e8d4", "#cfd3d8", "#f5efc4")
"""Of the regions of a map, by code."""

_SMALLEST_NAMED = 2e-3  # share of the picture below which a region is left without its name


def plot_stability_map(
    x: Array,
    y: Array,
    spectrum: IntArray,
    critical: Array,
    *,
    levels: Sequence[float],
    names: Mapping[int, str],
    labels: tuple[str, str],
    title: str,
) -> Figure:
    """Draw the kinds of spectra as regions and the border of the stable region for several values of ``c^2/k``.

    Parameters
    ----------
    x, y : (n_x,), (n_y,) array
    spectrum : (n_y, n_x) int array
        0: real and positive, 1: complex with positive real parts, 2: complex otherwise, above: real and negative.
    critical : (n_y, n_x) array
        Smallest stable ``c^2/k``, inf where there is none.
    levels : sequence of float
        Values of ``c^2/k``, drawn dashed.
    names : mapping
        Words for the codes.
    labels : pair of str
        Of the axes.
    title : str
    """
    with styled():
        figure = new_figure(7.0, 6.4)
        axes = figure.subplots()
        _fill(axes, x, y, spectrum)
        _borders(axes, x, y, spectrum)
        # Where no damping helps the surface jumps to infinity: no level runs there, and a cap far above all levels
        # keeps the curves smooth beside it.
        finite = np.where(spectrum > 2, np.nan, np.minimum(critical, 4.0 * max(levels)))
        curves = axes.contour(x, y, finite, levels=sorted(levels), colors=INK, linestyles="--", linewidths=0.9)
        axes.clabel(curves, fmt=lambda level: f"{level:g}", fontsize=7.5)
        undamped = np.where(spectrum > 1, np.nan, spectrum.astype(float))
        solid = axes.contour(x, y, undamped, levels=[0.5], colors=INK, linewidths=1.8)
        axes.clabel(solid, fmt=lambda level: "c²/k = 0", fontsize=7.5)
        axes.plot([], [], color=INK, lw=1.8, label="border of the stable region for c²/k = 0")
        axes.plot([], [], color=INK, lw=0.9, ls="--", label="the same for larger c²/k, as written on the curve")
        _names(axes, x, y, spectrum, names)
        _finish(axes, labels, title)
    return figure


def plot_minor_map(
    x: Array, y: Array, code: IntArray, *, names: Mapping[int, str], labels: tuple[str, str], title: str
) -> Figure:
    """Draw the regions in which principal minors are not positive; code 0 is the region of the P-matrices."""
    with styled():
        figure = new_figure(7.0, 6.4)
        axes = figure.subplots()
        _fill(axes, x, y, code)
        _borders(axes, x, y, code)
        axes.contour(x, y, (code != 0).astype(float), levels=[0.5], colors=INK, linewidths=1.8)
        axes.plot([], [], color=INK, lw=1.8, label="border of the P-matrices")
        _names(axes, x, y, code, names)
        _finish(axes, labels, title)
    return figure


def plot_regions(
    x: Array,
    y: Array,
    code: IntArray,
    *,
    names: Mapping[int, str],
    lines: Sequence[tuple[str, tuple[float | None, float | None]]],
    labels: tuple[str, str],
    title: str,
) -> Figure:
    """Draw regions by code with their names, and lines ``x = value`` or ``y = value`` that are known to part them."""
    with styled():
        figure = new_figure(6.4, 4.6)
        axes = figure.subplots()
        _fill(axes, x, y, code)
        for (label, (at_x, at_y)), style in zip(lines, ("-", "--", ":"), strict=False):
            if at_x is not None:
                axes.axvline(at_x, color=INK, lw=1.4, ls=style, label=label)
            if at_y is not None:
                axes.axhline(at_y, color=INK, lw=1.4, ls=style, label=label)
        _names(axes, x, y, code, names)
        axes.grid(False)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=len(lines))
        finish_axes(axes, title, labels[1], labels[0])
    return figure


def _fill(axes: Axes, x: Array, y: Array, code: IntArray) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    count = len(REGION_COLOURS)
    norm = BoundaryNorm(np.arange(count + 1) - 0.5, count)
    axes.pcolormesh(x, y, code % count, cmap=ListedColormap(list(REGION_COLOURS)), norm=norm, rasterized=True)


def _borders(axes: Axes, x: Array, y: Array, code: IntArray) -> None:
    """Draw a thin line around every region, code by code: contour values of codes mean nothing themselves."""
    for value in np.unique(code):
        axes.contour(x, y, (code == value).astype(float), levels=[0.5], colors="#6b727c", linewidths=0.6)


def _names(axes: Axes, x: Array, y: Array, code: IntArray, names: Mapping[int, str]) -> None:
    """Write each region's name where it has most room."""
    for value, name in names.items():
        pieces, count = ndimage.label(code == value)
        for piece in range(1, count + 1):
            inside = pieces == piece
            if inside.mean() < _SMALLEST_NAMED:
                continue
            clear = ndimage.distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
            i, j = np.unravel_index(int(np.argmax(clear)), clear.shape)
            small = clear.max() < 0.1 * min(code.shape)
            axes.annotate(
                name,
                (float(x[j]), float(y[i])),
                ha="center",
                va="center",
                fontsize=6.5 if small else 8.5,
                color=INK,
                linespacing=1.15,
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.6},
            )


def _finish(axes: Axes, labels: tuple[str, str], title: str) -> None:
    axes.grid(False)
    axes.set_aspect("equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=1)
    finish_axes(axes, title, labels[1], labels[0])
