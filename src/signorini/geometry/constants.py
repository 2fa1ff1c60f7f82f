"""Constants of detection that change the law, described as ``signorini._constants`` says."""

from __future__ import annotations

from typing import Final

FACET_DEPTH: Final = 1e-7
"""Law [semi-axis]. Depth below its tangent plane, of the least one, up to which the surface of a nearly flat cap counts
as flat. Found: derived; corners of the facet are at twice of it, and count as touch under load (HALF_BAND)."""
FACET_GAP: Final = 1e-4
"""Law [semi-axis]. Gap up to which corners of a facet are posed across its middle. Found: chosen, a way that counts as
rest (MEETING); with more, what rocks would hit the far side before it comes to it."""
FACET_WIDTH: Final = 0.01
"""Law [semi-axis]. Half-width from which on a facet is posed. Found: derived; bodies at rest may go as far
(REACH_FRACTION), and a contact point that wanders by less has no arm. That of an ellipsoid would be sqrt(2
FACET_DEPTH), a twentieth of it."""
