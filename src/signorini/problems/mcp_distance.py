r"""Whether Newton's method finds a solution of an MCP near a point, and how far away.

A residual says how well the equations are met, not whether there is a solution: :math:`F = -c/(1 + x)` and
:math:`F = -c\,e^{-x}` come as near to zero as one likes and have none, in units of x and of F as odd as one likes.
Newton's method has no units. Near a regular root its steps shrink quadratically, near a root of order m to 1 - 1/m of
the one before; from :math:`e^{-x}` they are all the same, from powers they grow, and where F passes zero at a little
distance they leap. So a point is near a solution if

1. Newton steps from it shrink like those at a root, until nothing but rounding is left of them, and
2. from both sides, from where F is well above its rounding, they shrink as well: at the end of 1 a tail that was
   rounded away looks like any root. A side on which F never rises may be a continuum of solutions, and one that ends
   at a bound, or where F is not defined, need not be looked at.

Sides are those of directions in which the Jacobian is singular, or F does not change as slopes say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array
from signorini.problems.matrices import dense
from signorini.problems.mcp_newton import EPSILON, Model, model_at

if TYPE_CHECKING:
    from signorini.problems.mcp import MCP

NEAR = 1e-3
"""Distance, in units of ``1 + |x_i|``, up to which a point may be called a solution."""
_SHRINKS = 7.0 / 8.0  # of the step before: roots up to order 8; tails, as long as rounding lets one see, 0.95 and more
_REGULAR = (
    0.1  # of the step before: the slopes need not be taken anew; a tail, with the same slopes, keeps 0.3 and more
)
_STEPS = 32  # that shrink: F has then fallen by e^32 at a root of any order
_ARRIVED = 8.0  # roundings
_ABOVE = 256.0  # roundings at which F is told from its rounding
_PART = 1.0 / 16.0
_ENOUGH = 4  # steps whose lengths tell, from there on
_AWAY = 1e8  # times the start: unknowns beyond it that no slope holds ran away
_LOOKED_ALONG = 8  # directions
_LARGE = 1000  # rows beyond which sides are not looked at
_ELSEWHERE = (0.5, 0.1, 0.01, 0.0)  # parts of x where F shows how large its terms are
_LADDER = 16.0 ** np.arange(-13.0, 1.0)  # from rounding to all of a distance


def distance(problem: MCP, x: Array, F: Array) -> float:
    """Return how far Newton's method moves from `x`, in units of ``1 + |x_i|``; infinity if it finds no solution."""
    if x.size == 0:
        return 0.0
    model = model_at(problem, x, F)
    if model is None:
        return np.inf
    d = model.step(x, F)
    far = float((np.abs(d) / (1.0 + np.abs(x))).max())
    if not model.inverse.complete:
        return far
    if not far <= NEAR:
        return far
    settled = _settled(problem, model, F, d)
    if settled is None:
        return np.inf
    model, F = settled
    far = float((np.abs(model.x - x) / (1.0 + np.abs(x))).max())
    return far if far <= NEAR and _holds(problem, model, F) else np.inf


def _settled(problem: MCP, model: Model, F: Array, d: Array) -> tuple[Model, Array] | None:
    """Return the model and F where Newton steps have shrunk to rounding, None if they do not shrink."""
    x, size, shrunk, noise = model.x, model.size(d, F), 0, np.zeros(F.size)
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
                noise = np.maximum(np.abs(F), np.abs(G))
                if (noise > _terms(problem, x))[model.rows].any():
                    return None
                break
            model = after
        x, F, d, size, shrunk = y, G, e, model.size(e, G), shrunk + 1
    settled = model_at(problem, x, F, noise)
    if settled is None or (shrunk < _STEPS and settled.size(settled.step(x, F), F) > _ABOVE):
        return None
    return settled, F


def _in_roundings(model: Model, F: Array) -> float:
    return float((np.abs(F) / model.noise)[model.rows].max(initial=0.0))


def _terms(problem: MCP, x: Array) -> Array:
    """Return the rounding of terms of F as large as F is elsewhere."""
    size = np.zeros(x.size)
    for other in (problem.start, *(part * x for part in _ELSEWHERE)):
        there = problem.value(np.clip(other, *problem.bounds))
        if there is not None:
            size = np.maximum(size, np.abs(there))
    return 4.0 * EPSILON * size


