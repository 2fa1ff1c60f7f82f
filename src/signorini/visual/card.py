"""A run in a notebook: a small card, a picture with a few lines beside it, or a page that plays."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 75


class Shown(NamedTuple):
    """A page inside a notebook."""

    page: str
    height: int
    """Pixels."""

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.page)}" style="width:100%;height:{self.height}px;border:0"></iframe>'


def card(figure: Figure, title: str, lines: Sequence[str]) -> str:
    """Return the card as HTML that needs nothing else."""
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=_DPI)
    data = base64.b64encode(png.getvalue()).decode("ascii")
    rows = "".join(f"<div>{html.escape(line)}</div>" for line in lines)
    return (
        '<div style="display:flex;gap:14px;align-items:center;border:1px solid #d5d9de;border-radius:6px;padding:8px;'
        'width:fit-content;font-family:sans-serif;font-size:13px;color:#2b2f36;background:#ffffff">'
        f'<img alt="the bodies at the end" style="max-width:320px" src="data:image/png;base64,{data}">'
        f'<div style="line-height:1.5;max-width:360px"><b>{html.escape(title)}</b>{rows}</div></div>'
    )
