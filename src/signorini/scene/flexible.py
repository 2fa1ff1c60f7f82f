r"""Flexible bodies as the user writes them: beams and modes, checked at the door.

The frame of a flexible body is where its modes neither displace nor turn it; all its places are in that frame,
undeformed. Every named point becomes a row of the state, so that joints, contacts and loads find it like a body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_number
from signorini.errors import InputError, suggestion
from signorini.io import short
from signorini.math.rotation import matrix, multiply, turn_exact
from signorini.model import Flexible, Line, Points, Section, Shapes, beam_points, make_beam
from signorini.scene.body import ShapeOrShapes, placed_shapes
from signorini.scene.shape import PlacedShape
from signorini.scene.space import Space

GEOMETRIC = ("foreshortening", "none")
_MEETS = 1e-9  # of the size of the body: typed digits
_INDEFINITE = 1e-9  # of the largest eigenvalue, or of the diagonal: rounding of products that people make
_SINGULAR = 1e-12
_MOST_MODES = 6  # of polynomials in powers of x/length: with more their coefficients cancel


@dataclass(frozen=True, slots=True)
class Beam:
    """A straight uniform beam along x from its frame, for :meth:`Scene.add_flexible`.

    Parameters
    ----------
    length : float
        [m]
    E : float
        Young's modulus [N/m^2].
    I : float or (float, float)
        Second moment of area, in space a pair for bending along y and along z [m^4].
    A : float
        Area of the section [m^2].
    density : float
        [kg/m^3]
    shapes : mapping, optional
        ``{"axial": [...], "bending": [...]}``, in space ``axial``, ``bending_y`` and ``bending_z``: for each mode the
        coefficients of powers of x/length. Shapes vanish where x = 0, those of bending with their slope.
    modes : (int, int), optional
        Without `shapes`: how many along the beam, and in each direction across it. The static shapes of an end force,
        and across the beam of an end moment, come first, then vibrations with both ends clamped. Modes along a beam
        vibrate fast; with foreshortening its ends come nearer by bending without them. Default (0, 2).
    """

    length: float
    E: float
    I: Any
    A: float
    density: float
    shapes: Mapping[str, Sequence[Sequence[float]]] | None = None
    modes: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for word in ("length", "E", "A", "density"):
            object.__setattr__(self, word, checked_number(getattr(self, word), f"beam: {word}", above=0.0))
        if np.ndim(self.I):
            pair = tuple(checked(self.I, (2,), "beam: I").tolist())
            for one in pair:
                checked_number(one, "beam: I", above=0.0)
            object.__setattr__(self, "I", pair)
        else:
            object.__setattr__(self, "I", checked_number(self.I, "beam: I", above=0.0))
        if self.shapes is None:
            object.__setattr__(self, "modes", _mode_counts(self.modes))
            return
        if self.modes is not None:
            raise InputError(f"beam: modes is {short(self.modes)} beside shapes, must be one of the two")
        if not isinstance(self.shapes, Mapping):
            raise InputError(f"beam: shapes is {short(self.shapes)}, must be a mapping from directions to modes")
        object.__setattr__(self, "shapes", {key: _coefficients(key, modes) for key, modes in self.shapes.items()})

    def words(self) -> dict[str, Any]:
        """Return the content of a scene file."""
        modes: dict[str, Any] = {"modes": None if self.modes is None else list(self.modes)}
        if self.shapes is not None:
            modes = {"shapes": {key: [list(one) for one in own] for key, own in self.shapes.items()}}
        moments = list(self.I) if isinstance(self.I, tuple) else self.I
        return {
            "length": self.length,
            "E": self.E,
            "I": moments,
            "A": self.A,
            "density": self.density,
            **modes,
        }


def _mode_counts(modes: Any) -> tuple[int, int]:
    """Return how many modes there are along a beam and across it."""
    given = (0, 2) if modes is None else modes
    if (
        not isinstance(given, Sequence)
        or len(given) != 2
        or not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= _MOST_MODES for n in given)
    ):
        raise InputError(f"beam: modes is {short(modes)}, must be two numbers (axial, bending) from 0 to {_MOST_MODES}")
    return int(given[0]), int(given[1])


def _coefficients(key: str, modes: Any) -> tuple[tuple[float, ...], ...]:
    """Return the coefficients of every mode in one direction, all clamped at the frame."""
    what = f"beam: shapes: {key}"
    if not isinstance(modes, Sequence | np.ndarray) or isinstance(modes, str):
        raise InputError(f"{what} is {short(modes)}, must be a list of modes")
    out = []
    for one in modes:
        coefficients = checked(one, (None,), what)
        clamped = 1 if key == "axial" else 2
        if coefficients[:clamped].any():
            raise InputError(f"{what} is {coefficients.tolist()}, its first {clamped} must be 0: clamped at the frame")
        if not coefficients.any():
            raise InputError(f"{what} is {coefficients.tolist()}, must not vanish")
        out.append(tuple(coefficients.tolist()))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Modes:
    """Masses at nodes with their modes, such as a finite-element code exports, for :meth:`Scene.add_flexible`.

    In the plane vectors have two components, and rotations one.

    Parameters
    ----------
    mass : (n,) array_like
        Of the nodes [kg].
    position : (n, 3) array_like
        In the frame, undeformed [m].
    shapes : (n, 3, nu) array_like
        Displacements of the nodes by the modes; none of a node at the origin of the frame.
    stiffness : (nu, nu) array_like
        Symmetric, not negative.
    rotations : (n, 3, nu) array_like, optional
        Turns of the nodes by the modes [rad per unit].
    second_order : (n, 3, nu, nu) array_like, optional
        Displacements of the second order, symmetric in the modes, which stiffen the body where it is loaded.
    damping : (nu, nu) array_like, optional
        Symmetric, not negative.
    """

    mass: Any
    position: Any
    shapes: Any
    stiffness: Any
    rotations: Any = None
    second_order: Any = None
    damping: Any = None

    def words(self) -> dict[str, Any]:
        """Return the content of a scene file."""
        given = {name: getattr(self, name) for name in self.__slots__}
        return {name: np.asarray(value).tolist() for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class FlexibleBody:
    """A flexible body as the user placed it; vectors are kept in their 3D form."""

    name: str
    what: Beam | Modes
    position: Array
    """Of its frame, (3,) [m]."""
    orientation: Array
    """(4,)"""
    velocity: Array
    """Of the origin of the frame, (3,) [m/s]."""
    angular_velocity: Array
    """(3,) [rad/s]"""
    modal: Array
    """(nu,)"""
    modal_rate: Array
    masses: Mapping[str, float]
    """At points [kg]."""
    points: Mapping[str, float]
    """Named points: distances along a beam [m], or numbers of nodes."""
    contacts: Mapping[str, tuple[PlacedShape, ...]]
    """Shapes at points."""
    damping: Any
    """As it was given."""
    geometric: str
    planar: bool

    @property
    def point_names(self) -> tuple[str, ...]:
        """Return the names of the rows of its points."""
        return tuple(f"{self.name}.{point}" for point in self.points)

    def made(self) -> tuple[Flexible, Points, Line | None]:
        """Return masses, stiffness and damping, the named points, and the shapes of its line."""
        what = f"flexible body {self.name!r}"
        if isinstance(self.what, Beam):
            section, shapes = _section(what, self.what, planar=self.planar)
            bends = self.geometric == "foreshortening"
            at = [(self.points[point], mass) for point, mass in self.masses.items()]
            body = make_beam(section, shapes, masses=at, foreshortening=bends)
            points = beam_points(section, shapes, np.array(list(self.points.values())), foreshortening=bends)
            line = _line(section, shapes, foreshortening=bends)
        else:
            nodes, mass, stiffness = _nodes(what, self.what, planar=self.planar, second=self.geometric != "none")
            mass, line = mass.copy(), None
            for point, more in self.masses.items():
                mass[int(self.points[point])] += more
            body = Flexible(mass, nodes, stiffness, np.zeros_like(stiffness), np.zeros((3, 3)))
            points = Points(*(x[[int(k) for k in self.points.values()]] for x in nodes))
        if self.planar:  # the plane's bodies turn about z alone; whatever else they resist keeps their inertia regular
            size = float(np.abs(body.points.place).max(initial=0.0))
            body = body._replace(turning=np.diag([1.0, 1.0, 0.0]) * float(body.mass.sum()) * size**2)
        own = self.what.damping if isinstance(self.what, Modes) else None
        return body._replace(damping=_damping(what, own if self.damping is None else self.damping, body)), points, line

    def places(self) -> tuple[Array, Array]:
        """Return where the points are and how they are turned in the world, (n, 3) and (n, 4)."""
        _, points, _ = self.made()
        R = np.array(matrix(tuple(self.orientation))).reshape(3, 3)
        a = self.modal
        r = points.place + points.Phi @ a + 0.5 * (points.Chi @ a) @ a
        turned = [
            multiply(tuple(self.orientation), turn_exact((1.0, 0.0, 0.0, 0.0), tuple(theta), 1.0))
            for theta in points.Psi @ a
        ]
        return self.position + r @ R.T, np.array(turned).reshape(-1, 4)

    def rates(self) -> Array:
        """Return velocities and spins of the points, (n, 6)."""
        _, points, _ = self.made()
        R = np.array(matrix(tuple(self.orientation))).reshape(3, 3)
        a, rate = self.modal, self.modal_rate
        r = self.places()[0] - self.position
        v = self.velocity + np.cross(self.angular_velocity, r) + (points.Phi @ rate + (points.Chi @ a) @ rate) @ R.T
        return np.hstack([v, self.angular_velocity + (points.Psi @ rate) @ R.T])

    def meeting(self, anchor: Array, joint: str) -> tuple[FlexibleBody, str]:
        """Return the body, and the name of its point at an anchor (3,) in the world, which a beam makes if need be.

        An anchor that meets nothing is an error.
        """
        x, _ = self.places()
        size = max(self.extent, float(np.abs(anchor).max()))
        apart = np.linalg.norm(x - anchor, axis=1)
        names = self.point_names
        if names and apart.min() <= _MEETS * size:
            return self, names[int(np.argmin(apart))]
        shown = anchor[: 2 if self.planar else 3].tolist()
        if not isinstance(self.what, Beam):
            raise InputError(
                f"joint {joint!r}: anchor {shown} meets no point of {self.name!r}, must be at one of points"
            )
        distance = self._along(anchor)
        name = joint if joint not in self.points else f"{joint} 2"
        grown = replace(self, points={**self.points, name: distance})
        if float(np.linalg.norm(grown.places()[0][-1] - anchor)) > _MEETS * size:
            raise InputError(f"joint {joint!r}: anchor {shown} is not on the axis of {self.name!r}, must meet it")
        return grown, f"{self.name}.{name}"

    @property
    def extent(self) -> float:
        """How far it reaches from its frame [m]."""
        if isinstance(self.what, Beam):
            return self.what.length
        return float(np.linalg.norm(np.asarray(self.what.position, dtype=float), axis=1).max())

    def _along(self, anchor: Array) -> float:
        """Return the distance along a beam at which its axis, bent as it is, comes nearest to a place in the world."""
        assert isinstance(self.what, Beam)
        L = self.what.length

        def axis(x: Array) -> Array:
            return replace(self, points={str(k): one for k, one in enumerate(x.tolist())}, masses={}).places()[0]

        grid = np.linspace(0.0, L, 201)
        x = float(grid[np.argmin(np.linalg.norm(axis(grid) - anchor, axis=1))])
        for _ in range(8):
            low, here, high = axis(np.array([x - 1e-6 * L, x, x + 1e-6 * L]))
            slope = (high - low) / (2e-6 * L)
            x = float(np.clip(x + (anchor - here) @ slope / (slope @ slope), 0.0, L))
        return x


def make_flexible(
    what: Any,
    *,
    position: ArrayLike,
    orientation: ArrayLike | None,
    velocity: ArrayLike | None,
    angular_velocity: ArrayLike | None,
    modal: ArrayLike | None,
    modal_rate: ArrayLike | None,
    masses: Mapping[str, float] | None,
    points: Mapping[str, float] | None,
    contacts: Mapping[str, ShapeOrShapes] | None,
    damping: Any,
    geometric: str,
    name: str,
    space: Space,
) -> FlexibleBody:
    """Check the words of a flexible body."""
    thing = f"flexible body {name!r}"
    if not isinstance(what, Beam | Modes):
        raise InputError(f"{thing}: is {short(what)}, must be a Beam or Modes")
    if geometric == "linear":
        raise InputError(
            f"{thing}: geometric is 'linear', is not part of this version, must be one of {_or(GEOMETRIC)}"
        )
    if geometric not in GEOMETRIC:
        raise InputError(f"{thing}: geometric is {short(geometric)}, must be one of {_or(GEOMETRIC)}")
    named = _points(thing, what, points)
    body = FlexibleBody(
        name=name,
        what=what,
        position=space.vector(position, f"{thing}: position"),
        orientation=space.orientation(orientation, f"{thing}: orientation"),
        velocity=space.vector(velocity, f"{thing}: velocity"),
        angular_velocity=space.moment(angular_velocity, f"{thing}: angular_velocity"),
        modal=np.zeros(0),
        modal_rate=np.zeros(0),
        masses={
            point: checked_number(mass, f"{thing}: mass at {point!r}", above=0.0)
            for point, mass in _at_points(thing, "masses", masses, named).items()
        },
        points=named,
        contacts={
            point: placed_shapes(shape, f"{thing}: contact at {point!r}", planar=space.planar)
            for point, shape in _at_points(thing, "contacts", contacts, named).items()
        },
        damping=damping,
        geometric=geometric,
        planar=space.planar,
    )
    made, _, _ = body.made()
    count = made.mode_count
    start = [
        np.zeros(count) if value is None else checked(value, (count,), f"{thing}: {word}")
        for word, value in (("modal", modal), ("modal_rate", modal_rate))
    ]
    body = replace(body, modal=start[0], modal_rate=start[1])
    _refuse_singular(thing, made)
    return body


# --- parts -------------------------------------------------------------------


def _or(words: Sequence[str]) -> str:
    return " or ".join(map(repr, words))


def _points(thing: str, what: Beam | Modes, points: Mapping[str, float] | None) -> dict[str, float]:
    """Return distances along a beam, its ends too, or numbers of nodes."""
    given = {} if points is None else points
    if not isinstance(given, Mapping):
        raise InputError(f"{thing}: points is {short(points)}, must be a mapping from names to places")
    named: dict[str, float] = {"start": 0.0, "end": what.length} if isinstance(what, Beam) else {}
    for name, place in given.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{thing}: a point is called {short(name)}, must be a string that is not empty")
        where = f"{thing}: point {name!r}"
        if isinstance(what, Beam):
            if name in ("start", "end") and place != named[name]:
                raise InputError(f"{where} is {short(place)}, must be {named[name]:g}: the ends have these names")
            named[name] = checked_number(place, where, least=0.0, most=what.length)
        else:
            count = int(np.size(what.mass))
            if isinstance(place, bool) or not isinstance(place, int | np.integer) or not 0 <= place < count:
                raise InputError(f"{where} is {short(place)}, must be the number of a node, 0 to {count - 1}")
            named[name] = int(place)
    return named


def _at_points(thing: str, word: str, given: Any, named: Mapping[str, float]) -> dict[str, Any]:
    """Return what stands at points, each of them known."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{thing}: {word} is {short(given)}, must be a mapping from names of points")
    for point in given:
        if point not in named:
            hint = suggestion(point, named) if isinstance(point, str) else ""
            raise InputError(f"{thing}: {word}: no point is called {short(point)}{hint}")
    return dict(given)


