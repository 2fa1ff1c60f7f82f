"""Constants of flight, of joints and of their limits; how they are described is said in ``signorini._constants``."""

from __future__ import annotations

from typing import Final

from signorini._grades import DRIFT_WRONG

# --- flight ----------------------------------------------------------------------

TURN_AT_ONCE: Final = 0.5
"""Law [rad]. Turn that one solution of a gyroscopic equation may cover; a longer one is made of several. Newton's
method then finds the root that continues the motion. Found: chosen, where that is sure."""
MOST_LEGS: Final = 1000.0
"""Law [1]. Parts of a turn; a spin that would need more has no meaning at this step size, and the body turns about its
angular momentum. Found: chosen, 500 radians a step."""
NO_TURN: Final = 1e-17
"""Law [rad]. A turn that changes neither orientation nor spin: by the triangle inequality of moments of inertia a spin
changes by no more than the angle times itself. Found: rounding, a tenth of one."""
EVENLY: Final = 1e-13
"""Law [1]. Difference of the mean spin of a flight from the first, of that, which counts as none: contacts of bodies
that turn evenly hear nothing of their flight. Found: rounding, some hundreds."""
SHORT_FLIGHT: Final = 0.2
"""Effort [rad]. Flights on which spins grow by a quarter at most, which the reach allows for anyhow, so that they need
not be followed to tell it. Found: derived from REACH_FACTOR by the same inequality."""
FLIGHT_ROUNDING: Final = 1e-16
"""Effort [1]. Error of a mean spin at which Newton's method ends. Found: rounding."""
SPIN_ROUNDING: Final = 1e-13
"""Effort [1]. Residual of a gyroscopic equation that no longer falls and counts as zero, of the angular momentum.
Found: rounding, some hundreds."""
NEWTON_STEPS: Final = 20
"""Effort [steps]. Of Newton's method for a mean spin. Found: derived; it converges quadratically from half a radian."""

# --- joints ----------------------------------------------------------------------

STIFF: Final = 1.0
"""Law [1]. Largest z = h^2 k w of springs that keep their energy: a radian of the oscillation a step. Stiffer ones are
partly implicit. Found: derived; of shorter periods than 2 pi steps no motion is followed, they are told wrong by
z/12."""
HELD_MOBILITY: Final = 1e-13
"""Law [1]. Mobility of a row, of that on free bodies, which is none: the joints hold it. Found: rounding, some
hundreds."""
DEPENDENT: Final = 1e-10
"""Law [1]. Mobility of a row of a loop beside those before it, of that on free bodies, below which the others say it
already. Found: chosen, a million roundings; no record of trials."""
TORN: Final = DRIFT_WRONG
"""Law [joint]. Drift, of the size of a joint, that a step may leave before its bodies are moved onto it; a step that
cannot fails. Found: derived, a drift that is not trusted."""
ASKED: Final = 1e-3
"""Law [joint]. What a step may leave open of the rates that rows ask for, times h, before the joints contradict each
other. Found: chosen between rounding of redundant rows, 1e-12, and TORN."""
MOST_TURN: Final = 0.9
"""Law [rad]. Turn of a body in a step beyond which joints are not closed at its end. Found: fitted to bodies on hinges,
which keep them at up to 0.8 radians a step; no record."""
MOST_PUSH: Final = 0.25
"""Law [rad]. By how much bodies may be turned to get onto their joints: more would be far from how they turn by
themselves. Found: fitted to bodies on hinges; no record."""
SOME_PUSH: Final = 0.1
"""Law [rad]. The same of bodies that turn by more than MOST_TURN in all: rows are posed by their directions at the
start. Found: fitted to bodies on hinges; no record."""
LIMIT_MARGIN: Final = 1e-2
"""Law [m, rad]. Distance within which a limit counts that the present speed does not lead to. Found: chosen; a limit
that counts too early asks for nothing, one that counts too late is overrun for a step."""
NEAR_LIMIT: Final = 2.0
"""Law [steps]. Time at the present speed within which a limit counts. Found: chosen; 1 is needed, loads may add to
it."""
FORCELESS: Final = 1e-12
"""Effort [1]. Force of combined rows, of a unit impulse, which is none: they are counted as redundant. Found: rounding,
some thousands."""
NO_FORCE: Final = 1e30
"""Effort [m/(N s)]. Compliance of a spring that is left out. Found: a guard; any number as large does."""
CONFLICT_NOTED: Final = 1e-6
"""Effort [joint]. What rows leave open that is not worth a name. Found: chosen between rounding and ASKED."""
ON_JOINTS: Final = 1e-12
"""Effort [joint]. Drift at which moves onto joints end. Found: rounding, some thousands."""
APART: Final = 2.0
"""Effort [1]. Times the drift at first: moves that lead nowhere. Found: chosen."""
MOST_MOVES: Final = 60
"""Effort [moves]. Onto joints along the rows of the start; each multiplies the error by the angle of a step or so.
Found: chosen; 0.6 to the 60th power is 5e-14."""
FEW_MOVES: Final = 12
"""Effort [moves]. Onto joints by Newton's method. Found: chosen; it converges quadratically."""
PROJECTED: Final = 1e-14
"""Effort [extent]. Drift, of the scene's extent, at which the projection of states ends. Found: rounding."""
MOST_PROJECTIONS: Final = 30
"""Effort [moves]. Of the projection of states; each multiplies the error by the angle of a step. Found: chosen."""
PROJECTED_SLOWLY: Final = 0.5
"""Effort [1]. Fall of the error that is too slow to go on with the directions of the start. Found: chosen."""
