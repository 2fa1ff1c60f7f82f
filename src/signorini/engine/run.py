"""The compiled step as a whole, from stage to stage, and runs of many steps.

A step begins with the contacts ahead known (``READY``). It is posed and solved, bodies move, and the contacts of the
next step are found, so that the certificate knows the gaps at the end. Between the stages the kernel returns to Python
where it must: an island resists (``UNSOLVED``), loads or drives are functions (``MOVED``), room for contacts or the log
is short. It goes on from there when called again.

The stages are called by their addresses: written into this kernel, each would be compiled once more.
"""

from __future__ import annotations

from signorini._arrays import IntArray
from signorini._jit import (
    inner_kernel,
    kernel,
    perform,
    real_blocks,
    real_rows,
    reals,
    succeeds,
    whole_rows,
    wholes,
)
from signorini.dynamics.flight import spin_bodies
from signorini.engine.arrays import (
    ACCOUNT,
    ACTING,
    AIM_JOINTS,
    AWAY,
    BALANCE,
    BEGIN,
    BEGIN_AGAIN,
    CHECK,
    CHECK_WAYS,
    CLOSE,
    CONTACTS,
    COUNTS,
    COUPLE_OLD,
    DONE,
    DOUBTS,
    FAR,
    FLOWN,
    FREE_MOTION,
    GONE,
    GUESSES,
    HAND_OVER,
    HAS_CAPACITY,
    HITS,
    IMPULSE,
    JOIN,
    JOINED,
    KEEP,
    LATER,
    LAW,
    LAW_CAPACITY,
    LOADED,
    LOG_BALANCE,
    LOG_CHECK,
    LOG_INDEX,
    LOG_MODE,
    LOG_Q,
    LOG_START,
    LOG_V,
    LOG_VALUE,
    LOGGED,
    LOOK,
    MEET,
    MEND,
    MENDED,
    MODE,
    MOVE,
    MOVED,
    NEEDED,
    NOTE_REST,
    PAUSE,
    POSE,
    POSE_JOINED,
    POSED_AGAIN,
    POSITION,
    READY,
    REBOUNDS,
    RESCUED,
    ROUNDS,
    SEEN,
    SEEN_INDEX,
    SEEN_VALUE,
    SETTLE_JOINTS,
    SLEEPS,
    SMALLEST_GAP,
    SOLVE,
    SOLVED,
    STAGE,
    STIRRED,
    SUCCESS,
    TEMPER,
    UNFOLLOWED,
    UNSOLVED,
    VELOCITIES,
    WRITE_LOG,
    P,
    Q,
    U,
    V,
)
from signorini.engine.contacts import count_doubts, find
from signorini.engine.hits import finish_hits, note_hits
from signorini.engine.meet import forget_rounds

UNKNOWN = -1  # number of doubts


@inner_kernel
def may_begin(t: IntArray, steps: int) -> bool:
    """Tell whether another step may begin: one is wanted, there is room to log it, and the last one was solved."""
    counts = wholes(t, COUNTS)
    if counts[DONE] >= steps or log_is_full(t):
        return False
    return bool(counts[DONE] == 0 or reals(t, CHECK)[SUCCESS] == 1.0)


@inner_kernel
def _solve(t: IntArray) -> bool:
    """Pose and solve the step; False if Python is needed."""
    counts = wholes(t, COUNTS)
    if counts[DOUBTS] == UNKNOWN:
        counts[DOUBTS] = count_doubts(t)
        forget_rounds(t)
        counts[MENDED] = 0
        counts[GUESSES] = 0
        counts[LATER] = 0
        reals(t, CHECK)[UNFOLLOWED] = 0.0
    if counts[DOUBTS] > 0 and (t[MEET, 0] == 0 or not succeeds(t[MEET, 0], (t,))):
        return False
    if counts[HITS] > 0 and not finish_hits(t):
        return False
    if log_is_full(t):  # of contacts, of which there may be more now
        counts[NEEDED] = 0
        return False
    # Contacts that were met on the way, or missed, are more than those for whose blocks there was room ahead.
    if counts[JOINED] == 1 and not succeeds(t[HAS_CAPACITY, 0], (t,)):
        counts[NEEDED] = counts[CONTACTS]
        return False
    perform(t[POSE_JOINED if counts[JOINED] == 1 else POSE, 0], (t,))
    counts[STAGE] = SOLVED if succeeds(t[SOLVE, 0], (t,)) else UNSOLVED
    return bool(counts[STAGE] == SOLVED)