def _section(thing: str, beam: Beam, *, planar: bool) -> tuple[Section, Shapes]:
    """Return what a beam is made of and its modes, as the scene is planar or not."""
    if planar and isinstance(beam.I, tuple):
        raise InputError(f"{thing}: I is {beam.I}, must be a number in a planar scene")
    if not planar and not isinstance(beam.I, tuple):
        raise InputError(f"{thing}: I is {beam.I:g}, must be a pair in space, for bending along y and along z")
    words = ("axial", "bending") if planar else ("axial", "bending_y", "bending_z")
    moments = beam.I if isinstance(beam.I, tuple) else (beam.I, beam.I)
    section = Section(beam.length, beam.E, moments, beam.A, beam.density)
    if beam.shapes is None:
        assert beam.modes is not None
        return section, Shapes.natural(*beam.modes, planar=planar)
    for key in beam.shapes:
        if key not in words:
            hint = suggestion(key, words) if isinstance(key, str) else ""
            raise InputError(f"{thing}: unknown direction of shapes {short(key)}{hint}, must be one of {_or(words)}")
    return section, Shapes(*(beam.shapes.get(word, ()) for word in words))


def _line(section: Section, shapes: Shapes, *, foreshortening: bool) -> Line:
    modes: list[tuple[int, Polynomial]] = shapes.polynomials()
    width = max([1, *(S.coef.size for _, S in modes)])
    table = np.array([np.append(S.coef, np.zeros(width - S.coef.size)) for _, S in modes]).reshape(-1, width)
    return Line(section.length, np.array([axis for axis, _ in modes], dtype=np.int64), table, foreshortening)


