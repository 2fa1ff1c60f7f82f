"""The arrays of joints in the compiled step by number, in a table of their own.

:class:`.tables.JointTables` makes them; kernels find the table in row ``JOINTS`` of that
of the step. Rows are those of :class:`~signorini.model.RowKind`, trees those of :class:`~signorini.model.Tree`.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _numbered(count: int) -> Any:
    return np.arange(count, dtype=np.int64)


(
    SUMS,  # (11,): see below
    TALLY,  # (8,): see below
    # constant: joints, as in JointArrays
    BODY_A,
    BODY_B,
    ANCHOR_A,
    ANCHOR_B,
    FRAME_A,
    FRAME_B,
    PARAMETER,
    PLANAR,
    SETTING,  # (n_j, 7): see below
    # constant: bilateral rows, and those that measure coordinates; four columns of each as in RowTable
    ROW_JOINT,
    ROW_KIND,
    ROW_I,
    ROW_J,
    ROLE,  # (n_r,): see below
    GAUGE_JOINT,
    GAUGE_KIND,
    GAUGE_I,
    GAUGE_J,
    # constant: trees, those of a mechanism that loops hold together one after another
    TREE_BODY,  # (n_t,) leaves first
    TREE_PARENT,  # (n_t,)
    TREE_FIRST,  # (n_t,) first row of the joint towards the root
    TREE_STOP,  # (n_t,) after its last row
    TREE_START,  # (n_mechanisms + 1,) first body of each mechanism
    TREE_PARTS,  # (n_trees + 1,) first body of each tree
    ABOVE,  # (n_t,) place of the parent in these arrays, -1 at the root
    FREEDOM,  # (n_t, 2): see below
    TREE_OF,  # (n_b, 3): see below
    TREE,  # (n_mechanisms, 4): see below
    LOOPS,  # (n_mechanisms, 4): see below
    LOOP_ROW,  # (n_l,) rows outside the trees
    # constant: rows by users' functions follow those of joints, inequalities follow coordinates
    ROW_TERMS,  # (n_r + 1,) where the terms of a row begin in ROW_BODY and JACOBIAN: two for a joint
    GAUGE_TERMS,  # (n_g + 1,)
    OWNER,  # (n_r + 2 n_c + n_i,) joint of each row, of both limits of each coordinate, and of each inequality
    # constant: beside what residuals count, see signorini.dynamics.joint_faults
    ROW_SIZE,  # (n_r,); of functions the extent of the scene, which their steepness multiplies
    LEVER,  # (n_r,) 1 where the distance between the anchors counts as well
    GAUGE_SIZE,  # (n_g,)
    # of a step
    MOTION,  # (n_j, 2): see below
    ROW_BODY,  # (terms,)
    JACOBIAN,  # (terms, 6)
    PSI,  # (n_r,)
    RATE,  # (n_r,)
    X_2,  # (n_r,)
    SOFT_ROW,  # (n_r,) compliance, 0 for rigid rows
    SHARE,  # (n_r,) of the midpoint rule in springs
    CLOSED,  # (n_r,) what rows ask besides, so that joints close where the step ends
    APART,  # (n_mechanisms,) how far joints are from that
    REACTION_FREE,  # (n_r,) impulses without contacts and laws
    REACTION,  # (n_r,)
    GAUGE_BODY,  # (terms,)
    GAUGE_JACOBIAN,  # (terms, 6)
    GAUGE,  # (n_g,) coordinates, and what is to stay positive
    GAUGE_RATE,  # (n_g,) that prescribed bodies give them, and time
    COORDINATE,  # (n_j,)
    COORDINATE_0,  # (n_j,) at the start of the step
    START_SPEED,  # (n_j,) of these there, for theta < 1
    REPORT,  # (n_j, REPORT_COLUMNS): see below
    LOG,  # (rows, n_j, REPORT_COLUMNS)
    INERTIAS,  # (n_b, 6, 6)
    CHOLESKY,  # (n_b, 6, 6): this and the next three as in dynamics.joint_tree
    JOINT_ROWS,  # (n_t, 8, 6)
    SCHUR,  # (n_t, 8, 8)
    PASSED,  # (n_t, 8, 6)
    READY,  # (n_t,) whether the two that follow are made
    ROOTS,  # (n_t, 6, 6): R^T L, see engine/joints/rows.py
    SCALED,  # (n_t, 8, 6): L_S^-1 C
    PUSH,  # (n_b, 6)
    LOOP_SPREAD,  # (n_l, any): this and the next eight see engine/joints/loops.py
    LOOP_SCALE,  # (n_l,)
    LOOP_INVERSE,  # (n_l, any)
    LOOP_EXCESS,  # (n_l,)
    LOOP_PUSH,  # (n_b, 6)
    LOOP_REACTION,  # (n_r,)
    EIGEN,  # (2, any, any)
    TAKEN,  # (n_l, any)
    TAKEN_SHARE,  # (n_l,)
    SPARE,  # (n_l, n_r): this and the next three see engine/joints/spare.py
    SPARE_FORCE,  # (any, 6 n_t)
    SPARE_GRAM,  # (2, any, any)
    SPARE_MIXED,  # (any, n_r)
    # of one row
    FORCE,  # (3, 6)
    SPREAD,  # (3, any)
    MOBILITY,  # (3,)
    SMALL,  # (8, 6)
    # laws
    LAW,  # (any, 3): see below
    LAW_VALUE,  # (any, 5): see below
    GROUP,  # (cap, 2): bodies of contacts and laws, each tree by one of its bodies
    # the end of a step, see engine/joints/settle.py
    END_BODY,  # (terms,)
    END_JACOBIAN,  # (terms, 6)
    END_PSI,  # (n_r,)
    END_IMPULSE,  # (n_r,)
    END_SUM,  # (n_r,)
    END_Q,  # (n_b, 7) before bodies are moved onto their joints
    END_V,  # (n_b, 6)
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
) = _numbered(11)

# TALLY
LAWS, PENDING, MOVES, LAW_BLOCKS, BLOCKS, FACTORED, PROJECTS, REDUNDANT = _numbered(8)
# Laws of the step; a step is not accounted for; joints are driven; blocks of all laws; blocks that a step needs;
# trees and loops are factored where bodies are; Python moves bodies onto their joints where steps end; rows that
# depend on others, as factored last.

# SETTING
REST, STIFFNESS, DAMPING, LOW, HIGH, FRICTION, EFFORT = _numbered(7)

# ROLE
RIGID, DRIVEN, SPRING, BY_FUNCTION = _numbered(4)

# What BY_FUNCTIONS is asked for: rows as the step has them, those of its end where bodies are and where they are going,
# and inequalities.
ROWS_HERE, ROWS_ENDING, ROWS_AHEAD, INEQUALITIES = _numbered(4)

# FREEDOM: first degree of freedom of a body within its mechanism, and their number
FIRST_FREEDOM, FREEDOMS = _numbered(2)

# TREE_OF: mechanism of a body and its place in the arrays of trees, or -1, and blocks that a force on it needs
MECHANISM, TREE_PLACE, TREE_BLOCKS = _numbered(3)

# TREE: smallest body, degrees of freedom, where the rows of y beyond the first begin, whether anything acts
LEAST_BODY, ALL_FREEDOMS, MORE_ROWS, ACTS = _numbered(4)
# ... and where nothing acts, whether joints close where the step ends, are left to the next one, or do not close
IS_CLOSED, IS_LEFT, IS_OPEN = _numbered(5)[2:]

# LOOPS: first and after last row in LOOP_ROW, numbers of directions that they take out, and of spare impulses
LOOP_FIRST, LOOP_STOP, LOOP_TAKEN, LOOP_SPARE = _numbered(4)

# MOTION: prescribed coordinate and its mean rate over the step
AIM, AIM_RATE = _numbered(2)

# LAW: kind, row of its coordinate, row of y
LAW_KIND, LAW_GAUGE, LAW_ROW = _numbered(3)

# Kinds of laws, also the last digit of a law's name
LOW_LIMIT, HIGH_LIMIT, DRY_FRICTION, MOTOR = _numbered(4)

# LAW_VALUE
SIDE, LAW_PSI, LAW_RATE, LAW_BOUND, LAW_IMPULSE = _numbered(5)

EVERY_BODY: Any = np.int64(0)  # the least number of a body

# REPORT: coordinate, speed, effort, reaction in six columns, and of that what acts where the step ends, in six
AT, SPEED, EFFORT_OF, REACTION_OF = _numbered(4)
ENDING_OF = REACTION_OF + 6
REPORT_COLUMNS = ENDING_OF + 6