def _holds(problem: MCP, model: Model, F: Array) -> bool:
    """Tell whether Newton steps shrink from both sides of where they settled."""
    rows, singular = model.rows, model.inverse.null.shape[1] > 0
    if rows.size > _LARGE or not (singular or (np.abs(_surprises(problem, model, F, 2)) > 0.5 * _ABOVE).any()):
        return True
    noise, unit = model.noise[rows], model.unit[rows]
    with np.errstate(over="ignore", invalid="ignore"):
        K = dense(model.J)[np.ix_(rows, rows)] * unit / noise[:, None]
    if not np.isfinite(K).all():
        return False
    U, s, Vt = np.linalg.svd(K)
    regular = s > 0.01 / rows.size  # in roundings of rows and unknowns the inverse has entries up to about 1
    inverse = (Vt[regular].T / s[regular]) @ U[:, regular].T
    odd, size, _ = np.linalg.svd(U[:, regular].T @ _surprises(problem, model, F, 6), full_matrices=False)
    odd = U[:, regular] @ odd[:, size > 0.5 * _ABOVE]
    watched = np.hstack([odd, U[:, ~regular]]).T
    directions = np.vstack([(inverse @ odd).T, Vt[~regular]])
    correction = unit[:, None] * (inverse - inverse @ watched.T @ watched) / noise
    if len(directions) > _LOOKED_ALONG:  # any few mixtures go in all directions
        directions = np.random.default_rng(0).standard_normal((_LOOKED_ALONG, len(directions))) @ directions
    return all(
        _Side(problem, model, F, sign * v, watched / noise, correction).holds()
        for v in directions
        for sign in (1.0, -1.0)
    )


def _surprises(problem: MCP, model: Model, F: Array, count: int) -> Array:
    """Return by how many roundings rows differ from what the slopes say where F is above rounding."""
    found = []
    for p in model.noise_steps(count):
        for sign in (1.0, -1.0):
            y = np.clip(model.x + sign * _ABOVE * p, *problem.bounds)
            G = problem.value(y)
            error = np.zeros(F.size) if G is None else G - F - model.J @ (y - model.x)
            found.append((error / model.noise)[model.rows])
    errors = np.clip(np.column_stack(found), -1e100, 1e100)
    return np.where(np.abs(errors) > _ARRIVED, errors, 0.0)