def _nodes(thing: str, modes: Modes, *, planar: bool, second: bool) -> tuple[Points, Array, Array]:
    """Return the nodes in their 3D form, their masses and the stiffness."""
    mass = checked(modes.mass, (None,), f"{thing}: mass")
    n, dim = mass.size, 2 if planar else 3
    if n == 0 or (mass < 0.0).any() or not mass.sum() > 0.0:
        raise InputError(f"{thing}: mass is {short(mass.tolist())}, must be >= 0 at nodes and > 0 together")
    stiffness = _symmetric(thing, "stiffness", modes.stiffness, None)
    nu = stiffness.shape[0]
    place, Phi, Psi, Chi = np.zeros((n, 3)), np.zeros((n, 3, nu)), np.zeros((n, 3, nu)), np.zeros((n, 3, nu, nu))
    place[:, :dim] = checked(modes.position, (n, dim), f"{thing}: position of nodes")
    Phi[:, :dim] = checked(modes.shapes, (n, dim, nu), f"{thing}: shapes")
    if modes.rotations is not None and planar:
        Psi[:, 2] = checked(modes.rotations, (n, nu), f"{thing}: rotations (planar scene)")
    elif modes.rotations is not None:
        Psi[:] = checked(modes.rotations, (n, 3, nu), f"{thing}: rotations")
    if modes.second_order is not None:
        given = checked(modes.second_order, (n, dim, nu, nu), f"{thing}: second_order")
        if np.abs(given - np.swapaxes(given, 2, 3)).max(initial=0.0) > _INDEFINITE * np.abs(given).max(initial=0.0):
            raise InputError(f"{thing}: second_order must be symmetric in the modes")
        Chi[:, :dim] = given if second else 0.0
    size = float(np.abs(place).max(initial=0.0))
    for k in np.flatnonzero(np.linalg.norm(place, axis=1) <= _MEETS * size):
        if Phi[k].any() or Psi[k].any() or Chi[k].any():
            raise InputError(f"{thing}: node {k} at the frame moves by the modes, must be clamped there")
    return Points(place, Phi, Psi, Chi), mass, stiffness


