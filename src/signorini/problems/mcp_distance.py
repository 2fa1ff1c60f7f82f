r"""Whether Newton's method finds a solution of an MCP near a point, and how far away.

A residual says how well the equations are met, not whether there is a solution: :math:`F = -c/(1 + x)` and
:math:`F = -c\,e^{-x}` come as near to zero as one likes and have none, in units of x and of F as odd as one likes.
Newton's method has no units. Near a regular root its steps shrink quadratically, near a root of order m to 1 - 1/m of
the one before; from :math:`e^{-x}` they are all the same, from powers they grow, and where F passes zero at a little
distance they leap. So a point is near a solution if

1. Newton steps from it shrink like those at a root, until nothing but rounding is left of them, and
2. around there, where F is well above its rounding, F is linear, or Newton steps lead back from both sides: at the
   end of 1 a tail that was rounded away looks like any root.

In a direction in which the Jacobian is singular both sides must lead back, as at a root of higher order, or F must not
change at all as far as the start and further, as where rows are redundant. Anything else is not certified, though it
may be a solution: on curved continua, plateaus and tails along curves the same numbers are seen.

An F that is exactly zero at a point is a solution by the same rules only: :math:`10^{-290} e^{-x}` is zero from x = 77,
in numbers of 64 bits, and is not solved there. Values below 1e-260 that are not zero prove nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.mcp_newton import EPSILON, Model, model_at

if TYPE_CHECKING:
    from signorini.problems.mcp import MCP

NEAR = 1e-3
"""Distance, in units of ``1 + |x_i|``, up to which a point may be called a solution."""
_SHRINKS = 7.0 / 8.0  # of the step before: roots up to order 8; tails, as long as rounding lets one see, 0.95 and more
_REGULAR = 0.1  # of the step before: slopes need not be taken anew; a tail, with the same slopes, keeps 0.3 and more
_STEPS = 32  # that shrink: F has then fallen by e^32 at a root of any order
_ARRIVED = 8.0  # roundings
_ABOVE = 256.0  # roundings at which F is told from its rounding
_BACK = 4  # steps that lead back at least half of the way: 0.41 of it is left at a root of order 5
_AWAY = 1e8  # times the start: unknowns beyond it that no slope holds ran away
_TINIEST = 1e-260  # below which values, their differences and products leave the range of numbers: no steps can be told
_LADDER = 16.0 ** np.arange(-12.0, 1.0)  # from some roundings to all of a distance


def distance(problem: MCP, x: Array, F: Array) -> float:
    """Return how far Newton's method moves from `x`, in units of ``1 + |x_i|``; infinity if it finds no solution."""
    if x.size == 0:
        return 0.0
    model = model_at(problem, x, F)
    if model is None or _underflows(problem, x):
        return np.inf
    d = model.step(x, F)
    far = float((np.abs(d) / (1.0 + np.abs(x))).max())
    if not far <= NEAR:
        return far
    settled = _settled(problem, model, F, d)
    if settled is None:
        return np.inf
    model, F = settled
    far = float((np.abs(model.x - x) / (1.0 + np.abs(x))).max())
    return far if far <= NEAR and _holds(problem, model, F) else np.inf


def _underflows(problem: MCP, x: Array) -> bool:
    """Tell whether values are so small that nothing follows from them."""
    F = problem.value(np.clip(x, *problem.bounds))
    return F is not None and bool(np.any((np.abs(F) < _TINIEST) & (F != 0.0)))


def _settled(problem: MCP, model: Model, F: Array, d: Array) -> tuple[Model, Array] | None:
    """Return the model and F where Newton steps have shrunk to rounding, None if they do not shrink."""
    x, size, shrunk = model.x, model.size(d, F), 0
    while size > _ARRIVED and shrunk < _STEPS:
        y = np.clip(x + d, *problem.bounds)
        G = problem.value(y)
        if G is None or _in_roundings(model, G) > 2.0 * _in_roundings(model, F) + _ABOVE:
            return None
        e = model.step(y, G)
        if model.size(e, G) > _REGULAR * size:
            after = model_at(problem, y, G)
            if after is None:
                return None
            e = after.step(y, G)
            if model.size(e, G) > _SHRINKS * size and np.array_equal(after.rows, model.rows):
                break
            model = after
        x, F, d, size, shrunk = y, G, e, model.size(e, G), shrunk + 1
    settled = model_at(problem, x, F)
    if settled is None or (shrunk < _STEPS and settled.size(settled.step(x, F), F) > _ARRIVED):
        return None
    return settled, F


def _in_roundings(model: Model, F: Array) -> float:
    return float((np.abs(F) / model.noise)[model.rows].max(initial=0.0))


