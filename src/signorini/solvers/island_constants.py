"""Constants of the solvers of one island; how they are described is said in ``signorini._constants``.

Velocities are in units of the largest that the load gives, so that 1 is what the load does to a contact by itself.
"""

from __future__ import annotations

from typing import Final

# --- which of several solutions --------------------------------------------------

RESTING: Final = 0.1
"""Law [load]. Speed of contacts, of what the load gives in a step, up to which they are at rest: those that can stay
do. Found: chosen; no record."""
CLOSED_SPEED: Final = 1e-6
"""Law [load]. What a gap asks for, up to which a contact that bears nothing is closed, and slip of one at the EDGE of
its cone, up to which it holds. Found: chosen."""
EDGE: Final = 1.0 - 1e-6
"""Law [cone]. Impulses beyond are those of contacts that slid, as of a motor at its limit, however slowly. Found:
chosen, above tolerances and far below what friction is known to."""
TOLD_APART: Final = 100.0
"""Law [residual]. Speeds that are told from zero in a solution. Found: chosen."""
LEAST_TOLD: Final = 1e-12
"""Law [load]. The same of a solution without residual. Found: rounding, some thousands."""

# --- what is rounding ------------------------------------------------------------

FEW_ROUNDINGS: Final = 1e-15
"""Effort [1]. What rounding leaves of a residual, and of a function that is to fall. Found: rounding, four."""
SUM_ROUNDING: Final = 1e-13
"""Effort [1]. What the roundings of a sum leave, of its terms: least residual that is asked for where impulses are many
times those of the load, and what least impulses may miss. Found: rounding, some hundreds."""

# --- which method comes when -----------------------------------------------------

MARGIN: Final = 0.9
"""Effort [tolerance]. To which an island is solved: the residual of all of them is measured again, with sums that are
added up in another order. Found: chosen."""
NEWTON_FIRST: Final = 120
"""Effort [contacts]. Up to which Newton comes first, and patiently. Found: fitted to piles; no record."""
NEAR_FIRST: Final = 1e-4
"""Effort [1]. Residual below which it does as well. Found: chosen."""
FIRST_STEPS: Final = 40
"""Effort [steps]. Of Newton, at first. Found: chosen."""
FAR_STEPS: Final = 10
"""Effort [steps]. Of Newton from a guess that is far. Found: chosen."""
LATER_STEPS: Final = 100
"""Effort [steps]. Of Newton after the interior point. Found: chosen."""
NEARBY_STEPS: Final = 8
"""Effort [steps]. Of Newton from a guess that is near. Found: chosen."""
START_ALPHA: Final = 1e-3
"""Effort [1]. Proximal weight with which Newton begins. Found: chosen."""
LATE_ALPHA: Final = 1e-2
"""Effort [1]. The same of its third try. Found: chosen."""
OF_RESIDUAL: Final = 10.0
"""Effort [residual]. Largest of that weight from a guess that is near. Found: chosen."""
DELTA: Final = 1e-2
"""Effort [1]. How far the interior point pushes a guess into the cones. Found: chosen."""
ALPHA_SHARE: Final = 0.1
"""Effort [1]. Of the duality measure: largest regularisation of the interior point while steps are long. Found:
chosen."""
BOLDER: Final = 10.0
"""Effort [1]. Times DELTA and ALPHA_SHARE at its last try. Found: chosen."""
POLISHED: Final = 1e-9
"""Effort [1]. Residual at which the interior point has nothing to give. Found: chosen."""

# --- Newton's method with a proximal term ----------------------------------------

PROXIMAL_LEAST: Final = 1e-9
"""Effort [1]. Least proximal weight. Found: chosen."""
PROXIMAL_MOST: Final = 1.0
"""Effort [1]. Largest proximal weight. Found: derived, a contact's own answer."""
ABOVE_FAILED: Final = 2.0
"""Effort [1]. The weight stays above so many times one that failed ... Found: chosen."""
FORGET: Final = 0.7
"""Effort [1]. ... less by this at every success. Found: chosen."""
FALL: Final = 0.3
"""Effort [1]. An inner problem counts as solved when its error fell to this part. Found: chosen."""
INNER_STEPS: Final = 10
"""Effort [steps]. Of an inner problem. Found: chosen."""
INNER_GROWS: Final = 4
"""Effort [steps]. After which its error must be below where it began. Found: chosen."""
INNER_QUICK: Final = 3
"""Effort [steps]. Of an inner problem after which the weight falls by LOWERED_MUCH. Found: chosen."""
LOWERED_MUCH: Final = 0.1
"""Effort [1]. See INNER_QUICK. Found: chosen."""
INNER_GOOD: Final = 6
"""Effort [steps]. Of an inner problem after which the weight falls by LOWERED. Found: chosen."""
LOWERED: Final = 0.3
"""Effort [1]. See INNER_GOOD. Found: chosen."""
RAISED: Final = 4.0
"""Effort [1]. By which the weight is raised after an inner problem that is not solved. Found: chosen."""
NEWTON_REFINED: Final = 1e-4
"""Effort [1]. Weight below which steps are refined once. Found: chosen, the root of rounding and more."""

# --- interior point --------------------------------------------------------------

