"""Constants of the step, described as ``signorini._constants`` says: first those of the law, then those of effort.

Units: ``size`` is the radius of the smaller moving body of a contact, ``width`` the least width of the thinner one.
"Found: fitted" means that the value was turned until scenes behaved; where no record of the trials exists it says so.
Bounds by which a finished step is judged are in ``signorini._grades`` and :mod:`signorini.math.cones`.
"""

from __future__ import annotations

import sys
from typing import Final

from signorini._constants import Constant, read
from signorini._grades import OVERLAP_REMARK, OVERLAP_WRONG
from signorini.dynamics import constants as _dynamics
from signorini.geometry import constants as _geometry
from signorini.solvers import island_constants as _island

# ================================= the law =======================================

# --- which contacts are posed, and where -----------------------------------------

REACH_FACTOR: Final = 1.25
"""Law [1]. Reach of a body, of the way that it may go freely in a step: impacts elsewhere in the scene may speed it up.
Found: chosen; what goes farther is followed and posed again."""
REACH_FRACTION: Final = 0.01
"""Law [size]. Reach of a body at rest, so that it never loses sight of its neighbours. Found: chosen."""
SWIFT: Final = 0.5
"""Law [width]. Way in a step from which on bodies may pass through each other, and are followed. Found: derived; half
of the thinner body may pass between two looks before the normal points the wrong way."""
DOUBT: Final = OVERLAP_REMARK
"""Law [width]. Deviation of a way from its tangent, from which on it is followed. Found: derived, an overlap that is
remarked upon."""
MEETING: Final = 1e-4
"""Law [width]. Gap that counts as a meeting, and way that counts as rest. Found: chosen, a tenth of DOUBT."""
DEEP: Final = 2.5e-3
"""Law [width]. Overlap on the way of a pair that is one too many: it is posed where it begins. Found: fitted to thrown
bodies (benchmarks/random_shots); no record."""
SHALLOW: Final = 0.25
"""Law [width]. Overlap up to which its normal tells from where a body came. Found: derived, half of the way to the
middle of the thinner body."""
ALIKE: Final = 0.7
"""Law [1]. Cosine between normals that say the same. Found: chosen, 45 degrees."""
HIT_LEFT: Final = 0.1
"""Law [1]. Part of the approach that a hit left which a contact of the next step may leave and still take it up, and of
the width, within which it is. Found: chosen; what slides by a tenth of its radius turns its normal by as much."""
PATIENT_ROUNDS: Final = 10
"""Law [rounds]. Rounds of posing a step after which bodies that still go through do not rebound, after as many more do
not fly but turn evenly, and after each of which more is asked for. Found: fitted to thrown bodies; no record."""
TOO_CLOSE: Final = 0.5 * OVERLAP_REMARK
"""Law [width]. Overlap that a step may end with before it is posed again about its end; on ways shorter than this part
of the least width no gap can end so. Found: derived, half of what a run is remarked upon for."""

# --- what is rounding ------------------------------------------------------------

SPEED_ROUNDING: Final = 3e-14
"""Law [1]. Relative velocities that are rounding, of the velocities they are the difference of: what rolls at speed
sticks. Found: rounding, some hundreds."""
GRAIN: Final = 1.8e-15
"""Law [1]. Ways in a step that are lost in positions, of coordinates and bodies. Joints leave as much. Found: rounding,
eight."""
HELD_SPEED: Final = 1e-13
"""Law [1]. Speed of a law that joints hold, of the largest, which is none. Found: rounding, some hundreds."""

RELAXED: Final = 1e-15
"""Law [m]. Deflection below which a layer that nothing presses is forgotten, with its frame. Found: rounding, of bodies
of a metre."""

# --- what gaps ask for -----------------------------------------------------------