def _holds(problem: MCP, model: Model, F: Array) -> bool:
    """Tell whether F is linear around where Newton steps settled, or they lead back there."""
    steps = model.steps[:2]
    around = [model.x + sign * _ABOVE * p for p in steps for sign in (1.0, -1.0)]
    if not all(_linear(problem, model, F, np.clip(y, *problem.bounds)) for y in around):
        for p in (*steps, *-steps):
            # Beside the point, however little slopes that are rounding themselves hold it.
            t = NEAR / max(NEAR / _ABOVE, float((np.abs(p) / (1.0 + np.abs(model.x))).max()))
            while (rise := _rise(problem, model, F, t * p)) is not None and rise > _ABOVE * _ABOVE:
                t *= 0.5
            if not _leads_back(problem, model, t * p, t * model.unit + _ARRIVED * EPSILON * np.abs(model.x)):
                return False
    return all(_isolated_or_flat(problem, model, F, n) for n in model.null_directions())


def _linear(problem: MCP, model: Model, F: Array, y: Array) -> bool:
    """Tell whether F changes as slopes say, to half of what it changes by."""
    G = problem.value(y)
    if G is None:
        return True
    error = G - F - model.J @ (y - model.x)
    return bool((np.abs(error) <= 0.5 * _ABOVE * model.noise)[model.rows].all())


def _rise(problem: MCP, model: Model, F: Array, p: Array) -> float | None:
    """Return by how many roundings F has changed after a step, None where it is not defined."""
    y = np.clip(model.x + p, *problem.bounds)
    G = problem.value(y)
    if G is None:
        return None
    sizes: Any = abs(model.J)
    noise = model.noise + 4.0 * EPSILON * (sizes @ np.abs(y) + np.abs(G))
    return float((np.abs(G - F) / noise)[model.rows].max())


def _leads_back(problem: MCP, model: Model, p: Array, scale: Array) -> bool:
    """Tell whether Newton steps from beside a point shrink, after one that puts other rows right, and lead back."""
    x, last = np.clip(model.x + p, *problem.bounds), np.inf
    for k in range(_BACK):
        G = problem.value(x)
        if G is None:
            return k == 0
        here = model_at(problem, x, G)
        if here is None:
            return False
        d = here.step(x, G)
        length = float((np.abs(d) / scale).max())
        if k > 1 and length > _SHRINKS * last and here.length(d) > _ARRIVED:
            return False
        x, last = np.clip(x + d, *problem.bounds), length
    return bool((np.abs(x - model.x) <= 0.5 * scale).all())


def _isolated_or_flat(problem: MCP, model: Model, F: Array, n: Array) -> bool:
    """Tell whether Newton steps lead back from both sides, or F changes on none, where slopes say nothing."""
    parts = np.abs(n) / model.unit
    moved = parts >= np.sqrt(EPSILON) * parts.max()  # others are, but for rounding, not what this is about
    sides, flat = [], True
    for p in (n, -n):
        near = 0.0
        for far in _places(problem, model.x, p, moved):
            rise = _rise(problem, model, F, far * p)
            if rise is None:
                break
            flat &= rise <= _ARRIVED and not _underflows(problem, model.x + far * p)
            if rise > _ABOVE:
                sides.append(_edge(problem, model, F, p, near, far))
                break
            near = far
    if flat:
        return bool(np.abs(model.x[moved]).max() <= _AWAY * (1.0 + np.abs(problem.start).max()))
    return len(sides) == 2 and all(
        _leads_back(problem, model, p, np.abs(p) + np.where(parts < 0.1 * parts.max(), _ABOVE * model.unit, 0.0))
        for p in sides
    )


def _edge(problem: MCP, model: Model, F: Array, p: Array, near: float, far: float) -> Array:
    """Return the step to about where F has risen above its rounding."""
    for _ in range(8 if near > 0.0 else 0):
        t = float(np.sqrt(near * far))
        rise = _rise(problem, model, F, t * p)
        near, far = (near, t) if rise is None or rise > _ABOVE else (t, far)
    return far * p


def _places(problem: MCP, x: Array, p: Array, moved: Array) -> list[float]:
    """Return where to look along `p`: at all lengths, and where unknowns are zero, or as at the start."""
    x, start, p = x[moved], problem.start[moved], p[moved]
    reach = np.maximum(np.abs(x), np.abs(x - start))
    end = float((2.0 * np.where(reach > 0.0, reach, 1.0) / np.abs(p)).max())
    places = np.concatenate([end * _LADDER, -x / p, (start - x) / p])
    return [float(t) for t in np.unique(places[places > 0.0])]
