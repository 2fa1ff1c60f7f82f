"""Constants of detection that change the law, described as ``signorini._constants`` says."""

from __future__ import annotations

from typing import Final

CAP_DEPTH: Final = 1e-7
"""Law [semi-axis]. Depth below its tangent plane, of the least one, up to which the surface of a nearly flat cap counts
as flat. Found: derived; gaps of two of it, as of a cap on a cap, count as touch under load (HALF_BAND)."""
CAP_WIDTH: Final = 0.01
"""Law [semi-axis]. Way from a closest point within which a patch must not end to be posed. Found: derived; bodies at
rest may go as far (REACH_FRACTION), and a contact point that wanders by less has no arm. Patches of ellipsoids end
within sqrt(2 CAP_DEPTH), a twentieth of it."""