SOFTEST: Final = 1e-2
"""Effort [1]. Largest regularisation. Found: chosen."""
SHORT_STEP: Final = 0.3
"""Effort [1]. Steps shorter than that raise it ... Found: chosen."""
LONG_STEP: Final = 0.7
"""Effort [1]. ... longer ones lower it. Found: chosen."""
RAISE: Final = 100.0
"""Effort [1]. Factor by which it is raised. Found: chosen."""
LOWER: Final = 0.3
"""Effort [1]. Factor by which it is lowered. Found: chosen."""
PATH_LEAST: Final = 1e-7
"""Effort [1]. Least of it ... Found: chosen."""
PATH_LEAST_OF: Final = 0.1
"""Effort [tolerance]. ... but no more than this. Found: chosen."""
CENTRING: Final = 0.05
"""Effort [1]. Least part of the duality measure that is asked for. Found: chosen."""
PATH_STEPS: Final = 50
"""Effort [steps]. Along the path. Found: chosen."""
PATH_PATIENCE: Final = 10
"""Effort [steps]. Within which the residual must fall to PATH_FALLS. Found: chosen."""
PATH_FALLS: Final = 0.7
"""Effort [1]. See PATH_PATIENCE. Found: chosen."""
CUT_SHORT: Final = 0.1
"""Effort [1]. Steps that are shorter are made again by pure centring. Found: chosen."""
FINISH: Final = 1e-5
"""Effort [1]. Residual below which Newton tries to end the matter ... Found: chosen."""
FINISH_AGAIN: Final = 0.1
"""Effort [1]. ... and again when it has fallen to this part. Found: chosen."""
FINISH_STEPS: Final = 6
"""Effort [steps]. Of Newton then. Found: chosen."""
FINISH_ALPHA: Final = 1e-4
"""Effort [1]. Its proximal weight. Found: chosen."""
TIGHT: Final = 1e-7
"""Effort [1]. Tolerance below which steps are careful; with couples they always are, whose short lengths make for large
numbers. Found: chosen."""
DAMPING: Final = 0.98
"""Effort [1]. Part of the way to the edge of the cones that a step goes. Found: chosen."""
CAREFUL_DAMPING: Final = 0.95
"""Effort [1]. The same of careful steps. Found: chosen."""
REFINED: Final = 1e-9
"""Effort [1]. Duality measure below which steps are refined once. Found: chosen."""
CAREFUL_REFINED: Final = 1e-4
"""Effort [1]. The same of careful steps. Found: chosen."""

# --- least forces ----------------------------------------------------------------

SHARE_STEPS: Final = 40
"""Effort [steps]. Of Newton's method for the least impulses. Found: chosen."""
SHARE_TRIED: Final = 10
"""Effort [steps]. After which no more than SHARE_FAR may be missing. Found: chosen."""
SHARE_FAR: Final = 0.3
"""Effort [1]. Part of what they must do to the bodies. Found: chosen."""
MISSING_OF_ERROR: Final = 0.1
"""Effort [1]. The same, of the error to which it is known. Found: chosen."""
MISSING_ENOUGH: Final = 1e-9
"""Effort [1]. What may be missing where Newton's method ends. Found: chosen."""
WEIGHT_LEAST: Final = 1e-11
"""Effort [1]. Least weight of the identity in the matrices. Found: chosen."""
WEIGHT_MOST: Final = 1e3
"""Effort [1]. Largest weight of the identity in the matrices. Found: chosen."""
WEIGHT_FIRST: Final = 1e-6
"""Effort [1]. From which it is raised. Found: chosen."""
WEIGHT_RAISED: Final = 100.0
"""Effort [1]. By which it is raised where no step is found. Found: chosen."""
WEIGHT_MORE: Final = 10.0
"""Effort [1]. By which it is raised after a short step ... Found: chosen."""
WEIGHT_LESS: Final = 0.1
"""Effort [1]. ... and lowered after a whole one. Found: chosen."""
ENOUGH_FALL: Final = 1e-4
"""Effort [1]. Part of the predicted fall that a step must make. Found: usual, Armijo's rule."""
STEP_HALVINGS: Final = 10
"""Effort [1]. Of a step. Found: chosen."""
MODE_TURNS: Final = 12
"""Effort [turns]. In which modes are solved, with others each time. Found: chosen."""
STRAIGHT: Final = 1e-10
"""Effort [rad]. To which directions of slip agree with the velocity that they lead to. Found: chosen."""

# --- velocities that rounding hides ----------------------------------------------

SPRING_STIFF: Final = 1e7
"""Effort [1]. Stiffness of springs beside the answer of contacts with which modes are solved. Found: chosen, the root
of rounding."""
REFINE_TURNS: Final = 24
"""Effort [turns]. Of refinement. Found: chosen."""
REFINE_SLOW: Final = 0.1
"""Effort [1]. Error that a turn may leave; more lowers the weight of springs by STIFFER ... Found: chosen."""
STIFFER: Final = 1e4
"""Effort [1]. See REFINE_SLOW. Found: chosen."""
STIFFEST: Final = 1e-18
"""Effort [1]. ... down to this. Found: chosen, below rounding."""
REFINE_GROWS: Final = 10.0
"""Effort [1]. Growth of the error at which springs are too stiff for the factors. Found: chosen."""
REFINE_EXACT: Final = 1e-14
"""Effort [load]. Error that is rounding. Found: rounding, fifty."""
INSIDE_CONE: Final = 1.0 - 1e-9
"""Effort [cone]. Impulses that are inside. Found: chosen."""
FREE_WEIGHT: Final = 1e-16
"""Effort [1]. Of the identity, for what nothing holds. Found: rounding."""
FOLLOW_TURNS: Final = 4
"""Effort [turns]. In which impulses follow the velocities. Found: chosen."""
