"""The waist between mechanics and complementarity."""

from __future__ import annotations

from typing import Any, Protocol

from signorini._arrays import Array


class ContactMap(Protocol):
    r"""What impulses at contacts do in one step, whatever the coordinates of the mechanics behind it:

    .. math:: u = W p + b, \qquad p \mapsto v^{+} .

    A contact law is posed on W and b alone, and its answer goes back into the mechanics by :meth:`body_velocity`. Its
    first maker are bodies in maximal coordinates with their joints eliminated,
    :class:`~signorini.posing.time_stepping.ContactSpace`.
    """

    @property
    def W(self) -> Any:  # noqa: N802
        """Symmetric, positive semidefinite: a matrix, or whatever multiplies by ``@``, (n rows, n rows) [1/kg]."""

    @property
    def b(self) -> Array:
        """Velocities without impulses, (n, rows) [m/s]: blocks of contacts first, the normal first in each."""

    def velocity(self, p: Array) -> Array:
        """Return u of the contacts under impulses `p` (n, rows) [N s], (n_c, rows) [m/s]."""

    def body_velocity(self, p: Array) -> Array:
        """Return the velocities of the bodies after the impulses `p` (n, rows), (n_b, 6) [m/s, rad/s]."""