BAND: Final = 0.5e-6
"""Law [size]. Overlaps that count as touch where velocities part bodies, and rebounds need no more room: velocities
asked for then agree in hyperstatic scenes, where gaps differ by rounding. Found: chosen, far above rounding of
positions and far below what is seen."""
HALF_BAND: Final = 0.5 * BAND
"""Law [size]. Gaps under load that count as touch, and overlaps that displacements leave alone, so that what they leave
is well within the band. Found: derived."""
RECOVERY: Final = 0.2
"""Law [1]. Part of an overlap that recedes in a step where velocities part bodies. Found: chosen; no record."""
LIFT_SPEED: Final = 0.5
"""Law [g h]. Largest speed at which overlaps recede, of what gravity gives in a step: what is lifted loses its speed
less quickly than gravity could take it, and never hops. Found: derived, less than 1."""
REST_STEPS: Final = 2.0
"""Law [g h]. Speed of closing, of what gravity gives in a step, above which a contact rebounds. Found: derived; a body
at rest closes by 1, and rounding must not let it hop."""
BARELY: Final = 1e-100
"""Law [m/s, m/s^2]. Least speed of a rebound and least gravity of the law with theta < 1: squares are still numbers,
and without gravity overlaps stay. Found: a guard; any number as small does."""
REBOUND_ROUNDING: Final = 1e-12
"""Law [1]. What a whole rebound may gain of the energy that passes beyond the error of its solution. Found: rounding,
some thousands."""

# --- overlaps that are displaced -------------------------------------------------

TAKEN_BACK: Final = 0.8
"""Law [1]. Part of an overlap, beyond the band, that is taken back by a displacement in a step. Found: fitted to piles,
raised from 0.5; less lets piles sink, with all of it errors of linear gaps throw them open."""
MOST_DISPLACED: Final = 0.01
"""Law [size]. Largest displacement of a contact in a step: gaps are linear on the way. Found: chosen."""
LEAST_DISPLACED: Final = 1e-8
"""Law [size]. Displacements not worth making. Found: chosen, a twenty-fifth of the band."""
TOUCHING: Final = 1e-4
"""Law [size]. Gap up to which a contact that carried load is kept in touch while others are parted, lest its force
jump. Found: chosen; no record."""
CROWD: Final = 4
"""Law [contacts]. On a body, from which on not all can touch at once, as between boxes: there what holds contacts
together yields, and sweeps are many. Found: derived; three points fix a plane."""
LOOSENESS: Final = 0.1
"""Law [1]. By how much what holds contacts together yields there, of the bodies' own answer. Found: fitted to piles at
rest; no record."""

# --- softness, where neither sweeps nor the robust solver meet a rigid problem ---

