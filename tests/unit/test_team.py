"""Threads that share the work of a kernel: every task is done once, whoever does it; what fails is heard."""

from __future__ import annotations

import os
import threading
import time

import numpy as np
import pytest

from signorini._arena import Arena
from signorini._arrays import IntArray
from signorini._jit import address_of, inner_kernel, kernel, wholes
from signorini._team import MOST_SHARES, Team, share


@inner_kernel
def _count(t: IntArray, k: int) -> None:
    wholes(t, 0)[k] += k + 1


@inner_kernel
def _fail(t: IntArray, k: int) -> None:
    if k == 5:
        raise ArithmeticError("task five")
    wholes(t, 0)[k] += 1


@kernel
def _share(team: IntArray, task: int, t: IntArray, n: int, times: int) -> None:
    for _ in range(times):
        share(team, task, t, n)


def _desk() -> Arena:
    arena = Arena(1)
    arena.put(0, np.zeros(MOST_SHARES, dtype=np.int64))
    return arena


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 7, MOST_SHARES])
def test_every_task_is_done_once_in_each_job(threads: int, n: int) -> None:
    desk, team, times = _desk(), Team(threads), 50
    task = address_of(_count, desk.table, 1)
    with team:
        _share(team.table, task, desk.table, n, times)
        time.sleep(0.002)  # others have come by now
        _share(team.table, task, desk.table, n, times)
    expected = np.where(np.arange(MOST_SHARES) < n, 2 * times * np.arange(1, MOST_SHARES + 1), 0)
    np.testing.assert_array_equal(desk[0], expected)


def test_work_is_done_by_one_where_the_others_were_not_called() -> None:
    desk, team = _desk(), Team(3)
    _share(team.table, address_of(_count, desk.table, 1), desk.table, 4, 1)
    assert desk[0][:5].tolist() == [1, 2, 3, 4, 0]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_task_that_fails_is_heard_of(threads: int) -> None:
    """And the team is as good as before."""
    desk, team = _desk(), Team(threads)
    with team:
        with pytest.raises(ArithmeticError, match="task five"):
            _share(team.table, address_of(_fail, desk.table, 1), desk.table, 8, 1)
        assert desk[0][:8].tolist() == [1, 1, 1, 1, 1, 0, 1, 1]
        _share(team.table, address_of(_count, desk.table, 1), desk.table, 2, 1)
        assert desk[0][:3].tolist() == [2, 3, 1]


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="without compilation there is one thread")
def test_threads_end_with_their_team() -> None:
    before = set(threading.enumerate())
    team = Team(3)
    with team:
        pass
    hired = set(threading.enumerate()) - before
    assert len(hired) == 2
    del team
    for thread in hired:
        thread.join(timeout=5.0)
        assert not thread.is_alive()
