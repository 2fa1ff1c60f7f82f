"""Mass properties of convex solids that are known by inequalities alone, by rays from an inner point.

Along the direction u the solid reaches from its inner point to the radius r(u), so that mass, first and second moment
are integrals of r^3/3, r^4/4 u and r^5/5 u u^T over the sphere. Where the surface has edges, cells are halved.
"""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array
from signorini.model.convex_sets import ConvexSet
from signorini.scene.mass import MassProperties, from_second_moment

_SMOOTH, _KINKED = 6, 2  # nodes along each side of a cell: many as long as that may help, few along edges
_ACCURATE = 1e-9  # of the integrals, shared by the cells
_DEEPEST = 7  # halvings of a cell


def convex_mass(solid: ConvexSet, reach: float, density: float) -> MassProperties:
    """Integrate over a convex solid that lies within `reach` of its inner point.

    Smooth surfaces are exact to about 1e-9, those with edges to about 1e-5.
    """
    polar, azimuth = np.meshgrid(np.arange(4) * np.pi / 4.0, np.arange(8) * np.pi / 4.0, indexing="ij")
    cells = np.column_stack([polar.reshape(-1), azimuth.reshape(-1)])
    size = np.full(2, np.pi / 4.0)
    coarse = _moments(solid, reach, cells, size, _SMOOTH)
    scale = np.abs(coarse).sum(axis=0).max()
    total = np.zeros(10)
    for level in range(_DEEPEST + 1):
        size = 0.5 * size
        children = (cells[:, None] + size * np.array([(0, 0), (0, 1), (1, 0), (1, 1)])).reshape(-1, 2)
        fine = _moments(solid, reach, children, size, _SMOOTH if level < 3 else _KINKED)
        error = np.abs(fine.reshape(-1, 4, 10).sum(axis=1) - coarse).max(axis=1)
        done = error <= _ACCURATE * scale / 32.0 if level < _DEEPEST else np.ones(len(cells), dtype=bool)
        total += fine.reshape(-1, 4, 10)[done].sum(axis=(0, 1))
        if done.all():
            break
        cells, coarse = children.reshape(-1, 4, 2)[~done].reshape(-1, 2), fine.reshape(-1, 4, 10)[~done].reshape(-1, 10)
    mass = density * float(total[0])
    centre = total[1:4] / total[0]
    moment = np.zeros((3, 3))
    moment[np.triu_indices(3)] = density * total[4:]
    moment = moment + np.triu(moment, 1).T - mass * np.outer(centre, centre)
    return from_second_moment(mass, centre + solid.inner, moment)


def _moments(solid: ConvexSet, reach: float, cells: Array, size: Array, count: int) -> Array:
    """Return volume, first and second moments over cells of polar angle and azimuth, (n, 10)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    x, y = np.meshgrid(0.5 * (nodes + 1.0), 0.5 * (nodes + 1.0), indexing="ij")
    polar = cells[:, 0, None] + size[0] * x.reshape(-1)
    azimuth = cells[:, 1, None] + size[1] * y.reshape(-1)
    sine = np.sin(polar)
    u = np.stack([sine * np.cos(azimuth), sine * np.sin(azimuth), np.cos(polar)], axis=-1)
    r = _radius(solid, u.reshape(-1, 3), reach).reshape(polar.shape)
    weight = 0.25 * np.prod(size) * np.outer(weights, weights).reshape(-1) * sine
    i, j = np.triu_indices(3)
    parts = [(weight * r**3 / 3.0)[..., None], (weight * r**4 / 4.0)[..., None] * u]
    parts.append((weight * r**5 / 5.0)[..., None] * (u[..., i] * u[..., j]))
    return np.asarray(np.concatenate(parts, axis=-1).sum(axis=1))


def _radius(solid: ConvexSet, u: Array, reach: float) -> Array:
    """Return how far the solid reaches along the rays `u`, (n,), by the method of Illinois."""
    low, high = np.zeros(len(u)), np.full(len(u), reach)
    f_low = np.broadcast_to(solid.values(solid.inner).max(), len(u)).copy()
    f_high = solid.values(solid.inner + reach * u).max(axis=-1)
    r, last = high.copy(), np.zeros(len(u))
    left = np.arange(len(u))
    for _ in range(100):
        i = left
        r[i] = (low[i] * f_high[i] - high[i] * f_low[i]) / (f_high[i] - f_low[i])
        f = solid.values(solid.inner + r[i, None] * u[i]).max(axis=-1)
        side = np.where(f <= 0.0, -1.0, 1.0)
        again = np.where(side == last[i], 0.5, 1.0)  # an end that stays twice counts less, so that it moves
        f_high[i] = np.where(side < 0.0, again * f_high[i], f)
        f_low[i] = np.where(side < 0.0, f, again * f_low[i])
        low[i], high[i] = np.where(side < 0.0, r[i], low[i]), np.where(side < 0.0, high[i], r[i])
        last[i] = side
        left = i[np.minimum(high[i] - low[i], np.abs(f)) > 1e-13 * reach]
        if left.size == 0:
            break
    return r
