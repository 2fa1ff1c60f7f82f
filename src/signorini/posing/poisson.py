r"""Poisson's law of restitution: a collision in two phases.

The compression, of impulse :math:`p^C`, ends where contacts do not close any more: the law with e = 0. The expansion
gives back at least the part e of the normal impulse, and more only where contacts would close again,

.. math::
    u^C &= W p^C + \tfrac12 (u^- + b), \qquad 0 \le p^C_n \perp u^C_n + \sigma \ge 0, \\
    u^+ &= W (p^C + p^E) + b, \qquad p^E_n = r + \pi, \quad r = e\, p^C_n, \qquad 0 \le \pi \perp u^+_n + \sigma \ge 0.

A collision happens somewhere in the step, on average in its middle: half of the loads act before it, half after. So a
ball rebounds at :math:`e u - (1 - e) g h / 2`, which for e = 1 keeps its energy, and bodies at rest do not hop.

Friction stays in the exact cone in both phases: :math:`|p^C_T| \le \mu p^C_n` against :math:`u^C_T`, and
:math:`|p^E_T| \le \mu p^E_n` against :math:`u^+_T`. Both are friction problems. In the second a contact with friction
has two blocks: one of normal impulse :math:`\pi`, and one whose normal impulse is known to be r,
:math:`0 \le p_n \perp a (p_n - r) \ge 0`, with the tangential rows of the contact. Their friction opposes the same
slip, and discs of radius :math:`\mu \pi` and :math:`\mu r` add up to one of radius :math:`\mu p^E_n`; so do the sets of
torsional, rolling and ellipsoidal friction.

All contacts that the compression presses give back, also those of bodies that were at rest relative to each other,
unlike with Newton's law. Limits of joints stop bodies in both phases and do not rebound; friction and motors of joints,
whose forces are finite, act in the second.

*Energy.* The expansion solves a variational inequality over :math:`S = \{p : p_n \ge r, |p_T| \le \mu p_n\}`, to which
:math:`q = e\,p^C` belongs:
:math:`(u^+ + \sigma n + \mu |u^+_T| n) \cdot (q - p^E) \ge 0`. With :math:`|x|_W^2 = x^T W x`, loads apart and
:math:`\sigma = 0`, it follows for one coefficient e that

.. math::
    T^+ - T \le -\tfrac12 (1 - e^2) |p^C|_W^2 - \tfrac12 |p^E - e p^C|_W^2 - (1 + e)\, \text{friction}^C \le 0 :

Poisson's law never gains energy, with friction or without, unlike Newton's; shifts :math:`\sigma > 0` only take more.
Without friction this holds for different coefficients in one collision as well, since then the expansion is the
smallest :math:`w \ge r` in the norm of W, and :math:`p^C` is one such w. With friction *and* different coefficients
:math:`|E p^C|_W \le |p^C|_W` is needed; it may fail, and then the balance of the certificate shows it.

References
----------
.. [GP] Glocker & Pfeiffer (1995), *Multiple impacts with friction in rigid multibody systems*.
.. [AP] Anitescu & Potra (1997), time stepping with compression and decompression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from signorini._arrays import Array, BoolArray, IntArray
from signorini._scipy import sparse
from signorini.model import Model
from signorini.posing.joint_space import LawKind
from signorini.posing.midpoint import Midpoint
from signorini.posing.time_stepping import ContactSpace, Outcome
from signorini.problems import Delassus, FrictionProblem
from signorini.solvers import Solution


def collide(
    model: Model,
    at: Midpoint,
    space: ContactSpace,
    shift: Array,
    words: dict[str, Any],
    answer: Callable[[FrictionProblem, Array], Solution],
) -> Outcome:
    """Solve a step in which contacts collide.

    `shift` (n_c,) is what the law without rebound adds to the normal velocities; `words` are the arguments of a problem
    that describe friction beyond Coulomb's, one number for each block.
    """
    n_c, n, dim = space.contacts.contact_count, *space.b.shape
    first = compression_problem(model, at, space, shift, words)
    compression = answer(first, np.zeros(first.size))
    p = compression.z.reshape(n, dim)
    slid = slid_in_compression(first, compression.z, n_c)
    phase = expansion_of(model, space, shift, words, first, p)
    second, again = phase.problem, phase.again
    start = np.zeros((n + again.size, dim))
    start[n:] = p[again] * (phase.r[again] / p[again, 0])[:, None]
    expansion = answer(second, start.reshape(-1))
    pushed = expansion.z[: n * dim].reshape(n, dim).copy()
    pushed[again, 1:] += expansion.z[n * dim :].reshape(-1, dim)[:, 1:]
    total = phase.known + pushed
    slid -= float(np.sum(pushed[:n_c, 1:] * space.velocity(total)[:, 1:]))
    whole = replace(
        expansion,
        status=expansion.status if compression.success else compression.status,
        residual=max(compression.residual, expansion.residual),
        iterations=compression.iterations + expansion.iterations,
        seconds=compression.seconds + expansion.seconds,
    )
    return Outcome(second, whole, total, slid, ((first, compression),))


def compression_problem(
    model: Model, at: Midpoint, space: ContactSpace, shift: Array, words: dict[str, Any]
) -> FrictionProblem:
    """Pose the first phase."""
    b = _halfway(model, at, space, shift).reshape(-1)
    return FrictionProblem(space.W, b, space.mu, dim=2 if model.planar else 3, **words)


def slid_in_compression(first: FrictionProblem, z: Array, n_c: int) -> float:
    """Return what `n_c` contacts lost by sliding in the first phase [J]."""
    p, u = (values.reshape(-1, first.rows)[:n_c, 1:] for values in (z, first.velocity(z)))
    return -float(np.sum(p * u))


@dataclass(frozen=True, slots=True)
class Expansion:
    """The second phase."""

    problem: FrictionProblem
    """Its blocks are those of the step, then one more for each contact `again`."""
    known: Array
    """Impulses of the compression and what contacts give back at least, (n, dim) [N s]."""
    r: Array
    """What contacts give back at least, (n_c,) [N s]."""
    again: IntArray
    """Contacts that are there twice."""


def expansion_of(
    model: Model, space: ContactSpace, shift: Array, words: dict[str, Any], first: FrictionProblem, p: Array
) -> Expansion:
    """Pose the second phase after a first one that ended with the impulses `p` (n, dim)."""
    n_c = shift.size
    r = model.materials.restitution[space.contacts.material] * np.maximum(p[:n_c, 0], 0.0)
    known = p.copy()
    known[n_c:] = 0.0  # the impulse of joint laws is found anew for the whole step
    known[:n_c, 0] += r
    again = np.flatnonzero((r > 0.0) & _rubs(space.mu, words)[:n_c])
    return Expansion(_expansion(model, space, shift, words, known, r, again, 1.0 / first.rho), known, r, again)


def _halfway(model: Model, at: Midpoint, space: ContactSpace, shift: Array) -> Array:
    """Return the velocities from which the compression starts, with the shifts of the normals, (n, dim)."""
    b = np.zeros(space.b.shape)
    n_c = shift.size
    b[:n_c] = 0.5 * (space.before + space.b[:n_c])
    b[:n_c, 0] += np.maximum(shift, 0.0)  # lifting out of overlaps is left to the second phase
    if space.joints is not None:
        laws, moving = space.joints.laws, at.start.v.copy()
        moving[: model.fixed_count] = 0.0
        gap = laws.rows.psi / at.drift
        speed = 0.5 * (laws.rows.velocity(moving) + laws.rows.rate + space.b[n_c:, 0] - gap) + np.maximum(gap, 0.0)
        b[n_c:, 0] = np.where(laws.kind == LawKind.LIMIT, speed, 0.0)  # friction and motors are not impulsive
    return b


def _rubs(mu: Array, words: dict[str, Any]) -> BoolArray:
    """Tell which contacts have friction of any kind, (n,)."""
    rubs: BoolArray = mu > 0.0
    for word in ("torsional", "rolling"):
        if word in words:
            rubs = rubs | (words[word] > 0.0)
    return rubs


def _expansion(
    model: Model,
    space: ContactSpace,
    shift: Array,
    words: dict[str, Any],
    known: Array,
    r: Array,
    again: IntArray,
    mobility: Array,
) -> FrictionProblem:
    """Pose the expansion: the blocks of the step with what is `known` done, then one more for each contact `again`."""
    n, dim = space.b.shape
    b = space.b + (space.W @ known.reshape(-1)).reshape(n, dim)
    b[: shift.size, 0] += shift
    # The normal of a known impulse moves nothing and gets the mobility a of the contact, so that p_n = r.
    a = np.zeros(n + again.size)
    a[n:] = mobility[again]
    more = b[again]
    more[:, 0] = -a[n:] * r[again]
    more_words: dict[str, Any] = {word: np.concatenate([value, value[again]]) for word, value in words.items()}
    return FrictionProblem(
        _repeated(space.W, again, dim),
        np.concatenate([b, more]).reshape(-1),
        np.concatenate([space.mu, space.mu[again]]),
        dim=2 if model.planar else 3,
        compliance=a,
        **more_words,
    )


def _repeated(W: Any, again: IntArray, dim: int) -> Any:
    """Return W with the blocks `again` once more at its end, there without normals."""
    if isinstance(W, Delassus):
        rows = np.concatenate([np.arange(W.contact_count), again])
        J_a, J_b = W.J_a[rows], W.J_b[rows]
        J_a[W.contact_count :, 0] = J_b[W.contact_count :, 0] = 0.0
        return Delassus(W.body_a[rows], W.body_b[rows], J_a, J_b, W.M_inv)
    n = W.shape[0]
    row = np.concatenate([np.arange(n), (dim * again[:, None] + np.arange(dim)).reshape(-1)])
    kept = np.ones(row.size)
    kept[n::dim] = 0.0
    if sparse.issparse(W):
        D = sparse.diags_array(kept)
        thin: Any = W
        return D @ thin.tocsr()[row][:, row] @ D
    return W[np.ix_(row, row)] * np.outer(kept, kept)
