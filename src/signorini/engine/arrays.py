"""The arrays of the compiled step by number; :class:`.engine.Engine` makes them.

Contacts are kept twice: in the order of their features, as detection gives them, and island by island, as the solver
takes them (``ORDER``, ``POSITION``). Impulses are in the contact frames (n, t, o); in a planar scene the last is zero.

Numbers of type int64: for a Python constant the compiler would make a version of every function that takes one.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _numbered(count: int) -> Any:
    return np.arange(count, dtype=np.int64)


(
    # scalars
    NUMBERS,  # (NUMBER_COUNT,): see below
    COUNTS,  # (COUNT_COUNT,): see below
    # bodies, constant
    MASS,  # (n_b,)
    INERTIA,  # (n_b, 3, 3) in body axes
    FREE,  # (n_b, 6)
    WAY,  # (n_b,) how the gyroscopic term is taken, see signorini.dynamics.bodies
    ROOT,  # (n_b, 3, 3): A with A A^T = I^-1 on the free directions, in body axes
    BOUND,  # (n_b,)
    THIN,  # (n_b,) least width, see signorini.model.thickness
    WEIGHT,  # (n_b, 6)
    FRICTION,  # (n_m,) by material
    RESTITUTION,  # (n_m,) by material
    # bodies
    Q,  # (n_b, 7)
    V,  # (n_b, 6); when bodies have moved, until the step is complete, those that the law knows
    Q_START,  # (n_b, 7) at the start of the step
    Q_0,  # (n_b, 7) after overlapping bodies were parted a little
    V_0,  # (n_b, 6) where the step acts, before it does
    V_START,  # (n_b, 6) at the start of the step, for theta < 1
    V_SPUN,  # (n_b, 6) after the gyroscopic term
    V_FREE,  # (n_b, 6) after all loads
    FLOWN,  # (n_b, 7) turns of bodies that fly, see signorini.dynamics.flight
    VEER,  # (n_b, 3) by how much their mean spins differ from those that they begin with, as the law knows
    P_EXT,  # (n_b, 6) impulse of all loads
    DRIVE,  # (n_fixed, 6) secant velocities of the fixed bodies
    FACTOR,  # (n_b, 12): L with L L^T = M^-1: 3 of the diagonal linear part, 9 of the angular part
    REACH,  # (n_b,)
    PLACE,  # (n_b, PLACE_COLUMNS): see below
    REST,  # (n_b, 7): steps for which a body has been still, and its load in the last of them
    # shapes and the memory of detection, see signorini.geometry.tables
    SHAPE,
    LABEL,
    SOLID,
    LINK,
    PAIR,
    WORLD,
    CELLS,
    WORK,
    MARK,
    # pairs that are followed along their ways, see engine/meet.py
    PATH,  # (n_b, 6) velocities of these ways
    AIM,  # (n_b, 6) velocities that the law knows on these ways; spins of bodies that fly are others
    MEETS,  # (n_b, MEETS_COLUMNS): see below
    PAIR_SHAPE,  # (2, 12), and so on: a scene of two shapes
    PAIR_LABEL,
    PAIR_Q,
    PAIR_REACH,
    PAIR_SPIN,
    PAIR_PARTS,
    PAIR_TURN,
    PAIR_VALUE,
    PAIR_INDEX,
    MET_VALUE,  # (any, 10) contacts of the step that is about to be posed
    MET_INDEX,  # (any, 4)
    GUESS,  # (cap, 3) impulses of a step that is posed again, in the order of features, see engine/mend.py
    GUESS_FEATURE,  # (cap,)
    # contacts in the order of features
    VALUE,  # (cap, 10): point on a, point on b, normal, gap
    INDEX,  # (cap, 4): body a, body b, feature, material
    POSITION,  # (cap,) row in the order of islands
    OLD_FEATURE,  # (cap,) of the last step, to which IMPULSE belongs until the next is solved
    OLD_SOFTNESS,  # (cap, SOFTNESS_COLUMNS): see below
    IMPULSE,  # (cap, 3) result of the step, with the contacts of SEEN
    MODE,  # (cap,) what contacts did, see contact_checks
    SEEN_VALUE,  # (cap, 10) contacts at the start of the step
    SEEN_INDEX,  # (cap, 4)
    # contacts in the order of islands
    ORDER,  # (cap,) row in the order of features
    ISLAND,  # (n_b, ISLAND_COLUMNS): see below
    ASKED,  # (n_b,) tolerance of each island, see engine/solve.py
    REBOUND_PARTS,  # (n_b, PART_COLUMNS) how much of its rebound each island has, see passive_law
    START,  # (cap + 1,) first block
    BLOCK,  # (4 cap,) row of y (3 each) within the island
    GATHER,  # (4 cap, 3, 3)
    B,  # (cap, 3) velocity without contact impulses
    LOAD,  # (cap, 3) b with what gap and compliance ask for
    GAP,  # (cap,)
    SIZE,  # (cap,) radius of the smaller moving body
    WIDTH,  # (cap,) least width of both bodies
    REBOUND,  # (cap,) coefficient of restitution
    VEERED,  # (cap,) normal velocity that flights add, in the mean of the step
    SHIFT,  # (cap,) what the gap asks of the normal velocity
    CORRECTED,  # (cap,) the part of it that lifts bodies out of overlaps
    SPACE,  # (cap,) speed at which the gap may close if it was opening faster, else inf
    MU,  # (cap,)
    RHO,  # (cap,)
    DIAGONAL,  # (cap, 3, 3)
    LOCAL,  # (cap, 15)
    COMPLIANCE,  # (cap, 3) added to the diagonal of W
    REFERENCE,  # (cap, 3) impulses at which the compliance is at rest
    SOFTNESS,  # (cap, SOFTNESS_COLUMNS): see below
    P,  # (cap, 3)
    U,  # (cap, 3)
    SLIP,  # (cap,)
    SOLVING,  # (6 n_b + 3 cap,): y and p, island by island
    LOW,  # (2 n_b, 3): what rounding hides of y, island by island, see solvers.island_rounding
    SCRATCH,  # ((window + 1) (6 n_b + 3 cap) + window 6 n_b,): states (y, p) of the sweeps, and changes of y
    PART,  # (any,): numbers of the part of an island that is solved by itself; the end of SCRATCH seen as integers
    SMALL,  # (2, window + 1, window + 1)
    ROBUST,  # (ISLAND_ROWS, 4): table of the robust solver, see signorini.solvers.island_table ...
    ROBUST_POOL,  # (any,): ... and its memory
    # what the step says of itself
    CHECK,  # (CHECK_COUNT,): see below
    BALANCE,  # (BALANCE_COUNT,): see below
    # log, one row for each step
    LOG_Q,  # (rows, n_b, 7)
    LOG_V,  # (rows, n_b, 6)
    LOG_CHECK,  # (rows, CHECK_COUNT)
    LOG_BALANCE,  # (rows, BALANCE_COUNT)
    LOG_START,  # (rows + 1,) first contact
    LOG_VALUE,  # (any, 16 or 19): contact, impulse, velocity, and couples where contacts may have some
    LOG_INDEX,  # (any, 4): body a, body b, feature, mode
    JOINTS,  # the table of joints, see engine/joints/arrays.py
    # cuts of large islands, see engine/cut.py
    CUT,  # (any, 34)
    EXTENT,  # (any, 264)
    # threads, see engine/threads.py; without rows where there is one
    TEAM,
    JOB,
    SUMS,
    SHARED,
    LANES,
    LANE_COUNTS,
    LANE_SMALL,
    PARTS,
    # collisions by Poisson's law
    PHASE,  # (ROW_COUNT, 4): table of the arrays of a phase; empty with Newton's law
    COMPRESSION,  # (cap, 3) impulses of the first phase
    # couples and ellipsoids of friction; those R of the components (n, t, o, tau, rho_t, rho_o) that some pair of
    # bodies may have, see engine/couples.py
    COUPLE_AXES,  # (R,) which of the six
    COUPLE_DATA,  # (n_m, 8) by material: half axes of the last five, limits of the last two groups, ellipsoid or not
    COUPLE_GROUPS,  # (2, 4) where groups of components begin: round friction, ellipsoidal friction
    COUPLE_KIND,  # (cap,) which of them
    COUPLE_SCALE,  # (cap, R) half axes s, 0 for components that a contact does not have
    COUPLE_UNIT,  # (cap, R) units d in which diagonals are 1
    COUPLE_LIMIT,  # (cap, 6): limits of the groups in these units, then without them
    COUPLE_GATHER,  # (as GATHER, R, 3)
    COUPLE_BLOCK,  # (cap, R, R) diagonal blocks of W, compliance included
    COUPLE_LOAD,  # (cap, R)
    COUPLE_P,  # (cap, R)
    COUPLE_U,  # (cap, R)
    COUPLE_OLD,  # (cap, 3) couples in the order of features, as IMPULSE
    COUPLE_WORK,  # (4, 6, R) work space
    ARRAY_COUNT,
) = _numbered(133)

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
    HAS_ROOM,
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
    TAKE_PART,
    SWEEP,  # over an island or a part of one
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
    SHARE_PARTS,
    PART_TOGETHER,
    PART_GROUP,
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
    PLACE_COLUMNS,
) = _numbered(5)
PRESSED = AWAKE  # the same column when the step is solved: whether a body feels a contact or a limit

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
    ISLAND_COLUMNS,
) = _numbered(10)

# SOFTNESS, what is remembered with contacts, see engine/solve.py
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
    DRIVEN,  # [J] work of prescribed motions by couples
    GOAL,  # tolerance of the part of an island
    SPENT,  # operations of the last rescue, for each contact
    OPEN_SCALE,  # of velocities in the robust solver
    THINNEST,  # least width in the scene
    DEEPEST,  # [m] overlap ahead, where it is largest beside ...
    DEEPEST_EXTENT,  # [m] ... the least width of the two bodies, ...
    DEEPEST_A,  # ... which are these
    DEEPEST_B,
    NUMBER_COUNT,
) = _numbered(27)

# COUNTS
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
    LAW_ROOM,  # rows to keep for their laws
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
    PASSIVE,  # whether rebounds are made smaller where they would gain energy or go through others
    REBOUNDS,  # whether some contact rebounds
    TEMPERED,  # whether the step was posed again for that
    COUNT_COUNT,
) = _numbered(44)

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
    DRIFTED,  # for theta < 1: bodies are where the step acts, ...
    AIMED,  # ... loads too, ...
    ACTING,  # ... and contacts are known
    AWAY,  # bodies have moved so far that their ways are to be followed
    GONE,  # bodies have moved
) = _numbered(11)

# CHECK
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

# BALANCE, as in Balance [J]: what comes in, and from FRICTION_LOSS on where it goes
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
