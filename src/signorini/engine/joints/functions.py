"""Constraints by users' functions in the compiled step: rows that kernels ask Python for.

Wherever kernels evaluate rows of joints, where a step acts, where it is going and where it has ended, they perform
:meth:`JointFunctions.fill` by its address for those that functions say. Everything else is as with other joints: an
equation closes a loop, an inequality is a limit.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from signorini._arena import Arena
from signorini._arrays import Array, IntArray
from signorini._jit import callback
from signorini.dynamics import Rows, constraint_rows, stacked
from signorini.engine import arrays as ea
from signorini.engine.joints import arrays as ja
from signorini.model import Constraint, Model


class JointFunctions:
    """The functions of a model, for the arrays of its step, `step`, and of its joints, `joints`."""

    def __init__(self, model: Model, step: Arena, joints: Arena) -> None:
        self._model, self._step, self._joints = model, step, joints
        self._last: dict[bool, tuple[bytes, float, Rows]] = {}  # by whether they are inequalities
        self._error: BaseException | None = None
        address, self._alive = callback(self._fill_quietly)
        step.connect(int(ea.BY_FUNCTIONS), address)

    def watched(self, run: Callable[[IntArray, int], int]) -> Callable[[IntArray, int], int]:
        """Return `run` such that it raises what a function has raised meanwhile, which kernels cannot."""

        def watched(table: IntArray, steps: int) -> int:
            done = run(table, steps)
            self.raise_error()
            return done

        return watched

    def raise_error(self) -> None:
        """Raise what a function has raised since this was asked last."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _fill_quietly(self, asked: int) -> None:
        """Write the rows that a kernel asks for, unless a function has failed: then leave them as they are."""
        if self._error is None:
            try:
                self._fill(asked)
            except BaseException as error:
                self._error = error

    def _fill(self, asked: int) -> None:
        """Write what a kernel asks for, one of the last four numbers of :mod:`.arrays`."""
        joints, numbers = self._model.joints, self._step[ea.NUMBERS]
        t = float(numbers[ea.TIME])
        if asked == ja.ROWS_AHEAD:
            t += float(numbers[ea.H])
        elif self._step[ea.COUNTS][ea.STAGE] == ea.AIMED:  # bodies have drifted
            t += float(numbers[ea.H] - numbers[ea.DRIFT])
        if asked == ja.INEQUALITIES:
            if joints.inequalities:
                found = self._found(joints.inequalities, t)
                self._write(found, ja.GAUGE_JACOBIAN, ja.GAUGE, ja.GAUGE_RATE)
        elif joints.equalities:
            found, here = self._found(joints.equalities, t), asked == ja.ROWS_HERE
            J, psi = (ja.JACOBIAN, ja.PSI) if here else (ja.END_JACOBIAN, ja.END_PSI)
            self._write(found, J, psi, ja.RATE if here else None)

    def _write(self, found: Rows, J: int, psi: int, rate: int | None) -> None:
        """Write rows at the end of arrays."""
        n = found.row_count
        self._joints[J][self._joints[J].shape[0] - found.body.size :] = found.J
        self._joints[psi][self._joints[psi].size - n :] = found.psi
        if rate is not None:
            self._joints[rate][self._joints[rate].size - n :] = found.rate

    def _found(self, some: tuple[Constraint, ...], t: float) -> Rows:
        """Return the rows of some constraints where bodies are, evaluated once as long as these stay there."""
        q: Array = self._step[ea.Q]
        sided, where = some is self._model.joints.inequalities, q.tobytes()
        last = self._last.get(sided)
        if last is not None and last[:2] == (where, t):
            return last[2]
        found = stacked([constraint_rows(self._model, one, q, t) for one in some])
        self._last[sided] = where, t, found
        return found


def terms_of(joint_rows: int, some: tuple[Constraint, ...]) -> tuple[IntArray, IntArray]:
    """Return where terms of rows of joints, two each, and then of constraints begin, and the bodies of the latter."""
    counts = [2] * joint_rows + [len(one.bodies) for one in some for _ in range(one.size)]
    body = [b for one in some for _ in range(one.size) for b in one.bodies]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.array(body, dtype=np.int64)