@inner_kernel
def _move(t: IntArray) -> bool:
    """Check the impulses found and move the bodies, unless they rebound too much; False if Python is needed."""
    counts = wholes(t, COUNTS)
    perform(t[VELOCITIES, 0], (t,))
    perform(t[LAW, 0], (t,))
    if reals(t, CHECK)[SUCCESS] != 1.0 and counts[RESCUED] == 0:
        counts[STAGE] = UNSOLVED  # to the tolerance, but not credible
        return False
    if counts[REBOUNDS] == 1 and not succeeds(t[TEMPER, 0], (t,)):
        counts[STAGE] = ACTING
        return True
    perform(t[MOVE, 0], (t,))
    counts[STAGE] = AWAY if counts[FAR] == 1 else GONE
    return True


@inner_kernel
def until_look(t: IntArray, steps: int) -> bool:
    """Go on until contacts are to be found; False if Python is needed or the run is over."""
    counts = wholes(t, COUNTS)
    if counts[STAGE] == READY:
        if not may_begin(t, steps):
            return False
        counts[STAGE] = ACTING
    while (
        counts[STAGE] == ACTING
        or counts[STAGE] == SOLVED
        or counts[STAGE] == AWAY
        or (counts[STAGE] == GONE and counts[STIRRED] > 0)
    ):
        if counts[STAGE] == ACTING and not _solve(t):
            return False
        if counts[STAGE] == SOLVED and not _move(t):
            return False
        # Which says that all is well, or has the step posed again with more contacts.
        if counts[STAGE] == AWAY and (t[CHECK_WAYS, 0] == 0 or not succeeds(t[CHECK_WAYS, 0], (t,))):
            return False
        if counts[STAGE] == GONE and counts[STIRRED] == 1 and (t[LOOK, 0] == 0 or not succeeds(t[LOOK, 0], (t,))):
            return False
        if counts[STAGE] == GONE and counts[STIRRED] == CLOSE and (t[MEND, 0] == 0 or not succeeds(t[MEND, 0], (t,))):
            return False
    if counts[STAGE] == GONE:
        reals(t, CHECK)[POSED_AGAIN] = counts[ROUNDS] + counts[MENDED]
        perform(t[HAND_OVER, 0], (t,))
        perform(t[ACCOUNT, 0], (t,))
        if counts[SLEEPS] == 1:
            perform(t[NOTE_REST, 0], (t,))
        spin_bodies(real_rows(t, FLOWN), real_rows(t, V))
        forget_rounds(t)
        counts[STAGE] = MOVED
    if counts[STAGE] == MOVED and counts[PAUSE] == 0:
        counts[STAGE] = LOADED
    if counts[STAGE] != LOADED and counts[STAGE] != BEGIN and counts[STAGE] != BEGIN_AGAIN:
        return False
    if counts[JOINED] == 1 and counts[STAGE] != BEGIN_AGAIN:
        perform(t[SETTLE_JOINTS, 0], (t,))
    perform(t[FREE_MOTION, 0], (t,))
    if counts[JOINED] == 1 and t[AIM_JOINTS, 0] == 0:  # else joints are eliminated where bodies will have drifted to
        perform(t[JOIN, 0], (t,))
    return True


