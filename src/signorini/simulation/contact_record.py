"""What two bodies do to each other over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.errors import InputError, suggestion
from signorini.simulation.contact_table import ContactLog, Mode

_MODES = {str(mode): mode for mode in Mode}


@dataclass(frozen=True, slots=True)
class ContactRecord:
    """All contacts of two bodies together, in every step; forces act on the second of them."""

    time: Array
    """Of the recorded states, (n+1,) [s]; row l tells of the step that ended at ``time[l + 1]``."""
    force: Array
    """World axes, (n, 3) [N]."""
    normal_force: Array
    """Sum of the normal forces, (n,) [N]."""
    friction_force: Array
    """World axes, (n, 3) [N]."""
    slip: Array
    """Sliding velocity, second minus first, of the contact that slides fastest among those that press, (n, 3) [m/s]."""
    mode: IntArray
    """(n,): a :class:`~signorini.simulation.Mode`. Of several contacts one that slips makes the pair slip, one that
    sticks makes it stick unless another slips."""

    def intervals(self, mode: str) -> Array:
        """Return when the pair is in a mode, ``"stick"``, ``"slip"`` or ``"separating"``: begin and end, (k, 2) [s]."""
        if mode not in _MODES:
            raise InputError(f"mode {mode!r} is unknown{suggestion(mode, _MODES)}")
        inside = np.concatenate([[False], self.mode == _MODES[mode], [False]])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        return self.time[edges].reshape(-1, 2)


def contact_record(log: ContactLog, time: Array, h: Array, a: int, b: int) -> ContactRecord:
    """Return the record of bodies `a` and `b` of a log of steps that last `h` and end at ``time[1:]``."""
    found = log.rows()
    mine = ((found.body_a == a) & (found.body_b == b)) | ((found.body_a == b) & (found.body_b == a))
    step, sign = found.step[mine], np.where(found.body_b[mine] == b, 1.0, -1.0)
    presses = found.mode[mine] != Mode.SEPARATING
    normal = found.normal_impulse[mine][:, None] * found.normal[mine]
    n = h.size
    force, friction, normal_force = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    np.add.at(force, step, sign[:, None] * found.impulse[mine])
    np.add.at(friction, step, sign[:, None] * (found.impulse[mine] - normal))
    np.add.at(normal_force, step, found.normal_impulse[mine])
    mode = np.full(n, int(Mode.SEPARATING))
    np.maximum.at(mode, step[presses], found.mode[mine][presses])
    slip, speed = found.slip[mine], np.linalg.norm(found.slip[mine], axis=1)
    order = np.flatnonzero(presses)[np.argsort(speed[presses], kind="stable")]
    fastest = np.zeros((n, 3))
    fastest[step[order]] = sign[order, None] * slip[order]  # of several the last, which is the fastest, stays
    return ContactRecord(time, force / h[:, None], normal_force / h, friction / h[:, None], fastest, mode)
