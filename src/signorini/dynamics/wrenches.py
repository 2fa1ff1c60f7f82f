r"""Contact wrenches: the columns of :math:`W_n` and :math:`W_f` (S1, section 1) by blocks.

For a contact with unit normal n from a to b and a direction d of its frame (n, t, o) the generalized force is
``[-d; -(r_a x d); d; r_b x d]``. Here the transposes are kept, ``J_a`` and ``J_b`` of shape (n_c, dim, 6): the relative
velocity of the contact is ``u = J_a v_a + J_b v_b``.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.math.rotation import cross, tangent_frame
from signorini.model import Contacts


def contact_wrenches(
    contacts: Contacts, q: Array, *, dim: int, point_a: Array, point_b: Array, couples: tuple[int, ...] = ()
) -> tuple[Array, Array]:
    """Return ``J_a, J_b`` for the contact frames (n, t, o); in the plane (`dim` 2) only n and t.

    `point_a` and `point_b` are where the impulse acts on either body, (n_c, 3) [m]. `couples` adds rows of couples
    about axes of the frame: 0 about n, 1 and 2 about t and o; in the plane 2 alone.
    """
    n_c, rows = contacts.contact_count, dim + len(couples)
    J_a, J_b = np.zeros((n_c, rows, 6)), np.zeros((n_c, rows, 6))
    axis = np.array([*range(dim), *couples], dtype=np.int64)
    _wrenches(contacts.body_a, contacts.body_b, contacts.normal, point_a, point_b, q, axis, dim, J_a, J_b)
    return J_a, J_b


def relative_velocity(J_a: Array, J_b: Array, contacts: Contacts, v: Array) -> Array:
    """Return ``u = J_a v_a + J_b v_b`` contact by contact, (n_c, dim) [m/s]."""
    u: Array = np.einsum("cij,cj->ci", J_a, v[contacts.body_a]) + np.einsum("cij,cj->ci", J_b, v[contacts.body_b])
    return u


@kernel
def _wrenches(
    body_a: IntArray,
    body_b: IntArray,
    normal: Array,
    point_a: Array,
    point_b: Array,
    q: Array,
    axis: IntArray,
    dim: int,
    J_a: Array,
    J_b: Array,
) -> None:
    for c in range(body_a.size):
        a, b = body_a[c], body_b[c]
        n = (normal[c, 0], normal[c, 1], normal[c, 2])
        t, o = tangent_frame(n)
        frame = (n, t, o)
        r_a = (point_a[c, 0] - q[a, 0], point_a[c, 1] - q[a, 1], point_a[c, 2] - q[a, 2])
        r_b = (point_b[c, 0] - q[b, 0], point_b[c, 1] - q[b, 1], point_b[c, 2] - q[b, 2])
        for i in range(axis.size):
            d = frame[axis[i]]
            if i >= dim:  # a couple
                for k in range(3):
                    J_a[c, i, 3 + k] = -d[k]
                    J_b[c, i, 3 + k] = d[k]
                continue
            m_a, m_b = cross(r_a, d), cross(r_b, d)
            for k in range(3):
                J_a[c, i, k] = -d[k]
                J_a[c, i, 3 + k] = -m_a[k]
                J_b[c, i, k] = d[k]
                J_b[c, i, 3 + k] = m_b[k]