YIELD_AT_REST: Final = OVERLAP_REMARK
"""Law [width]. Largest deflection of a layer where an island rests. Found: derived, as an overlap that is remarked
upon."""
YIELD_AT_MOST: Final = OVERLAP_WRONG
"""Law [width]. Largest deflection of a layer in motion. Found: derived, as an overlap that is not trusted."""
RIGID_ENOUGH: Final = 1e-6
"""Law [1]. Residual of a rigid problem that is no reason to be soft, though a finer tolerance is missed. Found:
chosen."""
FIRST_ALPHA: Final = 0.05
"""Law [1]. Softness with which an island begins, of its own answer. Found: fitted to collapses; no record."""
LEAST_ALPHA: Final = 1e-3
"""Law [1]. Least softness, from which on an island is soon tried as rigid. Found: fitted to collapses; no record."""
MOST_ALPHA: Final = 0.4
"""Law [1]. Largest softness. Found: fitted to collapses; no record."""
ALPHA_RAISED: Final = 2.5
"""Law [1]. Factor of the softness of an island that is not solved. Found: chosen."""
ENTRY_AT_LEAST: Final = 4.0
"""Law [LEAST_ALPHA]. Least softness with which an island begins again. Found: chosen."""
EASY_SWEEPS: Final = 24
"""Law [sweeps]. Up to which an island becomes stiffer by ALPHA_EASED for the next step. Found: fitted to collapses, as
all that follow here; no record."""
ALPHA_EASED: Final = 0.75
"""Law [1]. See EASY_SWEEPS. Found: fitted to collapses; no record."""
GOOD_SWEEPS: Final = 40
"""Law [sweeps]. Up to which an island becomes stiffer by ALPHA_LESS for the next step. Found: fitted to collapses; no
record."""
ALPHA_LESS: Final = 0.9
"""Law [1]. See GOOD_SWEEPS. Found: fitted to collapses; no record."""
HARD_SWEEPS: Final = 48
"""Law [sweeps]. From which on an island in motion becomes softer by ALPHA_MORE for the next step. Found: fitted to
collapses; no record."""
ALPHA_MORE: Final = 1.1
"""Law [1]. See HARD_SWEEPS. Found: fitted to collapses; no record."""
HARDEST_SWEEPS: Final = 96
"""Law [sweeps]. From which on any island becomes softer by ALPHA_MUCH_MORE for the next step. Found: fitted to
collapses; no record."""
ALPHA_MUCH_MORE: Final = 1.5
"""Law [1]. See HARDEST_SWEEPS. Found: fitted to collapses; no record."""
BRIDGED: Final = 0.8
"""Law [1]. Largest part of an open gap that a loaded layer bridges for nothing: a contact that opens by a millionth
must not lose its force at once. Found: fitted to collapses; no record."""
BRIDGED_BY_ALPHA: Final = 20.0
"""Law [1]. The same in units of the softness: a layer that is nearly rigid bridges nothing. Found: fitted to collapses;
no record."""
WITHIN: Final = 0.7
"""Law [1]. Part of what it may that it is to give way then. Found: chosen."""
LONGEST_WAIT: Final = 16.0
"""Law [steps]. Largest wait before a soft island is tried as rigid again, or one to be kept as it was. Found:
chosen."""

# --- sleep, if the user asks for it ----------------------------------------------

STILL_SPEED: Final = 1e-3
"""Law [g h]. Speed of all points of a body, of what gravity gives in a step, which is none. Found: chosen."""
STILL_STEPS: Final = 100.0
"""Law [steps]. After which a body that is still falls asleep. Found: chosen."""

# --- which of several solutions --------------------------------------------------

STIRRED_SPEED: Final = 1e-3
"""Law [load]. Speed, of what the load gives in a step, which is motion: a solution that holds what was at rest is taken
before one that stirs it. Found: chosen."""
SMALL_ISLAND: Final = 8
"""Law [bodies]. Up to which the least impulses of what slides on are found. Found: chosen, for what it costs."""
FACE: Final = 4
"""Law [contacts]. Of one pair that leave impulses open. Found: derived; three points fix a plane."""

# --- joints ----------------------------------------------------------------------

CLOSED_TO: Final = 1e-11
"""Law [joint]. What may be left open of a joint at the end of a step; the next takes it back. Found: chosen, a thousand
times what rounding leaves."""
BRAKING_SHARE: Final = 0.5
"""Law [1]. Part of a motor's effort that may be counted on to stop in time; the rest is for other loads. Found:
chosen."""

# ================================= effort ========================================

# --- steps that are implicit in their geometry -----------------------------------

