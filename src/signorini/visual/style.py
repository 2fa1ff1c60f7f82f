"""One look for all figures; matplotlib is imported only when a figure is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#2b2f36"
GREY = "#9aa1ab"
AXIS_COLOURS = ("#b8433f", "#3f7f4f", "#3b62a8")
"""Of the components x, y, z."""
SERIES_COLOURS = ("#3b62a8", "#c9812e", "#3f7f4f", "#b8433f", "#7a5195", "#4b9aa5")
"""Of curves that are compared with each other."""
MODE_COLOURS = {"stick": "#3f7f4f", "slip": "#c4473f", "separating": "#c3c8ce"}
"""Of what contacts do."""
BODY_COLOURS = ("#d98b3a", "#5b8cc0", "#c65b52", "#6aa574", "#8d78b5", "#d9b44a", "#5fa8a8", "#b07a5c")
"""Of bodies in a picture, in turn."""

_SETTINGS: dict[str, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e8eb",
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "white",
    "savefig.dpi": 150,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the look of the library; the user's own settings come back afterwards."""
    import matplotlib

    settings: Any = _SETTINGS  # the stubs know every key by name
    with matplotlib.rc_context(settings):
        yield


def new_figure(width: float, height: float, **margins: float) -> Figure:
    """Return an empty figure of the given size [inch], not known to pyplot, so that nothing stays open.

    With `margins` (words of ``Figure.subplots_adjust``) the layout is fixed, which draws twice as fast as finding one.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout=None if margins else "constrained", dpi=110)
    if margins:
        figure.subplots_adjust(**margins)
    return figure


def finish_axes(axes: Axes, title: str, ylabel: str, xlabel: str | None = "time [s]") -> None:
    """Put the words on a panel."""
    axes.set_title(title)
    axes.set_ylabel(ylabel)
    if xlabel is not None:
        axes.set_xlabel(xlabel)
