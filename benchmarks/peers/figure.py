"""The picture of the peer benchmark: what a step costs against how right it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

PANELS = {
    "free_box": "one box at rest",
    "stack": "ten boxes",
    "stack_1e6": "ten boxes, top 1e6 heavier",
    "settled_125": "125 spheres at rest",
    "settled_1000": "1000 spheres at rest",
    "boxes_512": "512 boxes at rest",
    "hulls_500": "500 hulls at rest",
    "collapse_1000": "1000 spheres collapsing",
}
MEASURES = {
    "residual_max": "residual of Coulomb's law, largest",
    "depth_relative": "deepest overlap / body size",
    "creep": "creep [m/s]",
}
MOST = 10.0  # stands for all that fell or flew away
LEAST = 1e-16  # stands for zero on the logarithmic axis
COLOURS = {
    "signorini": "#c1121f",
    "mujoco": "#1d5fa6",
    "pybullet": "#2a9d55",
    "drake": "#7d4fa3",
    "dart": "#d98e04",
    "pinocchio": "#0d9aa5",
    "siconos": "#6b6b6b",
}
MARKS = "osD^v"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw scenes as columns and measures of error as rows; left is faster, below is more accurate."""
    scenes = [scene for scene in PANELS if any(row["scene"] == scene for row in rows)]
    if not scenes:
        return
    style = _styles(list(dict.fromkeys(row["engine"] for row in rows)))
    figure, axes = plt.subplots(
        len(MEASURES), len(scenes), figsize=(2.6 * len(scenes) + 0.6, 8.6), squeeze=False, sharex="col", sharey="row"
    )
    for column, scene in enumerate(scenes):
        axes[0, column].set_title(PANELS[scene], fontsize=10)
        axes[-1, column].set_xlabel("CPU time per step [µs]")
        for line, (measure, label) in enumerate(MEASURES.items()):
            axis = axes[line, column]
            _panel(axis, [row for row in rows if row["scene"] == scene and row[measure] != ""], measure, style)
            if column == 0:
                axis.set_ylabel(label)
    handles = [
        Line2D([], [], linestyle="", marker=mark, color=colour, markersize=7, label=name)
        for name, (colour, mark) in style.items()
    ]
    figure.legend(handles=handles, loc="lower center", ncols=min(len(handles), 8), frameon=False)
    figure.suptitle("Faster is left, more accurate is below; errors recomputed from every engine's states", fontsize=12)
    figure.tight_layout(rect=(0, 0.07, 1, 0.985))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _styles(names: list[str]) -> dict[str, tuple[str, str]]:
    """Return colours by library and marks by settings."""
    seen: dict[str, int] = {}
    out = {}
    for name in names:
        library = name.split("-")[0]
        out[name] = (COLOURS[library], MARKS[seen.get(library, 0)])
        seen[library] = seen.get(library, 0) + 1
    return out


def _panel(axis: Any, rows: list[dict[str, Any]], measure: str, style: dict[str, tuple[str, str]]) -> None:
    if not rows:
        axis.text(0.5, 0.5, "moving", transform=axis.transAxes, ha="center", color="#888888")
        return
    for row in rows:
        colour, mark = style[row["engine"]]
        ours = row["engine"].startswith("signorini")
        axis.plot(
            float(row["us_median"]),
            min(max(float(row[measure]), LEAST), MOST),
            marker=mark,
            color=colour,
            markersize=10 if ours else 7,
            markeredgecolor="black" if ours else "white",
            markeredgewidth=0.9,
            zorder=3 if ours else 2,
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    times = [float(row["us_median"]) for row in rows]
    axis.set_xlim(10 ** np.floor(np.log10(min(times)) - 0.2), 10 ** np.ceil(np.log10(max(times)) + 0.2))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(True, which="major", color="#dddddd", linewidth=0.7)
    axis.margins(y=0.15)