LENGTH_GRAIN: Final = 1e-5
"""Effort [size]. Lengths in a geometrically implicit step count in units of this and of the way of the step: rounding
of positions is a hundredth of a tolerance of 1e-10 then. Found: derived."""
IMPLICIT_SHARP: Final = 1e-10
"""Effort [1]. Natural map at which a geometrically implicit step counts as solved, in its units. Found: S3, spec 7."""
ROUNDED: Final = 1e-13
"""Effort [1]. The same where one more step would better nothing. Found: measured, 24 of 25 solved steps of an ellipsoid
are below, most at 1e-14."""
IMPLICIT_ACCEPTED: Final = 1e-8
"""Effort [1]. The same where no start leads farther. Found: S3, spec 7."""
GRAZING: Final = 1e-3
"""Effort [weight]. Normal impulses of the last start of such a step: from none Newton's method begins without friction
and may go round where a slender body slides. Found: measured, 1e-12 to 1e-2 are as good."""
MOST_DENSE: Final = 150
"""Effort [unknowns]. Up to which the Jacobian of a geometrically implicit step is a matrix of all entries, and the step
compiled as a whole. Found: chosen."""
FIRST_SWIFT: Final = 16
"""Effort [contacts]. For which geometrically implicit steps in compiled code have room at first. Found: chosen."""
MOST_SUBSTEPS: Final = 6
"""Effort [halvings]. How often a geometrically implicit step that no start solves is halved. Found: chosen."""

# --- closing of joints, following of ways ----------------------------------------

MOST_CLOSINGS: Final = 40
"""Effort [repetitions]. Each multiplies what is left open by the angle of a step or so; where that is too much, rows
stay linear. Found: chosen."""
JACOBI_SWEEPS: Final = 30
"""Effort [sweeps]. Of Jacobi's method for the rows of loops, which ends after six or so. Found: chosen."""
JACOBI_ZERO: Final = 1e-17
"""Effort [1]. Entry beside the diagonal at which Jacobi's method ends. Found: rounding, a tenth of one."""
DENSE_ROWS: Final = 900
"""Effort [rows]. Up to which a dense matrix of joint laws is quicker than a sparse one. Found: measured; no record."""
SAMPLE: Final = 0.1
"""Effort [width]. Way between two looks for overlaps. Found: chosen."""
LOOKS: Final = 200
"""Effort [looks]. That are as close; about as many go on to the end. Found: chosen."""
HALVINGS: Final = 12
"""Effort [1]. Of the time at which an overlap begins: to SAMPLE/4096. Found: chosen."""
FOLLOW_ROUNDS: Final = 60
"""Effort [rounds]. Of posing a step whose bodies go through each other; what is left is told. Found: chosen."""
MEND_ROUNDS: Final = 8
"""Effort [rounds]. Of posing a step that ends in overlaps, by Newton's method; mostly one is enough. Found: chosen."""
SHARE_ROUNDS: Final = 16.0
"""Effort [rounds]. Of finding the part of a rebound that keeps the energy; halvings alone take it to 1e-4. Found:
derived."""
HURRY: Final = 200
"""Effort [iterations]. In which robust methods must find a solution with a rebound: what friction wedges mostly has
none. Found: chosen."""

# --- sweeps that part overlaps ---------------------------------------------------

DISPLACING_SWEEPS: Final = 10
"""Effort [sweeps]. Over an island whose overlaps are displaced. They may end before they converge. Found: fitted to
piles; no record."""
MORE_SWEEPS: Final = 60
"""Effort [sweeps]. The same in a CROWD whose largest displacement is between LITTLE and MUCH. Found: fitted to piles at
rest; no record."""
LITTLE: Final = 1e-6
"""Effort [size]. Displacement of piles at rest. Found: fitted to piles at rest; no record."""
MUCH: Final = 5e-3
"""Effort [size]. Displacement where all is on the move. Found: fitted to collapses; no record."""
OVERRELAXED: Final = 1.5
"""Effort [1]. Relaxation of MORE_SWEEPS. Found: chosen between 1 and 2."""
DISPLACING_NEAR: Final = 0.01
"""Effort [1]. Change by a sweep, of the largest displacement, that ends them. Found: chosen."""
DISPLACING_FINE: Final = 2.0 * LEAST_DISPLACED
"""Effort [size]. Change by a sweep that ends them. Found: derived."""

# --- sweeps that solve an island -------------------------------------------------

