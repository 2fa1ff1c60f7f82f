"""How a friction problem with exact cones judges impulses, in one kernel: calls cost more than a few contacts do."""

from __future__ import annotations

import math

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.math.cones import ROUNDING, natural_square
from signorini.problems.connections import apply_connections


@kernel
def judge(
    gather_start: IntArray,
    gather_index: IntArray,
    gather: Array,
    scatter_start: IntArray,
    scatter_index: IntArray,
    scatter: Array,
    y_count: int,
    p: Array,
    b: Array,
    mu: Array,
    rho: Array,
) -> tuple[float, float, float, float]:
    """Return the residual, `rel`, and the largest velocity error of a contact over the largest velocity of the load.

    Last the largest rounding of the velocity that the impulse of a contact makes, over the same. Impulses that are not
    finite have an infinite residual.
    """
    u = np.empty_like(p)
    apply_connections(
        gather_start, gather_index, gather, scatter_start, scatter_index, scatter, p, b, np.empty((y_count, 3)), u
    )
    error, size, load, plain_error, plain_load, worst, fastest = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    rounding = 0.0
    for c in range(mu.shape[0]):
        r = rho[c]
        own = natural_square(p[c, 0], p[c, 1], p[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], r)
        velocities = b[c, 0] * b[c, 0] + b[c, 1] * b[c, 1] + b[c, 2] * b[c, 2]
        impulse = p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]
        error += own
        size += impulse
        load += r * r * velocities
        plain_error += natural_square(p[c, 0], p[c, 1], p[c, 2], u[c, 0], u[c, 1], u[c, 2], mu[c], 1.0)
        plain_load += velocities
        worst = max(worst, math.sqrt(own) / r, -u[c, 0])  # great friction hides in the first how fast gaps close
        rounding = max(rounding, ROUNDING * math.sqrt(impulse) / r)
        fastest = max(fastest, abs(b[c, 0]), abs(b[c, 1]), abs(b[c, 2]))
    error, scale = math.sqrt(error), math.sqrt(max(size, load))
    residual = error / scale if scale > 0.0 else error
    rel = math.sqrt(plain_error / plain_load) if plain_load > 0.0 else math.sqrt(plain_error)
    doubt = worst / fastest if fastest > 0.0 else (math.inf if worst > 0.0 else 0.0)
    lost = rounding / fastest if fastest > 0.0 else 0.0
    return (residual if residual >= 0.0 else math.inf, rel, doubt, lost)
