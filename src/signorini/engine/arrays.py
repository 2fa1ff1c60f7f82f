"""The arrays of the compiled step by number; :class:`.engine.Engine` makes them.

Contacts are kept twice: in the order of their features, as detection gives them, and island by island, as the solver
takes them (``ORDER``, ``POSITION``). Impulses are in the contact frames (n, t, o); in a planar scene the last is zero.

Every array is declared beside its number: its kind, and its shape, in which ``n_b`` counts bodies, ``n_m`` materials,
``n_s`` shapes, ``cap`` contacts for which there is room, R components of friction, and ``any`` is free. Columns with
names stand below. ``tests/unit/engine/test_arrays.py`` holds every use against it.

Numbers of type int64: for a Python constant the compiler would make a version of every function that takes one.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _numbered(count: int) -> Any:
    return np.arange(count, dtype=np.int64)


(
    # scalars
    NUMBERS,  # float (NUMBER_COUNT,): see below
    COUNTS,  # int (COUNT_COUNT,): see below
    # bodies, constant
    MASS,  # float (n_b,)
    INERTIA,  # float (n_b, 3, 3): in body axes
    FREE,  # float (n_b, 6)
    WAY,  # int (n_b,): how the gyroscopic term is taken, see signorini.dynamics.bodies
    ROOT,  # float (n_b, 3, 3): A with A A^T = I^-1 on the free directions, in body axes
    BOUND,  # float (n_b,)
    THIN,  # float (n_b,): least width, see signorini.model.thickness
    WEIGHT,  # float (n_b, 6)
    FRICTION,  # float (n_m,): by material
    RESTITUTION,  # float (n_m,): by material
    # bodies
    Q,  # float (n_b, 7)
    V,  # float (n_b, 6): ; when bodies have moved, until the step is complete, those that the law knows
    Q_START,  # float (n_b, 7): at the start of the step
    Q_0,  # float (n_b, 7): after overlapping bodies were parted a little
    V_0,  # float (n_b, 6): where the step acts, before it does
    V_START,  # float (n_b, 6): at the start of the step, for theta < 1
    V_SPUN,  # float (n_b, 6): after the gyroscopic term
    V_FREE,  # float (n_b, 6): after all loads
    FLOWN,  # float (n_b, FLIGHT_COLUMNS): turns of bodies that fly, see signorini.dynamics.flight
    VEER,  # float (n_b, 3): by how much their mean spins differ from those that they begin with, as the law knows
    P_EXT,  # float (n_b, 6): impulse of all loads
    DRIVE,  # float (n_fixed, 6): secant velocities of the fixed bodies
    FACTOR,  # float (n_b, 12): L with L L^T = M^-1: 3 of the diagonal linear part, 9 of the angular part
    REACH,  # float (n_b,)
    PLACE,  # int (n_b, PLACE_COLUMNS): see below
    REST,  # float (n_b, REST_COLUMNS): steps for which a body has been still, and its load in the last of them
    # shapes and the memory of detection, see signorini.geometry.tables
    SHAPE,  # float (n_s, 12)
    LABEL,  # int (n_s, 13)
    SOLID,  # float (any, 4)
    LINK,  # int (any, 4)
    PAIR,  # int (any, 2)
    WORLD,  # float (n_s, 13)
    CELLS,  # int (any,)
    WORK,  # float (any, 10)
    MARK,  # int (any, 3)
    # pairs that are followed along their ways, see engine/meet.py
    PATH,  # float (n_b, 6): velocities of these ways
    AIM,  # float (n_b, 6): velocities that the law knows on these ways; spins of bodies that fly are others
    MEETS,  # float (n_b, MEETS_COLUMNS): see below
    PAIR_SHAPE,  # float (2, 12): and so on: a scene of two shapes
    PAIR_LABEL,  # int (2, 13)
    PAIR_Q,  # float (2, 7)
    PAIR_REACH,  # float (2,)
    PAIR_SPIN,  # float (2, 3)
    PAIR_LEGS,  # int (2,)
    PAIR_TURN,  # float (2, any, 7)
    PAIR_VALUE,  # float (any, VALUE_COLUMNS)
    PAIR_INDEX,  # int (any, INDEX_COLUMNS)
    MET_VALUE,  # float (any, VALUE_COLUMNS): contacts of the step that is about to be posed
    MET_INDEX,  # int (any, INDEX_COLUMNS)
    GUESS,  # float (cap, 3): impulses of a step that is posed again, in the order of features, see engine/mend.py
    GUESS_FEATURE,  # int (cap,)
    # contacts in the order of features
    VALUE,  # float (cap, VALUE_COLUMNS): see below
    INDEX,  # int (cap, INDEX_COLUMNS): see below
    POSITION,  # int (cap,): row in the order of islands
    OLD_FEATURE,  # int (cap,): of the last step, to which IMPULSE belongs until the next is solved
    OLD_SOFTNESS,  # float (cap, SOFTNESS_COLUMNS): see below
    IMPULSE,  # float (cap, 3): result of the step, with the contacts of SEEN
    MODE,  # int (cap,): what contacts did, see contact_checks
    SEEN_VALUE,  # float (cap, VALUE_COLUMNS): contacts at the start of the step
    SEEN_INDEX,  # int (cap, INDEX_COLUMNS)
    HIT_ARMS,  # float (cap, 9): hits that the last step left unfinished: both arms and the normal, see engine/hits.py
    HIT_INDEX,  # int (cap, INDEX_COLUMNS)
    # contacts in the order of islands
    ORDER,  # int (cap,): row in the order of features
    ISLAND,  # int (n_b, ISLAND_COLUMNS): see below
    ASKED,  # float (n_b,): tolerance of each island, see engine/solve.py
    MEMORY,  # float (n_b, SOFTNESS_COLUMNS): what is remembered of each island: the most of its contacts
    TRIAL,  # float (n_b, TRIAL_COLUMNS): what its solution has come to, see below
    REBOUND_SHARES,  # float (n_b, SHARE_COLUMNS): how much of its rebound each island has, see passive_law
    START,  # int (cap + 1,): first block
    BLOCK,  # int (4 cap,): row of y (3 each) within the island
    GATHER,  # float (4 cap, 3, 3)
    B,  # float (cap, 3): velocity without contact impulses
    LOAD,  # float (cap, 3): b with what gap and compliance ask for
    GAP,  # float (cap,)
    SIZE,  # float (cap,): radius of the smaller moving body
    WIDTH,  # float (cap,): least width of both bodies
    REBOUND,  # float (cap,): coefficient of restitution
    VEERED,  # float (cap,): normal velocity that flights add, in the mean of the step
    SHIFT,  # float (cap,): what the gap asks of the normal velocity
    CORRECTED,  # float (cap,): the part of it that lifts bodies out of overlaps
    MAY_CLOSE,  # float (cap,): speed at which the gap may close if it was opening faster, else inf
    MU,  # float (cap,)
    RHO,  # float (cap,)
    DIAGONAL,  # float (cap, 3, 3)
    LOCAL,  # float (cap, 15)
    COMPLIANCE,  # float (cap, 3): added to the diagonal of W
    REFERENCE,  # float (cap, 3): impulses at which the compliance is at rest
    SOFTNESS,  # float (cap, SOFTNESS_COLUMNS): see below
    P,  # float (cap, 3)
    BEFORE,  # float (cap, 3): velocities with which the step begins
    U,  # float (cap, 3): velocities at its end
    SLIP,  # float (cap,)
    SOLVING,  # float (6 n_b + 3 cap,): y and p, island by island
    LOW,  # float (2 n_b, 3): what rounding hides of y, island by island, see solvers.island_rounding
    SCRATCH,  # float ((window + 1) (6 n_b + 3 cap) + window 6 n_b,): states (y, p) of the sweeps, and changes of y
    EXCERPT,  # int (any,): numbers of the excerpt of an island that is solved by itself; the end of SCRATCH as integers
    SMALL,  # float (2, any, any)
    ROBUST,  # int (ISLAND_ROWS, 4): table of the robust solver, see signorini.solvers.island_table ...
    ROBUST_POOL,  # float (any,): ... and its memory
    # what the step says of itself
    CHECK,  # float (CHECK_COUNT,): see below
    BALANCE,  # float (BALANCE_COUNT,): see below
    # log, one row for each step
    LOG_Q,  # float (rows, n_b, 7)
    LOG_V,  # float (rows, n_b, 6)
    LOG_CHECK,  # float (rows, CHECK_COUNT)
    LOG_BALANCE,  # float (rows, BALANCE_COUNT)
    LOG_START,  # int (rows + 1,): first contact
    LOG_VALUE,  # float (any, any): contact, impulse, velocity, and couples where contacts may have some
    LOG_INDEX,  # int (any, LOG_INDEX_COLUMNS): see below
    JOINTS,  # int (any, 4): the table of joints, see engine/joints/arrays.py
    # cuts of large islands, see engine/cut.py
    CUT,  # int (any, CUT_COLUMNS): see below
    EXTENT,  # float (any, EXTENT_COLUMNS): see below
    # threads, see engine/threads.py; without rows where there is one
    TEAM,  # int (any, 4)
    JOB,  # int (any, 4)
    SUMS,  # float (any, any)
    SHARED,  # int (8,)
    LANES,  # int (any, 4)
    LANE_COUNTS,  # int (any, COUNT_COUNT)
    LANE_SMALL,  # float (any, any, any)
    DISPLACING,  # int (9, 4)
    # collisions by Poisson's law
    PHASE,  # int (ROW_COUNT, 4): table of the arrays of a phase; empty with Newton's law
    COMPRESSION,  # float (cap, 3): impulses of the first phase
    # couples and ellipsoids of friction; those R of the components (n, t, o, tau, rho_t, rho_o) that some pair of
    # bodies may have, see engine/couples.py
    COUPLE_AXES,  # int (R,): which of the six
    COUPLE_DATA,  # float (n_m, COUPLE_DATA_COLUMNS): by material: half axes of the last five, then see below
    COUPLE_GROUPS,  # int (2, 4): where groups of components begin: round friction, ellipsoidal friction
    COUPLE_KIND,  # int (cap,): which of them
    COUPLE_SCALE,  # float (cap, R): half axes s, 0 for components that a contact does not have
    COUPLE_UNIT,  # float (cap, R): units d in which diagonals are 1
    COUPLE_LIMIT,  # float (cap, 6): limits of the groups in these units, then without them
    COUPLE_GATHER,  # float (any, R, 3): as GATHER
    COUPLE_BLOCK,  # float (cap, R, R): diagonal blocks of W, compliance included
    COUPLE_LOAD,  # float (cap, R)
    COUPLE_P,  # float (cap, R)
    COUPLE_U,  # float (cap, R)
    COUPLE_OLD,  # float (cap, 3): couples in the order of features, as IMPULSE
    COUPLE_WORK,  # float (4, 6, R): work space
    ARRAY_COUNT,
) = _numbered(138)

# Kernels of the stages: rows of the table after those of the arrays, see ``stages.py``.
(
    POSE,
    SOLVE,
    VELOCITIES,
    LAW,
    HAND_OVER,
    MOVE,
    ACCOUNT,
    NOTE_REST,
    FREE_MOTION,
    FIND,
    SMALLEST_GAP,
    WRITE_LOG,
    RUN,
    POSE_JOINED,
    JOIN,
    ANSWER_JOINTS,
    PRESS_JOINED,
    HAS_CAPACITY,
    SETTLE_JOINTS,
    FIND_SPARE,  # for rows of joints that may depend on each other, see engine/joints/spare.py
    RUN_AHEAD,  # for theta < 1, instead of RUN ...
    DRIFT_JOINTS,  # ... and with joints, before bodies drift ...
    AIM_JOINTS,  # ... and where they have drifted to
    COLLIDE,  # for Poisson's law, instead of SOLVE ...
    CHECK_COLLISION,  # ... and of LAW
    POSE_COUPLES,  # for couples and ellipsoids, instead of POSE, SOLVE, VELOCITIES, LAW and HAND_OVER ...
    SOLVE_COUPLES,
    COUPLE_VELOCITIES,
    CHECK_COUPLES,
    HAND_OVER_COUPLES,
    TURN_JOINED,  # ... with joints too ...
    ORDINARY_POSE,  # ... which call these two
    ORDINARY_HAND_OVER,
    CUT_ISLANDS,  # for scenes of many bodies
    TAKE_EXCERPT,
    SWEEP,  # over an island or an excerpt of one
    MEET,  # for pairs whose gaps may mislead, see engine/meet.py; put in when it is first needed ...
    CHECK_WAYS,  # ... and so is this one
    LOOK,  # at bodies that have moved, see engine/mend.py; put in when it is first needed ...
    MEND,  # ... and so is this one, for bodies that end too close to others
    TEMPER,  # for the passive law of restitution, see engine/rebounds.py
    RESCUE,  # for islands that resist, see engine/rescue.py; put in when it is first needed
    RESCUE_COUPLES,  # the same, with couples
    AWAIT,  # instead of SOLVE where the user named a solver, see engine/await_solver.py
    BY_FUNCTIONS,  # rows of joints that users' functions say, see engine/joints/functions.py: a function of Python
    SHARE_ISLAND,
    POSE_TOGETHER,
    POSE_PIECE,
    SHARE_DISPLACING,
    DISPLACE_TOGETHER,
    DISPLACE_GROUP,
    SOLVE_ALONE,
    SOLVE_LANE,
    ROW_COUNT,
) = ARRAY_COUNT + _numbered(54)

# PLACE
(
    PARENT,  # in the forest of islands
    Y_ROW,  # of y within its island, -1 outside of all
    OWN_ISLAND,
    AWAKE,
    PRESSED,  # whether a body feels a contact or a limit, when the step is solved
    SLAB,  # of its island, where that is cut
    PLACE_COLUMNS,
) = _numbered(7)

# VALUE, SEEN_VALUE, MET_VALUE, PAIR_VALUE: two points and the normal have three columns each
POINT_A, POINT_B, NORMAL = 3 * _numbered(3)
DISTANCE, VALUE_COLUMNS = 9 + _numbered(2)

# INDEX, SEEN_INDEX, MET_INDEX, PAIR_INDEX, LOG_INDEX: the log has the mode where others have the material
A_BODY, B_BODY, FEATURE, MATERIAL, INDEX_COLUMNS = _numbered(5)
LOG_MODE, LOG_INDEX_COLUMNS = 3 + _numbered(2)

# REST: for how many steps a body has been still, then its load
STILL, STILL_LOAD = _numbered(2)
REST_COLUMNS: Any = np.int64(7)

# CUT: the island, its number n of slabs, and where the 2 n groups of its contacts begin
CUT_OF, SLABS, GROUP_START = _numbered(3)

# EXTENT: corners of an island, three columns each, the sum of the sizes of its bodies, the widest axis, bodies by bins
LOWER, UPPER, BODY_SIZES = 3 * _numbered(3)
AXIS, FIRST_BIN = 7 + _numbered(2)

# COUPLE_DATA, after the half axes: limits of the last two groups, and whether friction is ellipsoidal
LIMIT_FIRST, LIMIT_SECOND, IS_ELLIPSOID, COUPLE_DATA_COLUMNS = 5 + _numbered(4)

# COUPLE_LIMIT: three limits in the units of a contact, and the three without them
UNIT_LIMIT, OWN_LIMIT = 3 * _numbered(2)

# ISLAND
(
    N_CONTACTS,
    N_BODIES,
    FIRST_CONTACT,
    FIRST_BODY,
    HAS_JOINTS,
    CUT_ROW,  # 1 + its row in CUT, 0 if it is not cut
    MET,  # whether the tolerance was met; -1 if the island was left to others
    RESTS,  # whether it rests, nearly so
    CLEARED,  # whether LOW holds what rounding hides
    IS_COLD,  # whether nothing is known of its impulses
    IS_SLOW,  # whether all of its contacts nearly rest
    IS_CHEAP,  # whether the robust solver may be asked for it as often as it needs, ...
    IS_LIGHT,  # ... as long as it is compliant
    IS_LARGE,  # whether it may become compliant before that
    IS_DIVIDED,  # whether excerpts of it are solved
    IS_WHOLE,  # whether the robust solver is asked for all of it
    STAYS,  # whether its guess holds, and had the least impulses already
    IS_SOFT,  # whether it is compliant, ...
    ENTERS,  # ... for the first time since it was rigid
    STIFFER,  # how often it was made stiffer because it gave way too far
    IN_SWEEPS,  # sweeps over it in the step
    ISLAND_COLUMNS,
) = _numbered(22)

# TRIAL
(
    REACHED,  # residual
    WANTED,  # ... that sweeps are to reach
    REACHED_BEFORE,  # ... before its last excerpt was taken
    FINE_TOLERANCE,  # to which it is solved where it is slow
    MEAN_SPEED,  # at which its contacts moved before the step, of what their load gives
    SWEPT,  # sweeps over it since it was posed
    TRIAL_COLUMNS,
) = _numbered(7)

# SOFTNESS, OLD_SOFTNESS, MEMORY: what is remembered with contacts, see engine/solve.py
(
    ALPHA,  # compliance
    WAIT,  # steps until the island is tried as rigid again
    BACK,  # the next such wait
    ENTRY_ALPHA,  # at which compliance begins
    CHANGE,  # of the impulse in the last step
    CHANGE_T,
    CHANGE_O,
    HABIT,  # the part of it that is expected again
    DEBT,  # operations of the robust solver that were spent and not earned yet, for each contact
    PACE,  # at which it was last tried as a whole in vain
    FILL,  # operations of a factorisation for each contact, when the island was last tried as a whole
    KEEP_WAIT,  # steps until its contacts are tried to go on as before
    KEEP_BACK,
    BEYOND,  # what island_forces remembers
    BEYOND_T,
    BEYOND_O,
    SOFTNESS_COLUMNS,
) = _numbered(17)

# MEETS
(
    FIRST_MEETING,  # [s] of the swift meetings of a body on the free way
    MEETINGS,  # how many these are
    NO_REBOUND,  # 1.0 for bodies that went through others too often in the step to rebound
    MEETS_COLUMNS,
) = _numbered(4)

# NUMBERS
(
    TIME,  # at the start of the step
    H,
    TOLERANCE,
    GRAVITY,
    GRAVITY_X,
    GRAVITY_Y,
    GRAVITY_Z,
    STORED,  # [J] in compliances or springs
    ENERGY_CHANGE,
    ENERGY_SCALE,
    GAIN_SCALE,  # [J] of the motion, beside which gains count; inf while a compliance gives back
    DRIFT,  # theta h, for which bodies move at their new velocities
    PULL,  # gravity as the gap law takes it
    LIFT,  # largest speed at which overlaps recede, 0 if they are taken back by displacements
    SPRING,  # normal compliance of contacts with a stiffness, else 0
    SLID,  # [J] dissipated by sliding in a collision of two phases
    TURNED,  # [J] dissipated by couples
    SPUN_UP,  # [J] given by couples to bodies that had felt all loads
    DRIVEN,  # [J] work of prescribed motions by couples
    GOAL,  # tolerance of the excerpt of an island
    SPENT,  # operations of the last rescue, for each contact
    OPEN_SCALE,  # of velocities in the robust solver
    THINNEST,  # least width in the scene
    DEEPEST,  # [m] overlap ahead, where it is largest beside ...
    DEEPEST_EXTENT,  # [m] ... the least width of the two bodies, ...
    DEEPEST_A,  # ... which are these
    DEEPEST_B,
    NUMBER_COUNT,
) = _numbered(28)

# COUNTS, LANE_COUNTS
(
    STAGE,
    FIXED,
    DIM,
    GYROSCOPIC,  # the way that is asked for
    PAUSE,  # loads or drives are functions: return to Python before each look ahead
    CONTACTS,
    SEEN,  # contacts of the step
    ACTIVE,  # those of islands that are awake: the first ones in the order of islands
    OLD,  # contacts remembered
    ISLANDS,  # awake
    SLEEPS,  # whether islands may sleep
    SWEEPS,
    LOGGED,  # rows in use
    KEEP,  # contacts are logged
    NEEDED,  # number of contacts for which there is no room; negative: of pairs or contacts in detection; 0: in the log
    LIMIT,  # sweeps
    SOFT,  # whether islands that resist may be made compliant
    DONE,  # steps of the present run
    RESCUED,  # the robust methods were asked
    SOFTEN,  # the robust methods of Python failed too: what resists is made compliant
    ROWS,  # of the step: contacts, then laws of joints
    JOINED,  # whether there are joints
    LAW_CAPACITY,  # rows to keep for their laws
    VEERS,  # whether the law knows how flights veer
    COLLIDES,  # the step is a collision of two phases
    BEGIN_ISLAND,  # the first one to be solved
    MADE,  # sweeps of the last call
    HAS_ROBUST,  # whether what resists goes to the robust solver, see below
    IN_LANE,  # others solve what resists
    SHORT,  # the robust solver needs more memory
    OPEN_ISLAND,  # 1 + the island that the robust solver knows, 0 if none ...
    OPEN_WORK,  # ... and the operations of its factorisations
    DOUBTS,  # contacts whose gaps may mislead
    FOLLOWS,  # whether ways are followed
    FAR,  # a body that felt an impulse moved far
    ROUNDS,  # how often the step was posed again because bodies went through others
    STIRRED,  # 1: bodies moved so far that gaps may not end as they were posed; CLOSE: some ended too close to others
    MENDED,  # how often the step was posed again because bodies ended too close to others
    GUESSES,  # contacts in GUESS, 0 if there is no guess but the last step
    LATER,  # pairs that meet on the free way after one of their bodies met another
    HITS,  # that the last step left unfinished; negative once they are among the contacts of the next
    PASSIVE,  # whether rebounds are made smaller where they would gain energy or go through others
    REBOUNDS,  # whether some contact rebounds
    TEMPERED,  # whether the step was posed again for that
    COUNT_COUNT,
) = _numbered(45)

# HAS_ROBUST: the robust solver is asked where sweeps do not promise to be enough, or only where they have failed.
AT_ONCE, AT_LAST = 1 + _numbered(2)
CLOSE = 2

# Stages between which the step may return to Python.
(
    READY,
    UNSOLVED,
    SOLVED,
    MOVED,
    LOADED,
    BEGIN,
    BEGIN_AGAIN,  # for want of room
    DRIFTED,  # for theta < 1: bodies are where the step acts, ...
    AIMED,  # ... loads too, ...
    ACTING,  # ... and contacts are known
    AWAY,  # bodies have moved so far that their ways are to be followed
    GONE,  # bodies have moved
) = _numbered(12)

# CHECK, LOG_CHECK
(
    RESIDUAL,
    MIN_GAP,
    CONE_VIOLATION,
    DISSIPATION_ANGLE,
    ENERGY_ERROR,
    CORRECTION,
    COMPLIANT,
    SUCCESS,
    EFFORT,
    DEFLECTION,  # [m] by which the compliance gave way, where it did so most of all beside ...
    BESIDE,  # [m] ... the least width of the two bodies
    YIELDED,  # whether that is more than a compliance may
    SPARE_ROWS,  # components of impulses that the motion does not determine, at least
    ASLEEP,  # number of bodies
    JOINT_DRIFT,
    JOINT_CONFLICT,
    REDUNDANT_ROWS,
    OVERLAP,  # [m] at the start or the end of the step, where it is largest beside ...
    OVERLAP_EXTENT,  # [m] ... the least width of the two bodies
    OVERLAP_A,  # these bodies, -1 if none overlap
    OVERLAP_B,
    ENERGY_AT_PLAY,  # [J] by which errors of the balance are measured
    ENERGY_MOVING,  # [J] of the motion alone
    GAINED,  # given to the bodies by contacts that should only take, of the energy of motion
    UNFOLLOWED,  # pairs that go through each other on the ways of the step, when it was given up to pose it again
    POSED_AGAIN,  # how often the step was posed again: its contacts are not those of its start then
    LOST_MOMENTUM,  # angular momentum that two moving bodies lose by their contacts, of what is at play
    TURNED_ENERGY,  # that bodies gained or lost since they turned evenly, of that of the motion
    UNSURE,  # velocity that errors of contacts leave open to a body that nothing holds, of its own ...
    UNSURE_BODY,  # ... and this body, -1 for none
    HIT_TURN,  # largest turn of a body that goes into closing contacts [rad] ...
    HIT_BODY,  # ... and this body, -1 for none
    JOINT_APART,  # the largest drift beside the size of its joint
    JOINT_PULL,  # [J] given by joints and scheme, velocities taken in the middle of the step
    DRIFT_JOINT,  # the joint that is farthest apart beside its bodies, -1 for none ...
    DRIFT_ROW,  # ... and its row, see signorini.dynamics.joint_faults
    CONFLICT_JOINT,  # that contradicts others the most
    CONFLICT_ROW,
    JOINT_FAULT,  # whether joints hold
    MOVED_ONTO,  # whether bodies were moved onto their joints
    ENDED,  # how a solver that the user named says that it ended, a Status
    CHECK_COUNT,
) = _numbered(42)

# BALANCE, LOG_BALANCE: as in Balance [J]: what comes in, and from FRICTION_LOSS on where it goes
(
    LOAD_WORK,
    DRIVE_WORK,
    CORRECTION_WORK,
    JOINT_WORK,
    FRICTION_LOSS,
    IMPACT_LOSS,
    DAMPING_LOSS,
    INTEGRATION_LOSS,
    ELASTIC_GAIN,
    BALANCE_COUNT,
) = _numbered(10)