WINDOW: Final = 5
"""Effort [double sweeps]. That the acceleration combines. Found: fitted to piles; no record."""
SWEEP_LIMIT: Final = 2000
"""Effort [sweeps]. Over one island. Found: chosen."""
SWEEPS_AT_LEAST: Final = 2
"""Effort [sweeps]. Over large islands: a guess taken as it is would add its error up to creep. Found: chosen."""
BETTERED: Final = 24
"""Effort [sweeps]. By which guesses of other islands are bettered. Found: fitted to piles at rest; no record."""
FINEST: Final = 1e-2
"""Effort [tolerance]. Residual asked for where an island rests: what is not exact moves, and adds up. Found: chosen."""
LARGE_AT_REST: Final = 0.1
"""Effort [tolerance]. The same of large islands, as far as parts of them are to blame. Found: chosen."""
HELD_ERROR: Final = 1e-4
"""Effort [tolerance]. Residual above which islands that rest are held anew, which costs little. Found: chosen."""
NEARLY: Final = 1e-2
"""Effort [1]. Residual of guesses that are near. Found: chosen."""
HARDLY: Final = 1e-3
"""Effort [1]. Residual of guesses from which little has changed. Found: chosen."""
AS_MANY: Final = 8.0
"""Effort [steps]. Sweeps that the robust solver is given before cost as much as so many of its steps ... Found: fitted
to piles; no record."""
HASTE_WORK: Final = 400
"""Effort [contacts]. ... and those over so many contacts ... Found: fitted to piles; no record."""
HASTE: Final = 8
"""Effort [sweeps]. ... as long as their progress, judged after these, promises to be enough. Found: chosen."""
PATIENCE: Final = 200
"""Effort [sweeps]. Within which the residual must fall to PROGRESS, without the robust solver. Found: chosen."""
PROGRESS: Final = 0.1
"""Effort [1]. See PATIENCE. Found: chosen."""
FORESIGHT: Final = 16
"""Effort [sweeps]. By which the fall of the residual is judged where sweeps are few. Found: chosen."""
ELSEWHERE: Final = 400
"""Effort [sweeps]. After which the robust solver, having failed, begins once more from other modes. Found: chosen."""
RIGID_SWEEPS: Final = 100
"""Effort [sweeps]. Over a large island as rigid. Found: fitted to collapses; no record."""
AGAIN_SWEEPS: Final = 64
"""Effort [sweeps]. Over a large island that was soft, as rigid again. Found: fitted to collapses; no record."""
COMPLIANT_SWEEPS: Final = 160
"""Effort [sweeps]. Over a soft island. Found: fitted to collapses; no record."""
LAST_SWEEPS: Final = 1000
"""Effort [sweeps]. Over an island at MOST_ALPHA. Found: chosen."""
COLD_SWEEPS: Final = 3000
"""Effort [sweeps]. Over an island of which no impulse is known, as in the first step of a pile at rest: what is missing
of those that hold it would shake it for a hundred steps. Found: chosen."""
FALLS: Final = 0.85
"""Effort [1]. Fall of the residual by a part of a large island for which others are tried. Found: chosen."""
MOST_IN_EXCERPT: Final = 1000
"""Effort [sweeps]. Over a part of an island, where they cost little. Found: chosen."""
PATIENCE_IN_EXCERPT: Final = 100
"""Effort [sweeps]. The PATIENCE there. Found: chosen."""
LIKE: Final = 0.5
"""Effort [1]. Changes of an impulse from step to step that are alike, and expected to go on. Found: chosen."""
WORTH: Final = 20.0
"""Effort [tolerance]. Changes that are worth expecting: others are errors, which would grow. Found: chosen."""
OFTEN: Final = 0.998
"""Effort [1]. Part of a change that is expected, lest errors add up. Found: chosen."""
COUPLE_FEW: Final = 8
"""Effort [contacts]. Of islands with couples that are swept over before anything else, which mostly does. Found:
chosen."""
COUPLE_LOOK: Final = 8
"""Effort [sweeps]. With couples, between two looks at the residual, and the patience while the robust solver has not
been asked. Found: chosen."""
COUPLE_PATIENCE: Final = 64
"""Effort [sweeps]. With couples, within which the residual must fall to PROGRESS. Found: chosen."""
FRESH: Final = 64
"""Effort [sweeps]. With couples, after which y, that drifts by rounding, is found anew. Found: chosen."""

