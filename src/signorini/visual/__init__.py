"""Figures and pictures from arrays; nothing here knows mechanics, and matplotlib is imported only when one is drawn."""

from signorini.visual.picture import plot_motion
from signorini.visual.solids import Solid, Surface
from signorini.visual.timelines import (
    Curve,
    JointCurves,
    plot_against_exact,
    plot_body,
    plot_joint,
    plot_pair,
    plot_phase,
    plot_run,
)

__all__ = [
    "Curve",
    "JointCurves",
    "Solid",
    "Surface",
    "plot_against_exact",
    "plot_body",
    "plot_joint",
    "plot_motion",
    "plot_pair",
    "plot_phase",
    "plot_run",
]
