"""Threads that share the work of a kernel.

A kernel hands out a job, :func:`share`: a task, which is a kernel ``task(table, k)`` given by its address, to be done
for k = 0 ... n - 1 in any order. It takes part itself. Whoever comes by claims a k and does it; the job is over when
all are done. A thread that does not come, because the machine is busy, keeps nobody waiting, unless it was interrupted
amid a task. Each thread begins at a place of its own, so that from job to job the same thread finds the same data in
its cache.

Tasks of a job must write to places of their own. Then results do not depend on the threads.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from signorini._arrays import IntArray
from signorini._atomics import (
    ONE_THREAD,
    add_to_word,
    attempt,
    call_system,
    pause,
    read_word,
    swap_word,
    system_waits,
    write_word,
)
from signorini._jit import inner_kernel, kernel, perform, whole_rows

MOST_SHARES = 256
"""Largest n of a job."""

# Rows of the table of a team; words that are written often have a cache line of their own.
_JOB, _DONE, _OPEN, _FAILED = 0, 2, 4, 6  # number of the job and n, tasks done, whether work goes on, a failed k + 1
_TASK, _TABLE, _THREADS, _GIVE_WAY, _SLEEP = 8, 9, 10, 11, 12  # their number, and the rank of who hands out jobs
_CLAIM = 16  # row 2 k + this: the last job in which k was claimed
_ROWS = _CLAIM + 2 * MOST_SHARES
_SPIN = 300  # looks, of some 40 ns, before others may run: they may be whom one waits for
_PATIENT = 2000  # times that others may run before a thread without work sleeps


@inner_kernel
def _wait(team: IntArray, looks: int, idle: bool) -> None:
    """Pass the time after so many looks in vain."""
    if looks < _SPIN:
        pause()
    elif idle and looks > _SPIN + _PATIENT:
        call_system(team[_SLEEP, 0], team[_SLEEP, 1])
    else:
        call_system(team[_GIVE_WAY, 0], team[_SLEEP, 1])


@inner_kernel
def _join_in(team: IntArray, job: int, rank: int) -> bool:
    """Do what can be claimed of a job; tell whether that was anything."""
    n, threads, any_done = job & 0xFFFF, team[_THREADS, 0], False
    first = rank * n // threads
    for j in range(n):
        k = first + j if first + j < n else first + j - n
        before = read_word(team, _CLAIM + 2 * k)
        if before < job and swap_word(team, _CLAIM + 2 * k, before, job):
            if not attempt(team[_TASK, 0], (whole_rows(team, _TABLE), k)):
                write_word(team, _FAILED, k + 1)
            add_to_word(team, _DONE, 1)
            any_done = True
    return any_done


@inner_kernel
def share(team: IntArray, task: int, table: IntArray, n: int) -> None:
    """Have ``task(table, k)`` done for all k below `n`."""
    if n == 0:
        return
    job = ((read_word(team, _JOB) >> 16) + 1 << 16) + n
    team[_TASK, 0] = task
    team[_TABLE, 0] = table.ctypes.data
    team[_TABLE, 1] = table.shape[0]
    team[_TABLE, 2] = table.shape[1]
    write_word(team, _DONE, 0)
    write_word(team, _JOB, job)
    _join_in(team, job, team[_THREADS, 1])
    looks = 0
    while read_word(team, _DONE) < n:
        _wait(team, looks, False)
        looks += 1
    failed = read_word(team, _FAILED)
    if failed > 0:  # once more, so that the caller hears of it
        write_word(team, _FAILED, 0)
        perform(task, (table, failed - 1))


@kernel
def work(team: IntArray, rank: int) -> None:
    """Take part in jobs until there will be none."""
    job, looks = 0, 0
    while read_word(team, _OPEN) == 1:
        new = read_word(team, _JOB)
        if new != job and _join_in(team, new, rank):
            looks = 0
        job = new
        _wait(team, looks, True)
        looks += 1


def _serve(team: IntArray, rank: int, bell: threading.Semaphore) -> None:
    """Work whenever the bell rings; knows nothing of those whose work it is, so that they can be forgotten."""
    while True:
        bell.acquire()
        if team[_OPEN, 1] == 1:
            return
        work(team, rank)


def _dismiss(team: IntArray, bells: list[threading.Semaphore]) -> None:
    team[_OPEN] = 0, 1, 0, 0
    for bell in bells:
        bell.release()


class Team:
    """So many threads, this one included; in a ``with`` block the others are ready to take part."""

    def __init__(self, threads: int) -> None:
        self.table: IntArray = np.zeros((_ROWS, 4), dtype=np.int64)
        give_way, sleep, time = system_waits()
        self.table[_GIVE_WAY, 0] = give_way
        self.table[_SLEEP, :2] = sleep, time
        self.table[_THREADS, 0] = 1 if ONE_THREAD else threads
        self._bells = [threading.Semaphore(0) for _ in range(int(self.table[_THREADS, 0]) - 1)]
        for rank, bell in enumerate(self._bells):
            threading.Thread(target=_serve, args=(self.table, rank + 1, bell), daemon=True, name="signorini").start()
        self._end = weakref.finalize(self, _dismiss, self.table, self._bells)

    def __enter__(self) -> Team:
        self.table[_OPEN, 0] = 1
        for bell in self._bells:
            bell.release()
        return self

    def __exit__(self, *reason: Any) -> None:
        self.table[_OPEN, 0] = 0
