r"""The Alart-Curnier function of Coulomb friction and its derivatives, contact by contact.

In equilibrated units (``rho = 1``), with ``n = r_n - u_n`` and ``t = r_T - u_T``,

.. math:: F_n = r_n - \max(0, n), \qquad F_T = r_T - P(t), \quad P \text{ onto the disc of radius } \mu \max(0, n).

F = 0 is the friction law. Each contact is in one of three modes (open, stick, slip) where F is smooth.
"""

from __future__ import annotations

import math

from signorini._arrays import Array
from signorini._jit import kernel


@kernel
def alart_curnier(u: Array, r: Array, mu: Array, F: Array) -> float:
    """Set F (n_c, 3) and return its norm."""
    total = 0.0
    for c in range(mu.shape[0]):
        n = r[c, 0] - u[c, 0]
        if n > 0.0:
            F[c, 0] = u[c, 0]
            t1 = r[c, 1] - u[c, 1]
            t2 = r[c, 2] - u[c, 2]
            size = math.sqrt(t1 * t1 + t2 * t2)
            radius = mu[c] * n
            k = 1.0 if size <= radius else radius / size
            F[c, 1] = r[c, 1] - k * t1
            F[c, 2] = r[c, 2] - k * t2
        else:
            F[c, 0] = r[c, 0]
            F[c, 1] = r[c, 1]
            F[c, 2] = r[c, 2]
        total += F[c, 0] * F[c, 0] + F[c, 1] * F[c, 1] + F[c, 2] * F[c, 2]
    return math.sqrt(total)


@kernel
def newton_blocks(u: Array, r: Array, mu: Array, F: Array, alpha: float, S: Array, g: Array) -> None:
    """Set ``S = C A`` and ``g = -C F`` with ``A = dF/du``, ``B = dF/dr``, ``C = (B + alpha A)^-1``.

    With the proximal term ``alpha (r - r_k)`` in u the Newton step is ``dr = g - S W dr``.
    """
    for c in range(mu.shape[0]):
        n = r[c, 0] - u[c, 0]
        for i in range(3):
            g[c, i] = -F[c, i]
            for j in range(3):
                S[c, i, j] = 0.0
        if not n > 0.0:
            continue  # open: A = 0, B = I
        S[c, 0, 0] = 1.0 / alpha
        g[c, 0] = -F[c, 0] / alpha
        t1 = r[c, 1] - u[c, 1]
        t2 = r[c, 2] - u[c, 2]
        size = math.sqrt(t1 * t1 + t2 * t2)
        radius = mu[c] * n
        if mu[c] == 0.0:
            continue  # no friction: F_T = r_T
        if size <= radius:
            S[c, 1, 1] = 1.0 / alpha
            S[c, 2, 2] = 1.0 / alpha
            g[c, 1] = -F[c, 1] / alpha
            g[c, 2] = -F[c, 2] / alpha
            continue
        # slip: P has the derivative k (I - e e^T) in t and mu e in n, so
        # dF_T = dr_T - k (I - e e^T)(dr_T - du_T) - mu e (dr_n - du_n), and
        # B_TT + alpha A_TT = I + (alpha - 1) k (I - e e^T) has the inverse e e^T + (I - e e^T)/h
        e1 = t1 / size
        e2 = t2 / size
        k = radius / size
        h = 1.0 + (alpha - 1.0) * k
        # the coupling to the normal row: (B + alpha A)_Tn = mu e (alpha - 1)
        q = mu[c] * (alpha - 1.0) / alpha
        along = e1 * F[c, 1] + e2 * F[c, 2]
        across1 = F[c, 1] - along * e1
        across2 = F[c, 2] - along * e2
        along -= q * F[c, 0]
        g[c, 1] = -(along * e1 + across1 / h)
        g[c, 2] = -(along * e2 + across2 / h)
        # A_Tn = mu e, A_TT = k (I - e e^T), A_nn = 1
        S[c, 1, 0] = (mu[c] - q) * e1
        S[c, 2, 0] = (mu[c] - q) * e2
        S[c, 1, 1] = k / h * (1.0 - e1 * e1)
        S[c, 1, 2] = -k / h * e1 * e2
        S[c, 2, 1] = S[c, 1, 2]
        S[c, 2, 2] = k / h * (1.0 - e2 * e2)