# --- parts of an island ----------------------------------------------------------

SOME_BODIES: Final = 24
"""Effort [bodies]. Of a scene from which parts of islands are solved by themselves. Found: chosen."""
DIVIDED: Final = 100
"""Effort [contacts]. From which an island is solved where it errs, if that is a small part of it. Found: chosen."""
ERRS: Final = 3.0
"""Effort [tolerance]. Error of a contact that belongs to the part, if all erred like it. Found: chosen."""
OF_ALL: Final = 2.0
"""Effort [residual]. The same beside the residual of the island. Found: chosen."""
LAYERS: Final = 2
"""Effort [1]. Of neighbours that belong to the part. Found: chosen."""
EXCERPT_SHARE: Final = 0.3
"""Effort [1]. Largest part of an island. Found: chosen."""
LEFT: Final = 0.3
"""Effort [tolerance]. What may be left of the error of a part ... Found: chosen."""
LEFT_AT_REST: Final = 0.01
"""Effort [tolerance]. ... at rest: what is not exact moves, and would have to be solved again in the next step. Found:
chosen."""

# --- what the robust solver may spend --------------------------------------------

CHEAP: Final = 21.0
"""Effort [operations/contact]. Of a factorisation: islands for which it takes more are softened in motion, and solved
as a whole only where they rest. Found: fitted to collapses; no record."""
LIGHT: Final = 3.0 * COMPLIANT_SWEEPS / 10.0
"""Effort [operations/contact]. Up to which soft islands are solved by the robust solver: three cost as much as the work
at a contact in a sweep, and ten steps of it then as much as the sweeps. Found: derived."""
AS_SWEEPS: Final = 4.0
"""Effort [sweeps]. That a step of the robust solver counts for where softness is chosen. Found: chosen."""
NEWTON_AT_LEAST: Final = 2.0
"""Effort [sweeps]. That a step of the robust solver costs as much as, at least ... Found: measured; no record."""
NEWTON_BY_NODES: Final = 0.2
"""Effort [sweeps]. ... and times the square of the bodies over the contacts: a factorisation takes some 0.6 n^2 updates
of a block in dense piles of n bodies, each a third of the work at a contact. Found: measured; no record."""
CREDIT: Final = 20000.0
"""Effort [operations/contact]. That the robust solver may spend at once. Found: fitted to collapses; no record."""
EARNED: Final = 1000.0
"""Effort [operations/contact]. That are earned by a step. Found: fitted to collapses; no record."""
TRIED: Final = 4000.0
"""Effort [operations/contact]. That a try at a dear island may cost. Found: fitted to collapses; no record."""
DEAR: Final = 0.5
"""Effort [CREDIT]. Islands that owe more are not solved as a whole. Found: chosen."""
STIFFENED: Final = 3
"""Effort [1]. How often an island that gives way too much is posed stiffer. Found: chosen; then the step says so."""
TINY: Final = 1
"""Effort [contacts]. Of islands whose impulses the motion leaves open in no case: two contacts may press a body against
each other. Found: derived."""
SLOWER: Final = 0.5
"""Effort [1]. Of the pace at which it failed: islands that cost much are tried as a whole again. Found: chosen."""
DENSE: Final = 240
"""Effort [contacts]. Up to which Python's methods, that take the cube of them, come before softness. Found: chosen."""
INTERIOR_COST: Final = 1.6
"""Effort [steps]. Of Newton, that a step of the interior point costs. Found: measured; no record."""
LIKELY_FEW: Final = 10.0
"""Effort [factorisations]. That what is near or kept takes, as a guess of what it costs. Found: fitted to piles; no
record."""
LIKELY: Final = 40.0
"""Effort [factorisations]. That a whole solution takes, as such a guess. Found: fitted to piles; no record."""
SHARE_AT_ONCE: Final = 0.25
"""Effort [CREDIT]. That is spent on one solution. Found: chosen."""
TOO_DEAR: Final = 0.75
"""Effort [CREDIT]. That a refused solution counts for; what is left is for parts of the island. Found: chosen."""
POLISH_ALPHA: Final = 1e-6
"""Effort [1]. Proximal weight of these. Found: chosen."""
DEAREST: Final = 500
"""Effort [operations/contact]. Of a factorisation with couples. Found: chosen."""
COUPLE_CREDIT: Final = 10000
"""Effort [operations/contact]. Of all factorisations that solve an island with couples. Found: chosen."""

