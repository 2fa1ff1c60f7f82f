"""The waist between geometry and mechanics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from signorini._arrays import Array, IntArray


class Contacts(NamedTuple):
    """Candidate contacts at one configuration, sorted by (body_a, body_b, shape_a, shape_b, feature).

    ``body_a < body_b`` in the order of the model (fixed bodies first). The normal points from a to b, so that
    ``point_b - point_a = gap * normal`` for a single closest point; in a manifold the gap is measured along the common
    normal.
    """

    body_a: IntArray
    """(n_c,)"""
    body_b: IntArray
    """(n_c,)"""
    feature: IntArray
    """Which shapes and which features of them touch, in one number that stays the same from step to step, (n_c,)."""
    point_a: Array
    """Point on the surface of a, world frame, (n_c, 3) [m]."""
    point_b: Array
    """Point on the surface of b, world frame, (n_c, 3) [m]."""
    normal: Array
    """Unit normal from a to b, (n_c, 3)."""
    gap: Array
    """Signed distance, negative when overlapping, (n_c,) [m]."""
    material: IntArray
    """Row of :class:`~signorini.model.Materials` for this pair of bodies, (n_c,)."""

    @property
    def contact_count(self) -> int:
        """Number of candidate contacts."""
        return int(self.gap.size)

    @staticmethod
    def of_rows(value: Array, index: IntArray) -> Contacts:
        """Return a copy of contacts kept as rows: two points, normal and gap (n_c, 10); bodies, feature, material."""
        return Contacts(
            body_a=index[:, 0].copy(),
            body_b=index[:, 1].copy(),
            feature=index[:, 2].copy(),
            point_a=value[:, 0:3].copy(),
            point_b=value[:, 3:6].copy(),
            normal=value[:, 6:9].copy(),
            gap=value[:, 9].copy(),
            material=index[:, 3].copy(),
        )

    @staticmethod
    def none() -> Contacts:
        """Return the empty table."""
        index = np.zeros(0, dtype=np.int64)
        points = np.zeros((0, 3))
        return Contacts(
            index, index.copy(), index.copy(), points, points.copy(), points.copy(), np.zeros(0), index.copy()
        )
