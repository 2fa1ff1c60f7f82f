"""A run as one page that plays in any browser, with nothing from outside."""

from __future__ import annotations

import html
import json
from contextlib import redirect_stdout
from importlib import resources
from io import StringIO
from itertools import pairwise

import numpy as np

from signorini._arrays import Array
from signorini.visual.browser import FORCES, POINTS, Display, server_of
from signorini.visual.film import CurveSeen, Film

_WIDTH, _HEIGHT, _LEFT = 320.0, 96.0, 46.0  # of a curve, with room for its scale
_MOST_POINTS = 500  # of a curve
_FLOOR = 1e-17  # zeros are drawn here on a logarithmic scale


def page(film: Film, speed: float) -> str:
    """Return the page; it plays `speed` seconds of the run in one."""
    return (
        resources.files("signorini.visual")
        .joinpath("page.html")
        .read_text(encoding="utf-8")
        .replace("{title}", html.escape(film.title))
        .replace("{verdict}", html.escape(film.verdict))
        .replace("{said}", html.escape("; ".join(film.said)))
        .replace("{curves}", "\n".join(_figure(curve, film.time) for curve in film.curves))
        .replace("{toggles}", _toggles(film))
        .replace("{run}", json.dumps({"speed": speed, "begin": float(film.time[0]), "end": float(film.time[-1])}))
        .replace("{recording}", recording(film, speed).replace("&", "&amp;").replace('"', "&quot;"))
    )


def recording(film: Film, speed: float) -> str:
    """Return the motion as a page of viser, without the curves."""
    server = server_of(port=0)
    try:
        display = Display(server, film)
        serializer = server.get_scene_serializer()
        for k in range(1, len(film.time)):
            serializer.insert_sleep(float(film.time[k] - film.time[k - 1]) / speed)
            display.show(k)
        text: str = serializer.as_html()
    finally:
        with redirect_stdout(StringIO()):
            server.stop()
    return text


def _toggles(film: Film) -> str:
    groups = []
    if film.forces:
        groups += [(f"/contacts/{name}", name, colour) for name, colour in FORCES.items()]
        groups += [(f"/contacts/points {name}", f"points {name}", colour) for name, colour in POINTS.items()]
    if film.joint_pieces:
        groups.append(("/joints", "joints", (43, 47, 54)))
    return "\n".join(
        f'<label><input type="checkbox" checked data-node="{html.escape(node)}">'
        f'<i style="background:rgb{colour}"></i>{html.escape(name)}</label>'
        for node, name, colour in groups
    )


def _figure(curve: CurveSeen, time: Array) -> str:
    """Return a curve as a drawing that a script moves a line over, with the numbers that it reads."""
    t, values = _thinned(curve.time, curve.values)
    data = json.dumps([t.round(6).tolist(), [float(f"{v:.4g}") for v in values]])
    return (
        f"<figure><figcaption>{_caption(curve)} <output></output></figcaption>{svg(curve, time)}"
        f"<script type='application/json'>{data}</script></figure>"
    )


def _caption(curve: CurveSeen) -> str:
    return html.escape(curve.title + (f" [{curve.unit}]" if curve.unit else ""))


def svg(curve: CurveSeen, time: Array, now: float | None = None) -> str:
    """Return the drawing of a curve over the span of `time`, with a line that marks the present."""
    t, values = _thinned(curve.time, curve.values)
    shown = np.log10(np.maximum(values, _FLOOR)) if curve.logarithmic else values
    low, high = float(shown.min()), float(shown.max())
    if high - low < 1e-12 * max(abs(high), 1e-300):
        low, high = low - 0.5 * max(abs(low), 1.0), high + 0.5 * max(abs(high), 1.0)
    x = _across(t, time)
    y = 6.0 + (high - shown) / (high - low) * (_HEIGHT - 12.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    scale = [f"{10.0**v:.0e}" if curve.logarithmic else f"{v:.3g}" for v in (high, low)]
    at = _LEFT if now is None else float(_across(np.array([now]), time)[0])
    words = 'font-size="9" fill="#6b727c" text-anchor="end"'
    present = f'class="now" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{_HEIGHT:g}" stroke="#c4473f" stroke-width="1.2"'
    return (
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" data-left="{_LEFT:g}" data-width="{_WIDTH:g}">'
        f'<text x="{_LEFT - 4:g}" y="12" {words}>{scale[0]}</text>'
        f'<text x="{_LEFT - 4:g}" y="{_HEIGHT - 6:g}" {words}>{scale[1]}</text>'
        f'<polyline points="{points}" fill="none" stroke="#3b62a8" stroke-width="1.4"/>'
        f"<line {present}/></svg>"
    )


def panel(curve: CurveSeen, time: Array, now: float) -> str:
    """Return a curve with its name and the present marked, for a panel."""
    return f'<div style="font-size:12px;padding:2px 8px">{_caption(curve)}{svg(curve, time, now)}</div>'


def _across(t: Array, time: Array) -> Array:
    span = max(float(time[-1] - time[0]), 1e-300)
    x: Array = _LEFT + (t - time[0]) / span * (_WIDTH - _LEFT)
    return x


def _thinned(t: Array, values: Array) -> tuple[Array, Array]:
    """Return at most so many points, the largest of each part, so that no peak is lost."""
    if t.size <= _MOST_POINTS:
        return t, values
    edges = np.linspace(0, t.size, _MOST_POINTS + 1).astype(int)
    rows = np.array([a + int(np.argmax(values[a:b])) for a, b in pairwise(edges)])
    return t[rows], values[rows]
