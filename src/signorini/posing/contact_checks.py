r"""What contacts did in a step: whether they part, stick or slip, and how well friction keeps its cone and direction.

A solution is known to its tolerance only, so a slow slip may be an error that the tolerance allows. It is taken for
sticking if the error e of the tangential law is within the tolerance, but not small beside slip and friction,

.. math::
    \tfrac1{100} \min(\rho |u_T|, \mu p_n) \le e \le \epsilon, \qquad
    e = |p_T - P_{\mu p_n}(p_T - \rho u_T)|,

with the disc projection P and the impulse :math:`\epsilon` that the tolerance leaves open. So a light body that slides
slowly beside a heavy one slides, and friction that is wrong by more than the tolerance is seen.
"""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.problems import FrictionProblem

SEPARATING, STICK, SLIP = np.arange(3, dtype=np.int64)

_NOTHING = 1e-9  # a contact counts as pressed above this fraction of the largest impulse of its step
_ROUNDING = 1e-12  # of the normal impulse
_KNOWN = 1e-2  # a slip within the tolerance is believed if it is known to this part


@kernel
def contact_checks(
    p: Array, u: Array, mu: Array, rho: Array, doubt: float, order: IntArray, mode: IntArray
) -> tuple[float, float]:
    """Return by how much friction exceeds its cone, of the largest normal impulse, and the largest angle to the slip.

    The angle is that between slip and minus friction [rad], over the pressed contacts that slip. `doubt` is the impulse
    that the tolerance leaves open [N s]; what contact c does is written to ``mode[order[c]]``, and one that would be
    beyond its end is a law of a joint and left alone.
    """
    largest = 0.0
    for c in range(mu.shape[0]):
        if order[c] < mode.shape[0]:
            largest = max(largest, p[c, 0])
    excess = 0.0
    angle = 0.0
    for c in range(mu.shape[0]):
        if order[c] >= mode.shape[0]:
            continue
        p_t, p_o, u_t, u_o = p[c, 1], p[c, 2], u[c, 1], u[c, 2]
        limit = mu[c] * p[c, 0]
        excess = max(excess, math.sqrt(p_t * p_t + p_o * p_o) - limit)
        if p[c, 0] <= _NOTHING * largest:
            mode[order[c]] = SEPARATING
            continue
        slip = rho[c] * math.sqrt(u_t * u_t + u_o * u_o)
        error = _tangential_error(p_t, p_o, u_t, u_o, limit, rho[c])
        if slip <= _ROUNDING * p[c, 0] or _KNOWN * min(slip, limit) <= error <= doubt:
            mode[order[c]] = STICK
            continue
        mode[order[c]] = SLIP
        if limit > 0.0:
            angle = max(angle, math.atan2(abs(p_t * u_o - p_o * u_t), -(p_t * u_t + p_o * u_o)))
    return (excess / largest if largest > 0.0 else 0.0, angle)


@inner_kernel
def _tangential_error(p_t: float, p_o: float, u_t: float, u_o: float, limit: float, rho: float) -> float:
    """Return the norm of the natural map of friction with a given limit."""
    x_t, x_o = p_t - rho * u_t, p_o - rho * u_o
    size = math.sqrt(x_t * x_t + x_o * x_o)
    shrink = max(limit, 0.0) / size if size > limit else 1.0
    return math.sqrt((p_t - shrink * x_t) ** 2 + (p_o - shrink * x_o) ** 2)


def check_contacts(
    problem: FrictionProblem, z: Array, impulse: Array, velocity: Array, tolerance: float
) -> tuple[IntArray, float, float]:
    """Return the modes (n_c,) and both results of :func:`contact_checks` for a step and the problem it solved."""
    n_c = impulse.shape[0]
    p, u = impulse, velocity
    if problem.extension is not None:  # an ellipsoid is a disc in scaled components
        p, u = p.copy(), u.copy()
        axes = problem.extension.scale[:n_c, 1 : problem.dim]
        p[:, 1 : problem.dim] /= axes
        u[:, 1 : problem.dim] *= axes
    mode = np.zeros(n_c, dtype=np.int64)
    mu, rho = (np.ascontiguousarray(values[:n_c]) for values in (problem.mu, problem.weights(z)))
    doubt = tolerance * problem.scale(z)
    excess, angle = contact_checks(p, u, mu, rho, doubt, np.arange(n_c), mode)
    return mode, excess, angle
