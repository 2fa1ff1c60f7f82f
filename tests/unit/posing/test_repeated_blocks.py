"""The map of an expansion: blocks once more, without normals, whatever form W has."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from signorini.posing.poisson import _repeated
from signorini.problems import Delassus


def test_blocks_are_repeated_alike_in_every_form() -> None:
    r = np.random.default_rng(1)
    body_a, body_b = np.array([0, 1, 0]), np.array([1, 2, 2])
    J_a, J_b = r.standard_normal((2, 3, 3, 6))
    root = r.standard_normal((3, 6, 6))
    W = Delassus(body_a, body_b, J_a, J_b, root @ root.transpose(0, 2, 1))
    again = np.array([0, 2])
    full = W.dense()
    rows = [*range(9), 0, 1, 2, 6, 7, 8]
    expected = full[np.ix_(rows, rows)]
    expected[[9, 12]] = 0.0
    expected[:, [9, 12]] = 0.0
    np.testing.assert_allclose(_repeated(W, again, 3).dense(), expected, atol=1e-12)
    np.testing.assert_allclose(_repeated(full, again, 3), expected, atol=1e-12)
    np.testing.assert_allclose(_repeated(sparse.csr_array(full), again, 3).toarray(), expected, atol=1e-12)
    assert W.J_a[0, 0].any()  # the map of the step itself is as it was