def _symmetric(thing: str, word: str, value: Any, count: int | None) -> Array:
    """Return a symmetric matrix without negative eigenvalues."""
    K = checked(value, (count, count), f"{thing}: {word}")
    if K.shape[0] != K.shape[1]:
        raise InputError(f"{thing}: {word} has shape {K.shape}, must be square")
    largest = float(np.abs(K).max(initial=0.0))
    if np.abs(K - K.T).max(initial=0.0) > _INDEFINITE * largest:
        raise InputError(f"{thing}: {word} is {short(K.tolist())}, must be symmetric")
    K = 0.5 * (K + K.T)
    least = float(np.linalg.eigvalsh(K).min(initial=0.0))
    if least < -_INDEFINITE * largest:
        raise InputError(f"{thing}: {word} has the eigenvalue {least:.3g}, must have none below 0")
    return K


def _damping(thing: str, given: Any, body: Flexible) -> Array:
    """Return the matrix C of modal damping from a matrix, from ratios of the modes, or from Rayleigh's a and b."""
    K, nu = body.stiffness, body.mode_count
    if given is None:
        return np.zeros((nu, nu))
    Phi = body.points.Phi
    M = np.einsum("n,nik,nil->kl", body.mass, Phi, Phi)
    if isinstance(given, Mapping):
        if set(given) != {"rayleigh"}:
            raise InputError(f"{thing}: damping is {short(given)}, must be a matrix, ratios or {{'rayleigh': (a, b)}}")
        a, b = checked(given["rayleigh"], (2,), f"{thing}: damping: rayleigh")
        return _symmetric(thing, "damping", a * M + b * K, nu)
    if np.ndim(given) < 2:
        ratios = np.full(nu, checked_number(given, f"{thing}: damping")) if np.ndim(given) == 0 else given
        ratio = checked(ratios, (nu,), f"{thing}: damping")
        if (ratio < 0.0).any():
            raise InputError(f"{thing}: damping is {short(ratio.tolist())}, must be >= 0")
        return np.diag(2.0 * ratio * np.sqrt(np.diag(K) * np.diag(M)))
    return _symmetric(thing, "damping", given, nu)


def _refuse_singular(thing: str, body: Flexible) -> None:
    """Refuse bodies some motion of which meets no inertia: nodes on a line in space, modes that depend on others."""
    points, m = body.points, body.mass
    n = 6 + body.mode_count
    T = np.zeros((m.size, 3, n))
    for k, (x, y, z) in enumerate(points.place):
        T[k, :, :3] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    T[:, :, 3:6], T[:, :, 6:] = np.eye(3), points.Phi
    Gamma = np.einsum("n,nik,nil->kl", m, T, T)
    Gamma[:3, :3] += body.turning
    own = np.sqrt(np.diag(Gamma))
    if not (own > 0.0).all() or float(np.linalg.eigvalsh(Gamma / np.outer(own, own)).min()) < _SINGULAR:
        raise InputError(
            f"{thing}: its inertia is singular, must have masses that resist every turn and every mode: no mode that "
            "depends on others, no nodes on one line in space"
        )
