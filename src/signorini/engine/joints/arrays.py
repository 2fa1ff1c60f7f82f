"""The arrays of joints in the compiled step by number, in a table of their own.

:class:`.tables.JointTables` makes them; kernels find the table in row ``JOINTS`` of that
of the step. Rows are those of :class:`~signorini.model.RowKind`, trees those of :class:`~signorini.model.Tree`.

They are declared as in :mod:`signorini.engine.arrays`: ``n_j`` counts joints, ``n_r`` rows, ``n_g`` rows that measure,
``n_t`` bodies in trees, ``n_k`` mechanisms, ``n_l`` rows that close loops, ``terms`` bodies in rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _numbered(count: int) -> Any:
    return np.arange(count, dtype=np.int64)


(
    SUMS,  # float (SUM_COUNT,): see below
    TALLY,  # int (TALLY_COUNT,): see below
    # constant: joints, as in JointArrays
    BODY_A,  # int (n_j,)
    BODY_B,  # int (n_j,)
    ANCHOR_A,  # float (n_j, 3)
    ANCHOR_B,  # float (n_j, 3)
    FRAME_A,  # float (n_j, 4)
    FRAME_B,  # float (n_j, 4)
    PARAMETER,  # float (n_j,)
    PLANAR,  # int (n_j,)
    SETTING,  # float (n_j, SETTING_COLUMNS): see below
    # constant: bilateral rows, and those that measure coordinates; four columns of each as in RowTable
    ROW_JOINT,  # int (n_r,)
    ROW_KIND,  # int (n_r,)
    ROW_I,  # int (n_r,)
    ROW_J,  # int (n_r,)
    ROLE,  # int (n_r,): see below
    GAUGE_JOINT,  # int (n_g,)
    GAUGE_KIND,  # int (n_g,)
    GAUGE_I,  # int (n_g,)
    GAUGE_J,  # int (n_g,)
    # constant: trees, those of a mechanism that loops hold together one after another
    TREE_BODY,  # int (n_t,): leaves first
    TREE_PARENT,  # int (n_t,)
    TREE_FIRST,  # int (n_t,): first row of the joint towards the root
    TREE_STOP,  # int (n_t,): after its last row
    MECHANISM_START,  # int (any,): first body of each mechanism
    TREE_START,  # int (any,): first body of each tree
    ABOVE,  # int (n_t,): place of the parent in these arrays, -1 at the root
    FREEDOM,  # int (n_t, FREEDOM_COLUMNS): see below
    TREE_OF,  # int (n_b, TREE_OF_COLUMNS): see below
    TREE,  # int (n_k, TREE_COLUMNS): see below
    LOOPS,  # int (n_k, LOOP_COLUMNS): see below
    LOOP_ROW,  # int (n_l,): rows outside the trees
    # constant: rows by users' functions follow those of joints, inequalities follow coordinates
    ROW_TERMS,  # int (any,): where the terms of a row begin in ROW_BODY and JACOBIAN: two for a joint
    GAUGE_TERMS,  # int (any,)
    OWNER,  # int (any,): joint of each row, of both limits of each coordinate, and of each inequality
    # constant: beside what residuals count, see signorini.dynamics.joint_faults
    ROW_SIZE,  # float (n_r,): ; of functions the extent of the scene, which their steepness multiplies
    LEVER,  # int (n_r,): 1 where the distance between the anchors counts as well
    GAUGE_SIZE,  # float (n_g,)
    # of a step
    MOTION,  # float (n_j, MOTION_COLUMNS): see below
    ROW_BODY,  # int (terms,)
    JACOBIAN,  # float (terms, 6)
    PSI,  # float (n_r,)
    RATE,  # float (n_r,)
    X_2,  # float (n_r,)
    SOFT_ROW,  # float (n_r,): compliance, 0 for rigid rows
    SHARE,  # float (n_r,): of the midpoint rule in springs
    CLOSED,  # float (n_r,): what rows ask besides, so that joints close where the step ends
    APART,  # float (n_k,): how far joints are from that
    REACTION_FREE,  # float (n_r,): impulses without contacts and laws
    REACTION,  # float (n_r,)
    GAUGE_BODY,  # int (terms,)
    GAUGE_JACOBIAN,  # float (terms, 6)
    GAUGE,  # float (n_g,): coordinates, and what is to stay positive
    GAUGE_RATE,  # float (n_g,): that prescribed bodies give them, and time
    COORDINATE,  # float (n_j,)
    COORDINATE_0,  # float (n_j,): at the start of the step
    START_SPEED,  # float (n_j,): of these there, for theta < 1
    REPORT,  # float (n_j, REPORT_COLUMNS): see below
    LOG,  # float (rows, n_j, REPORT_COLUMNS)
    INERTIAS,  # float (n_b, 6, 6)
    CHOLESKY,  # float (n_b, 6, 6): this and the next three as in dynamics.joint_tree
    JOINT_ROWS,  # float (n_t, 8, 6)
    SCHUR,  # float (n_t, 8, 8)
    PASSED,  # float (n_t, 8, 6)
    READY,  # int (n_t,): whether the two that follow are made
    ROOTS,  # float (n_t, 6, 6): R^T L, see engine/joints/rows.py
    SCALED,  # float (n_t, 8, 6): L_S^-1 C
    PUSH,  # float (n_b, 6)
    LOOP_SPREAD,  # float (n_l, any): this and the next eight see engine/joints/loops.py
    LOOP_SCALE,  # float (n_l,)
    LOOP_INVERSE,  # float (n_l, any)
    LOOP_EXCESS,  # float (n_l,)
    LOOP_PUSH,  # float (n_b, 6)
    LOOP_REACTION,  # float (n_r,)
    EIGEN,  # float (2, any, any)
    TAKEN,  # float (n_l, any)
    TAKEN_SHARE,  # float (n_l,)
    SPARE,  # float (n_l, n_r): this and the next three see engine/joints/spare.py
    SPARE_FORCE,  # float (any, any)
    SPARE_GRAM,  # float (2, any, any)
    SPARE_MIXED,  # float (any, n_r)
    # of one row
    FORCE,  # float (3, 6)
    SPREAD,  # float (3, any)
    MOBILITY,  # float (3,)
    SMALL,  # float (8, 6)
    # laws
    LAW,  # int (any, LAW_COLUMNS): see below
    LAW_VALUE,  # float (any, LAW_VALUE_COLUMNS): see below
    GROUP,  # int (cap, 2): bodies of contacts and laws, each tree by one of its bodies
    # the end of a step, see engine/joints/settle.py
    END_BODY,  # int (terms,)
    END_JACOBIAN,  # float (terms, 6)
    END_PSI,  # float (n_r,)
    END_IMPULSE,  # float (n_r,)
    END_SUM,  # float (n_r,)
    END_Q,  # float (n_b, 7): before bodies are moved onto their joints
    END_V,  # float (n_b, 6)
    ARRAY_COUNT,
) = _numbered(96)

# SUMS: energies of the step [J], the largest speed at which overlaps recede [m/s], and a length
(
    DRIVEN_WORK,
    CORRECTED_WORK,
    RIGID_WORK,
    SLID_WORK,
    STOPPED_WORK,
    DAMPED_WORK,
    SPRING_WORK,
    TURNED_WORK,  # of rigid rows, over the part of the way that bodies go at their old velocities
    SWING,  # impulses of loads, dampers, drives, motors and all friction times the changes of their speeds,
    # and what springs have come to store more before steps end, see dynamics.joint_springs, over theta - 1/2
    LIFT,
    EXTENT,  # of the scene [m]
    SUM_COUNT,
) = _numbered(12)

# TALLY
LAWS, PENDING, MOVES, LAW_BLOCKS, BLOCKS, FACTORED, PROJECTS, REDUNDANT, TALLY_COUNT = _numbered(9)
# Laws of the step; a step is not accounted for; joints are driven; blocks of all laws; blocks that a step needs;
# trees and loops are factored where bodies are; Python moves bodies onto their joints where steps end; rows that
# depend on others, as factored last.

# SETTING
REST, STIFFNESS, DAMPING, LOW, HIGH, FRICTION, EFFORT, SETTING_COLUMNS = _numbered(8)

# ROLE
RIGID, DRIVEN, SPRING, BY_FUNCTION = _numbered(4)

# What BY_FUNCTIONS is asked for: rows as the step has them, those of its end where bodies are and where they are going,
# and inequalities.
ROWS_HERE, ROWS_ENDING, ROWS_AHEAD, INEQUALITIES = _numbered(4)

# FREEDOM: first degree of freedom of a body within its mechanism, and their number
FIRST_FREEDOM, FREEDOMS, FREEDOM_COLUMNS = _numbered(3)

# TREE_OF: mechanism of a body and its place in the arrays of trees, or -1, and blocks that a force on it needs
MECHANISM, TREE_PLACE, TREE_BLOCKS, TREE_OF_COLUMNS = _numbered(4)

# TREE: smallest body, degrees of freedom, where the rows of y beyond the first begin, whether anything acts
LEAST_BODY, ALL_FREEDOMS, MORE_ROWS, ACTS, TREE_COLUMNS = _numbered(5)

# ACTS where nothing does: whether joints close where the step ends, are left to the next one, or do not close
IS_CLOSED, IS_LEFT, IS_OPEN = _numbered(5)[2:]

# LOOPS: first and after last row in LOOP_ROW, numbers of directions that they take out, and of spare impulses
LOOP_FIRST, LOOP_STOP, LOOP_TAKEN, LOOP_SPARE, LOOP_COLUMNS = _numbered(5)

# MOTION: prescribed coordinate and its mean rate over the step
AIM, AIM_RATE, MOTION_COLUMNS = _numbered(3)

# LAW: kind, row of its coordinate, row of y
LAW_KIND, LAW_GAUGE, LAW_ROW, LAW_COLUMNS = _numbered(4)

# Kinds of laws, also the last digit of a law's name
LOW_LIMIT, HIGH_LIMIT, DRY_FRICTION, MOTOR = _numbered(4)

# LAW_VALUE
SIDE, LAW_PSI, LAW_RATE, LAW_BOUND, LAW_IMPULSE, LAW_VALUE_COLUMNS = _numbered(6)

EVERY_BODY: Any = np.int64(0)  # the least number of a body

# REPORT: coordinate, speed, effort, reaction in six columns, and of that what acts where the step ends, in six
COORDINATE_OF, SPEED, EFFORT_OF, REACTION_OF = _numbered(4)
ENDING_OF = REACTION_OF + 6
REPORT_COLUMNS = ENDING_OF + 6
