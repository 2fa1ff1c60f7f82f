"""The robust solver of one island: its kernels by the rows of the table where others find their addresses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from signorini._arrays import IntArray
from signorini._jit import address_of
from signorini.solvers import island_table
from signorini.solvers.island_couple_interior import follow_couple_path
from signorini.solvers.island_couples import (
    find_couple_residual,
    prepare_couples,
    set_couple_blocks,
    set_couple_function,
    set_couple_velocity,
    set_couples_inside,
    take_couple_step,
)
from signorini.solvers.island_forces import find_least_norm, keep_modes, share_forces, steady_forces
from signorini.solvers.island_interior import follow_path
from signorini.solvers.island_lu import factor_matrix, factor_rows, substitute_factors
from signorini.solvers.island_newton import run_newton, set_blocks, set_function, take_step
from signorini.solvers.island_robust import newton_nearby, prepare, set_inside, solve_robustly
from signorini.solvers.island_rounding import clear_rounding

_TABLE, _ROWS, _BLOCKS = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1)), np.zeros((1, 1, 1))
_NUMBERS, _REALS = np.zeros(1, dtype=np.int64), np.zeros(1)
_THREE, _COUPLES = (_ROWS, _ROWS, _ROWS), (_ROWS, _ROWS, _ROWS, _NUMBERS, _TABLE, _REALS, 1.0, 1, 1, _REALS)
KERNELS: dict[int, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    island_table.OPEN: (prepare, (_NUMBERS, _NUMBERS, _BLOCKS, _ROWS, _REALS, _REALS, _ROWS, 1, 1, _REALS)),
    island_table.INTERIOR: (follow_path, (1.0, 1.0, 1.0, 1, 1.0)),
    island_table.CLEAR_ROUNDING: (clear_rounding, (_ROWS, _ROWS, 1.0)),
    island_table.KEEP_MODES: (keep_modes, (_ROWS, _ROWS, _ROWS, _ROWS, 1.0, 1.0)),
    island_table.LEAST_NORM: (find_least_norm, (_ROWS, _ROWS, _ROWS, True, 1.0, _ROWS)),
    island_table.NEWTON: (run_newton, (1.0, 1.0, 1, 1.0, True)),
    island_table.FUNCTION: (set_function, _THREE),
    island_table.BLOCKS: (set_blocks, (*_THREE, 1.0, _BLOCKS, _ROWS)),
    island_table.INSIDE: (set_inside, (_ROWS, _ROWS)),
    island_table.FACTOR: (factor_matrix, (_BLOCKS, 1.0)),
    island_table.SHARE_FORCES: (share_forces, (1.0, 1.0)),
    island_table.STEADY_FORCES: (steady_forces, (1.0,)),
    island_table.SOLVE_ROBUSTLY: (solve_robustly, (1.0, 1)),
    island_table.NEWTON_NEARBY: (newton_nearby, (1.0,)),
    island_table.STEP: (take_step, (_BLOCKS, _ROWS, _ROWS, _ROWS, _ROWS, _ROWS, 1)),
    island_table.VELOCITY: (island_table.set_velocity, _THREE),
    island_table.RESIDUAL: (island_table.find_residual, (_ROWS, _ROWS)),
    island_table.SUBSTITUTE: (substitute_factors, (_ROWS,)),
}
# What takes their place where contacts have couples.
_INSTEAD: dict[int, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    island_table.OPEN: (prepare_couples, (_NUMBERS, _NUMBERS, _BLOCKS, *_COUPLES)),
    island_table.INTERIOR: (follow_couple_path, KERNELS[island_table.INTERIOR][1]),
    island_table.FACTOR: (factor_rows, KERNELS[island_table.FACTOR][1]),
    island_table.FUNCTION: (set_couple_function, KERNELS[island_table.FUNCTION][1]),
    island_table.BLOCKS: (set_couple_blocks, KERNELS[island_table.BLOCKS][1]),
    island_table.INSIDE: (set_couples_inside, KERNELS[island_table.INSIDE][1]),
    island_table.STEP: (take_couple_step, KERNELS[island_table.STEP][1]),
    island_table.VELOCITY: (set_couple_velocity, _THREE),
    island_table.RESIDUAL: (find_couple_residual, KERNELS[island_table.RESIDUAL][1]),
}
_WITHOUT_COUPLES = (
    island_table.LEAST_NORM,
    island_table.STEADY_FORCES,
    island_table.CLEAR_ROUNDING,
    island_table.KEEP_MODES,
    island_table.SHARE_FORCES,
)


@cache
def island_address(row: int, *, couples: bool = False) -> int:
    """Return the address of the kernel that belongs to a row; compile it if need be."""
    function, arguments = _INSTEAD[row] if couples and row in _INSTEAD else KERNELS[row]
    return address_of(function, _TABLE, *arguments)


def connect_island(table: IntArray, *, resisting: bool) -> None:
    """Put the addresses of kernels into the table: those for islands that rest or move on, or all of them."""
    for row in KERNELS:
        if resisting or row <= island_table.KEEP_MODES:
            table[row, 0] = island_address(row)


def connect_couples(table: IntArray) -> None:
    """Put the addresses of the kernels for contacts with couples into the table."""
    for row in KERNELS:
        if row not in _WITHOUT_COUPLES:
            table[row, 0] = island_address(row, couples=True)