@inner_kernel
def after_look(t: IntArray, found: int) -> bool:
    """Complete the step with the contacts found ahead and log it; False if there was no room for all contacts."""
    counts = wholes(t, COUNTS)
    most = real_rows(t, P).shape[0]
    if found < 0 or found + counts[LAW_CAPACITY] > most:
        counts[NEEDED] = found
        return False
    counts[CONTACTS] = found
    if counts[JOINED] == 1 and not succeeds(t[HAS_CAPACITY, 0], (t,)):
        counts[NEEDED] = found
        return False
    begun = counts[STAGE] == LOADED
    if begun:
        note_hits(t)
    counts[DOUBTS] = UNKNOWN
    perform(t[SMALLEST_GAP, 0], (t,))
    counts[STAGE] = READY
    if begun:
        counts[DONE] += 1
        if wholes(t, LOG_START).shape[0] > 1:
            perform(t[WRITE_LOG, 0], (t,))
    return True


@inner_kernel
def log_is_full(t: IntArray) -> bool:
    """Tell whether the log has no room for another step."""
    counts, start = wholes(t, COUNTS), wholes(t, LOG_START)
    row = counts[LOGGED]
    if start.shape[0] <= 1:
        return False
    contacts = counts[KEEP] * counts[CONTACTS]
    return bool(row + 1 >= start.shape[0] or start[row] + contacts > whole_rows(t, LOG_INDEX).shape[0])


@inner_kernel
def write_log(t: IntArray) -> None:
    """Append the state, what the step says of itself and its contacts to the log."""
    counts, start = wholes(t, COUNTS), wholes(t, LOG_START)
    row = counts[LOGGED]
    q, v, check, balance = real_rows(t, Q), real_rows(t, V), reals(t, CHECK), reals(t, BALANCE)
    log_q, log_v = real_blocks(t, LOG_Q), real_blocks(t, LOG_V)
    log_check, log_balance = real_rows(t, LOG_CHECK), real_rows(t, LOG_BALANCE)
    for b in range(q.shape[0]):
        for k in range(7):
            log_q[row, b, k] = q[b, k]
        for k in range(6):
            log_v[row, b, k] = v[b, k]
    for k in range(check.shape[0]):
        log_check[row, k] = check[k]
    for k in range(balance.shape[0]):
        log_balance[row, k] = balance[k]
    n_c = counts[SEEN] if counts[KEEP] == 1 else 0
    value, index, p, u = (
        real_rows(t, SEEN_VALUE),
        whole_rows(t, SEEN_INDEX),
        real_rows(t, IMPULSE),
        real_rows(t, U),
    )
    log_value, log_index, mode = real_rows(t, LOG_VALUE), whole_rows(t, LOG_INDEX), wholes(t, MODE)
    position = wholes(t, POSITION)
    for c in range(n_c):
        at = start[row] + c
        for k in range(10):
            log_value[at, k] = value[c, k]
        for k in range(3):
            log_value[at, 10 + k] = p[c, k]
            log_value[at, 13 + k] = u[position[c], k]
            log_index[at, k] = index[c, k]
        log_index[at, LOG_MODE] = mode[c]
    if log_value.shape[1] > 16:
        couple = real_rows(t, COUPLE_OLD)
        for c in range(n_c):
            for k in range(3):
                log_value[start[row] + c, 16 + k] = couple[c, k]
    start[row + 1] = start[row] + n_c
    counts[LOGGED] = row + 1


@kernel
def run(t: IntArray, steps: int) -> int:
    """Advance by `steps`; return how many were done."""
    counts = wholes(t, COUNTS)
    counts[DONE] = 0
    while until_look(t, steps) and after_look(t, find(t)):
        pass
    return int(counts[DONE])


@kernel
def run_to_look(t: IntArray, steps: int) -> bool:
    """Advance until Python must find the contacts ahead; False if something else is needed, or the run is over."""
    return until_look(t, steps)


@kernel
def run_from_look(t: IntArray, found: int) -> bool:
    """Complete the step with the contacts that Python found; False if there was no room for them."""
    return after_look(t, found)