# --- how precise -----------------------------------------------------------------

FINER: Final = 1e-2
"""Effort [1]. Of the residual asked for, where contacts of light bodies err though the island does not. Found:
chosen."""
GREAT: Final = 1e3
"""Effort [1]. Impulses over what the load asks of the lightest contact, from which their rounding is cleared from
velocities of what rests: by its square, a ten thousand millionth of its weight, a body that a load tilts by it is
pushed aside. Found: derived from that; motion makes greater errors, cleared from LEVERAGE of the cones on."""

NO_MOTION: Final = 1e-14
"""Effort [1]. Mobility of a group of components of a couple, of that along the normal, below which it chooses no unit
of its own. Found: rounding, fifty."""

# --- cuts and threads ------------------------------------------------------------

MANY_BODIES: Final = 256
"""Effort [bodies]. From which an island is cut. Found: fitted to threads; no record."""
MANY_CONTACTS: Final = 1000
"""Effort [contacts]. From which an island is cut. Found: fitted to threads; no record."""
MOST_SLABS: Final = 16
"""Effort [slabs]. Of an island. Found: chosen."""
SLAB_CONTACTS: Final = 340
"""Effort [contacts]. That a slab should have. Found: fitted to threads; no record."""
SLAB_WIDTH: Final = 2.5
"""Effort [diameters]. Of bodies, that a slab should be wide. Found: derived; contacts then cross one border at most."""
BINS: Final = 256
"""Effort [bins]. By which bodies are told apart along an axis. Found: chosen."""
TEAM_CONTACTS: Final = 500
"""Effort [contacts]. Of a scene from which threads are woken. Found: measured; no record."""
MOST_LANES: Final = 64
"""Effort [lanes]. Groups of small islands. Found: chosen."""
LANE_CONTACTS: Final = 64
"""Effort [contacts]. That each should have. Found: chosen."""
LOOK_AGAIN: Final = 100
"""Effort [steps]. Until one looks again whether threads are worth it. Found: chosen."""

# --- memory ----------------------------------------------------------------------

CAPACITY_MORE: Final = 0.5
"""Effort [1]. Room for contacts and pairs beyond what is needed, so that arrays do not grow in every step of a fall ...
Found: chosen."""
CAPACITY_MOST: Final = 1000
"""Effort [rows]. ... of many only so many ... Found: chosen."""
CAPACITY_LEAST: Final = 0.02
"""Effort [1]. ... and then this part, for memory is dear there. Found: chosen."""
BLOCK_CAPACITY: Final = 1.2
"""Effort [1]. Room for blocks of joints, of what is needed. Found: chosen."""
FIRST_POOL: Final = 1 << 14
"""Effort [numbers]. For the robust solver, at first. Found: chosen."""


def table() -> tuple[Constant, ...]:
    """Return all constants of the step, with those of detection, flight, joints and the island solvers."""
    own = read(sys.modules[__name__])
    return (*own, *read(_geometry), *read(_dynamics), *read(_island))
