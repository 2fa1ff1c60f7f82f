"""Convex solids by functions of the user, and intersections of convex solids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from signorini._arrays import Array, checked
from signorini.errors import InputError
from signorini.model.convex_sets import Common, ConvexSet, Smooth, placed
from signorini.model.shapes import ShapeKind
from signorini.problems.derivatives import AutomaticJacobian
from signorini.scene import convex
from signorini.scene.mass import MassProperties, checked_density
from signorini.scene.quadrature import convex_mass
from signorini.scene.shape import PlacedShape, Shape

_SAMPLES = 64  # points at which functions and derivatives are compared and convexity is looked at
_DERIVATIVE = 1e-5  # difference quotients of smooth functions are no worse, relative to their terms


@dataclass(frozen=True, eq=False)
class _ByInequalities(Shape):
    """A solid known by its inequalities; for the broad phase it is the box around it."""

    kind: ClassVar[ShapeKind] = ShapeKind.IMPLICIT

    def polytope(self) -> convex.Polytope:
        low, high = self.box()
        box = convex.box(high - low)
        centre = 0.5 * (low + high)
        return convex.Polytope(
            box.vertices + centre, box.faces, box.normals, box.offsets + box.normals @ centre, box.edges
        )

    def inequalities(self) -> ConvexSet:
        solid: ConvexSet = self.__dict__["_set"]
        return solid

    def box(self) -> tuple[Array, Array]:
        """Return the least and the largest coordinates of a box around the solid, (3,) each [m]."""
        low, high = self.__dict__["_box"]
        return low, high

    def mass_properties(self, density: float) -> MassProperties:
        low, high = self.box()
        return convex_mass(self.inequalities(), 1.01 * float(np.linalg.norm(high - low)), checked_density(density))

    def to_dict(self) -> dict[str, Any]:
        raise InputError(f"{self.word()}: is defined by Python functions, cannot be saved in a scene file")


@dataclass(frozen=True, eq=False)
class Implicit(_ByInequalities):
    """All points with ``f(x) <= 0`` for a convex function f.

    Parameters
    ----------
    f : function of a point (3,)
        Convex, smooth near its zeros, and positive outside the bounds.
    gradient, hessian : functions of a point, optional
        (3,) and (3, 3); found automatically if not given, compared with f if given.
    bounds : pair of (3,) array_like, or float
        The least and the largest coordinates of a box around the solid, or half the edge of a cube about the origin
        [m].
    """

    f: Callable[[Array], float]
    gradient: Callable[[Array], Any] | None = None
    hessian: Callable[[Array], Any] | None = None
    bounds: Any = None

    def __post_init__(self) -> None:
        low, high = _bounds(self.bounds)
        if not callable(self.f):
            raise InputError(f"implicit: f is {self.f!r}, must be a function of a point (3,)")
        for name in ("gradient", "hessian"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise InputError(f"implicit: {name} is {getattr(self, name)!r}, must be a function of a point (3,)")
        f = self.f
        gradient = self.gradient or _Gradient(f)
        hessian = self.hessian or _Hessian(gradient)
        points = low + np.random.default_rng(0).random((_SAMPLES, 3)) * (high - low)
        values = np.array([_number(f, x, "implicit: f") for x in points])
        _check_convex(f, points, values)
        _check_derivatives(self, gradient, points, float(np.abs(high - low).max()))
        inner = _lowest([Smooth(f, gradient, hessian, 0.5 * (low + high))], 0.5 * (low + high), low, high)
        depth = _number(f, inner, "implicit: f")
        if not depth < 0.0:
            raise InputError(f"implicit: f is nowhere below {depth:.6g} within the bounds, must be negative inside")
        _check_enclosed(f, low, high)
        edge = _surface_point(f, inner, low, high)
        slope = float(np.linalg.norm(np.asarray(gradient(edge), dtype=np.float64)))
        # Of a convex f the gradient times the way from the inner point is at least the depth there.
        if not slope * float(np.linalg.norm(edge - inner)) > -0.5 * depth:
            raise InputError(f"implicit: gradient vanishes on the surface at {edge.tolist()}, must not")
        self.__dict__["_set"] = Smooth(f, gradient, hessian, inner, 1.0 / slope)
        self.__dict__["_box"] = (low, high)


@dataclass(frozen=True, init=False, eq=False)
class Intersection(_ByInequalities):
    """What several convex shapes, placed or not, have in common; half-spaces are allowed among them."""

    shapes: tuple[PlacedShape, ...]

    def __init__(self, *shapes: Shape | PlacedShape) -> None:
        if not shapes:
            raise InputError("intersection: has no shapes, must have at least one")
        parts: list[PlacedShape] = []
        for one in shapes:
            if not isinstance(one, Shape | PlacedShape):
                raise InputError(f"intersection: {one!r} is not a shape")
            part = one if isinstance(one, PlacedShape) else one.at()
            if not part.shape.spatial or len(part.shape.pieces()) != 1:
                raise InputError(f"intersection: {type(part.shape).__name__} must be spatial and convex")
            parts.extend(part.pieces())
        self._check("shapes", tuple(parts))
        sets = [placed(part.shape.inequalities(), part.position, part.quaternion) for part in parts]
        low, high = _common_box(parts)
        middle = 0.5 * (low + high)
        inner = _lowest(sets, middle, low, high)
        depth = max(float(one.values(inner).max()) for one in sets)
        if not depth < -1e-9 * float((high - low).max()):
            raise InputError("intersection: the shapes have no volume in common, must overlap")
        self.__dict__["_set"] = Common(tuple(sets), inner)
        self.__dict__["_box"] = (low, high)


class _Gradient:
    """The gradient of f by complex steps or differences."""

    def __init__(self, f: Callable[[Array], float]) -> None:
        self.jacobian = AutomaticJacobian(lambda x: np.stack([f(x), 0.0 * x[0], 0.0 * x[0]]))

    def __call__(self, x: Array) -> Array:
        J = self.jacobian(np.asarray(x))
        return np.full(3, np.nan) if J is None else np.asarray(J[0])


class _Hessian:
    """The Hessian, symmetric, from the gradient."""

    def __init__(self, gradient: Callable[[Array], Any]) -> None:
        self.jacobian = AutomaticJacobian(gradient)

    def __call__(self, x: Array) -> Array:
        J = self.jacobian(np.asarray(x))
        return np.full((3, 3), np.nan) if J is None else np.asarray(0.5 * (J + J.T))


def _bounds(value: Any) -> tuple[Array, Array]:
    if value is None:
        raise InputError(
            "implicit: bounds are missing, must be (least, largest) coordinates or half the edge of a cube"
        )
    if np.ndim(value) == 0:
        half = float(checked(value, (), "implicit: bounds"))
        low, high = np.full(3, -half), np.full(3, half)
    else:
        low, high = checked(value, (2, 3), "implicit: bounds")
    if not (high > low).all():
        raise InputError(f"implicit: bounds are {value!r}, must span a box with a volume")
    return low, high


def _number(f: Callable[[Array], Any], x: Array, what: str) -> float:
    try:
        value = float(f(x.copy()))
    except Exception as error:
        raise InputError(f"{what} cannot be evaluated at {x.round(6).tolist()}: {error}") from error
    if not np.isfinite(value):
        raise InputError(f"{what} is {value} at {x.round(6).tolist()}, must be finite within the bounds")
    return value


def _check_convex(f: Callable[[Array], Any], points: Array, values: Array) -> None:
    """Compare f halfway between points with its mean at both."""
    other, far = np.roll(points, 1, axis=0), np.roll(values, 1)
    size = float(np.abs(values).max())
    for x, y, f_x, f_y in zip(points, other, values, far, strict=True):
        if _number(f, 0.5 * (x + y), "implicit: f") > 0.5 * (f_x + f_y) + 1e-10 * size:
            raise InputError(
                f"implicit: f is not convex between {x.round(6).tolist()} and {y.round(6).tolist()}, must be convex"
            )


def _check_derivatives(shape: Implicit, gradient: Callable[[Array], Any], points: Array, extent: float) -> None:
    """Compare given derivatives with differences, in units of the extent."""

    def values(x: Array) -> Array:
        return np.array([shape.f(extent * x), 0.0, 0.0])

    for what, given, F in (
        ("gradient", shape.gradient, values),
        ("hessian", shape.hessian, lambda x: np.asarray(gradient(extent * x), dtype=np.float64)),
    ):
        if given is None:
            continue
        for x in points[:8]:
            size = (3,) if what == "gradient" else (3, 3)
            J = extent * checked(given(x), size, f"implicit: {what} at {x.round(6).tolist()}")
            J = np.vstack([J, np.zeros((2, 3))]) if what == "gradient" else J
            error = AutomaticJacobian(F).error_of(J, x / extent)
            if error > _DERIVATIVE:
                of = "f" if what == "gradient" else "the gradient"
                raise InputError(
                    f"implicit: {what} at {x.round(6).tolist()} differs from that of {of} by {error:.2g} of its size"
                )


def _check_enclosed(f: Callable[[Array], Any], low: Array, high: Array) -> None:
    """Look for points of the solid on the sides of the box."""
    share = np.linspace(0.0, 1.0, 9)
    for axis in range(3):
        for end in (low, high):
            for s in share:
                for t in share:
                    x = low + np.insert([s, t], axis, 0.0) * (high - low)
                    x[axis] = end[axis]
                    if _number(f, x, "implicit: f") < 0.0:
                        raise InputError(f"implicit: reaches out of its bounds at {x.round(6).tolist()}, must not")


def _surface_point(f: Callable[[Array], Any], inner: Array, low: Array, high: Array) -> Array:
    """Return a point of the surface on the way from the inner point along x."""
    inside, outside = inner.copy(), np.array([high[0] + 0.01 * (high[0] - low[0]), inner[1], inner[2]])
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if f(middle) <= 0.0 else (inside, middle)
    return np.asarray(0.5 * (inside + outside))


def _lowest(sets: Sequence[ConvexSet], start: Array, low: Array, high: Array) -> Array:
    """Return about the point of a box at which the largest of all functions is least."""
    from scipy.optimize import minimize

    size = float((high - low).max())

    def rows(z: Array) -> Array:
        return np.asarray(z[3] - np.concatenate([one.values(size * z[:3]) for one in sets]) / size)

    def slopes(z: Array) -> Array:
        G = np.concatenate([one.gradients(size * z[:3]) for one in sets])
        return np.column_stack([-G, np.ones(len(G))])

    z = np.append(start / size, 0.0)
    z[3] = -float(rows(z).min())
    search: Any = minimize
    found = search(
        lambda z: z[3],
        z,
        jac=lambda z: np.array([0.0, 0.0, 0.0, 1.0]),
        constraints={"type": "ineq", "fun": rows, "jac": slopes},
        bounds=[*zip(low / size, high / size, strict=True), (None, None)],
        method="SLSQP",
        options={"ftol": 1e-10, "maxiter": 200},
    )
    best = found.x if np.isfinite(found.x).all() and rows(np.append(found.x[:3], z[3])).min() >= 0.0 else z
    return np.asarray(size * best[:3])


def _common_box(parts: Sequence[PlacedShape]) -> tuple[Array, Array]:
    """Return a box around the common part of shapes."""
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    for part in parts:
        one_low, one_high = part.extent()
        low, high = np.maximum(low, one_low), np.minimum(high, one_high)
    if not np.isfinite(high - low).all():
        raise InputError("intersection: is unbounded, must contain at least one bounded shape")
    if not (high > low).all():
        raise InputError("intersection: the shapes have no volume in common, must overlap")
    return low, high