class _Side:
    """The way from where Newton steps settled along `v`, rows' unknowns in roundings.

    `watched` are the combinations of rows that may be tails; the others are put right by `correction` on the way, so
    that these are seen by themselves.
    """

    def __init__(self, problem: MCP, model: Model, F: Array, v: Array, watched: Array, correction: Array) -> None:
        self.problem, self.model, self.F, self.watched, self.correction = problem, model, F, watched, correction
        self.first = int(model.rows[np.abs(v).argmax()])
        self.p = np.zeros(model.x.size)
        self.p[model.rows] = v * model.unit[model.rows]
        self.sizes: Any = abs(model.J)
        self.leap = np.zeros(len(watched))
        # Where slopes are regular a solution is alone; one row may still be flat on one side of a kink.
        self.alone = model.rows.size > 1 and model.inverse.null.shape[1] == 0
        x, lower, upper = model.x, *problem.bounds
        parts = np.abs(self.p) / model.unit
        self.moved = np.flatnonzero(parts >= 0.1 * parts.max())  # others are not what this is about
        reach = np.maximum(np.abs(x), np.abs(x - problem.start))
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(self.p > 0.0, upper - x, x - lower) / np.abs(self.p)
            reach = 2.0 * np.where(reach > 0.0, reach, 1.0) / np.abs(self.p)
        self.end = float(np.minimum(reach, room)[self.moved].max())

    def holds(self) -> bool:
        """Tell whether Newton steps shrink from wherever F has risen, until they lead back, or F never rises."""
        near = 0.0
        for t in self._places():
            rise = self._rise(t)
            if rise is None:
                return True
            if rise > 2.0:
                shrink, back = self._beyond(near, t)
                if back or not shrink or self.alone:
                    return shrink and bool(back)
            near = t
        # So far out nothing shows what F does on the way there.
        farthest = np.abs(self.model.x[self.moved]).max()
        return bool(farthest <= _AWAY * (1.0 + np.abs(self.problem.start).max()))

    def _places(self) -> list[float]:
        """Return where to look: F often changes near zero and near the start, however far away these are."""
        moved = self.moved[:_LOOKED_ALONG]
        crossed = ((c - self.model.x)[moved] / self.p[moved] for c in (0.0, self.problem.start))
        around = [np.outer(c, 1.0 + s * _LADDER).ravel() for c in crossed for s in (1.0, -1.0)]
        places = np.concatenate([self.end * _LADDER, *around])
        return [float(t) for t in np.unique(places[(places > 0.0) & (places <= self.end)])]

    def _beyond(self, near: float, far: float) -> tuple[bool, bool]:
        """Tell whether Newton steps shrink from beyond the place between where F begins to change, and lead back."""
        edge = self._risen(2.0, near, far)
        if not self._leap(edge):
            return True, True
        steps = edge * (1.0 + EPSILON * 2.0 ** np.arange(60))
        near = edge
        for t in sorted([edge, *steps[steps < self.end], *(t for t in self._places() if t > edge)]):
            if self._has_risen(t, _ABOVE):
                break
            near = t
        else:
            return True, True
        t = self._risen(_ABOVE, near, t)
        if not self._leap(t):
            return True, True
        found = self._shrinks(t, 0.0)
        if not found[0] and all(self._shrinks(t, _PART * (t - edge))):
            return True, True
        return found

    def _leap(self, t: float) -> bool:
        """Note by how much F has changed, maybe by rounding; tell whether it is defined."""
        _, G = self._point(t)
        if G is not None:
            self.leap = np.maximum(self.leap, np.abs(self.watched @ (G - self.F)[self.model.rows]))
        return G is not None

    def _has_risen(self, t: float, least: float) -> bool:
        rise = self._rise(t)
        return rise is None or rise > least

    def _risen(self, least: float, near: float, far: float) -> float:
        """Return the place between from which on F has risen so many roundings."""
        for _ in range(50):
            t = float(np.sqrt(near * far)) if far > 4.0 * near > 0.0 else 0.5 * (near + far)
            near, far = (near, t) if self._has_risen(t, least) else (t, far)
        return far

    def _point(self, t: float) -> tuple[Array, Array | None]:
        """Return a place on the way, and F there, None where it is not defined."""
        y = np.clip(self.model.x + t * self.p, *self.problem.bounds)
        G = self.problem.value(y)
        if G is None or self.correction.size == 0:
            return y, G
        change = np.zeros(y.size)
        change[self.model.rows] = self.correction @ (G - self.F)[self.model.rows]
        change -= change[self.first] / self.p[self.first] * self.p
        if self.model.length(change) > t * self.model.length(self.p):
            return y, G
        corrected = np.clip(y - change, *self.problem.bounds)
        H = self.problem.value(corrected)
        return (y, G) if H is None else (corrected, H)

    def _rise(self, t: float) -> float | None:
        """Return by how many roundings F has changed; None where it is not defined."""
        y, G = self._point(t)
        if G is None:
            return None
        rows = self.model.rows
        noise = self.model.noise + 4.0 * EPSILON * (self.sizes @ np.abs(y))
        error = np.maximum(np.abs(self.watched) @ noise[rows], self.leap)
        return float((np.abs(self.watched @ (G - self.F)[rows]) / error).max())

    def _shrinks(self, t: float, part: float) -> tuple[bool, bool]:
        """Tell whether Newton steps from there shrink, after one that puts the other rows right, and lead back.

        Slopes are those of the problem, or if `part` > 0, near a kink, differences: over so much of the way at first,
        or a part of a step if that is less, then over a part of the last step.
        """
        (x, G), back, sizes = self._point(t), part * self.p, [t]
        if part and G is not None and (model := model_at(self.problem, x, G)) is not None:
            step = _PART * model.step(x, G)
            back = step if 0.0 < self._length(step) < self._length(back) else back
        while G is not None and len(sizes) <= _ENOUGH:
            H = self.problem.value(x - back) if part else None
            model = model_at(self.problem, x, G, self.model.noise, None if H is None else (back, G - H))
            if model is None or model.size(np.zeros(x.size), G) > _ARRIVED:
                return False, False
            d = model.step(x, G)
            sizes.append(self._length(d))
            if len(sizes) > 3 and not sizes[-1] <= _SHRINKS * sizes[-2]:
                return False, False
            x, back = np.clip(x + d, *self.problem.bounds), _PART * d
            if model.length(d) <= _ARRIVED or (len(sizes) > 3 and sizes[-1] <= _REGULAR * sizes[-2]):
                break
            G = self.problem.value(x)
        return G is not None, self._length(x - self.model.x) <= _SHRINKS * sizes[0]

    def _length(self, d: Array) -> float:
        """Return how far a step goes this way."""
        return float(np.abs(d[self.moved] / self.p[self.moved]).max())
