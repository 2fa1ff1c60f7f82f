"""What the user writes: bodies, fixed bodies, contact data and loads, by name.

A scene checks everything once, at the door. :func:`signorini.scene.compile.compile_scene` turns it into arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_flag, checked_number
from signorini.errors import InputError
from signorini.model import Motion, State
from signorini.scene.joint import (
    AddedConstraint,
    Joint,
    JointMotion,
    LoadFriction,
    check_kind,
    make_constraint,
    make_joint,
)
from signorini.scene.shape import PlacedShape, Shape, combine

ShapeOrShapes = Shape | PlacedShape | Sequence[Shape | PlacedShape]
Load = ArrayLike | Callable[[float, State], Any]


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body as the user placed it; vectors are kept in their 3D form."""

    name: str
    shapes: tuple[PlacedShape, ...]
    mass: float
    """[kg]"""
    inertia: Array
    """About the mass centre in body axes, (3, 3) [kg m^2]."""
    mass_centre: Array
    """In the body frame, (3,) [m]."""
    position: Array
    """Of the body frame's origin, (3,) [m]."""
    orientation: Array
    """Quaternion (w, x, y, z) body to world, (4,)."""
    velocity: Array
    """Of the mass centre, (3,) [m/s]."""
    angular_velocity: Array
    """In world axes, (3,) [rad/s]."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A body that does not move, or moves as prescribed."""

    name: str
    shapes: tuple[PlacedShape, ...]
    position: Array
    orientation: Array
    motion: Motion | None


@dataclass(frozen=True, slots=True)
class ContactData:
    """The law of one pair of bodies, or of all pairs."""

    friction: float = 0.0
    restitution: float = 0.0
    torsional: float = 0.0
    rolling: float = 0.0
    ellipsoid: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class AddedForce:
    """A load on a body as the user gave it, constants in their 3D form."""

    body: str
    force: Array | Callable[[float, State], Any] | None
    torque: Array | Callable[[float, State], Any] | None
    at: Array | None


class Scene:
    """Bodies under gravity that may touch.

    Parameters
    ----------
    gravity : sequence of float, optional
        Acceleration of gravity [m/s^2]; default ``(0, 0, -9.81)``, in the plane ``(0, -9.81)``.
    planar : bool
        The scene lives in the x-y plane: positions, velocities and gravity are 2-vectors, orientations angles,
        angular velocities and inertias scalars.

    Examples
    --------
    >>> import signorini as sg
    >>> scene = sg.Scene(gravity=(0, 0, -9.81))
    >>> scene.add_fixed(sg.HalfSpace(), name="floor").name
    'floor'
    >>> scene.add_body(sg.Sphere(radius=1.0), mass=1.0, position=(0, 0, 1)).mass
    1.0
    """

    def __init__(self, *, gravity: ArrayLike | None = None, planar: bool = False) -> None:
        self.planar = checked_flag(planar, "scene: planar")
        if gravity is None:
            gravity = (0.0, -9.81) if planar else (0.0, 0.0, -9.81)
        self.gravity = self._vector(gravity, "scene: gravity")
        self.bodies: dict[str, Body] = {}
        self.fixed: dict[str, Fixed] = {}
        self.contact = ContactData()
        self.pair_contact: dict[tuple[str, str], ContactData] = {}
        self.excluded: set[tuple[str, str]] = set()
        self.forces: list[AddedForce] = []
        self.joints: dict[str, Joint] = {}
        self.constraints: list[AddedConstraint] = []
        self.simulate: dict[str, Any] = {}
        """The ``simulate`` block of the scene file, for the command line."""

    # --- building ------------------------------------------------------------

    def add_body(
        self,
        shape: ShapeOrShapes,
        *,
        mass: float | None = None,
        density: float | None = None,
        inertia: ArrayLike | None = None,
        mass_centre: ArrayLike | None = None,
        position: ArrayLike,
        orientation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        name: str | None = None,
    ) -> Body:
        """Add a rigid body; mass properties follow from its shapes unless given.

        Parameters
        ----------
        shape : shape, placed shape, or a sequence of them
        mass : float, optional
            [kg]; give either `mass` or `density`, or neither for a density of 1000 kg/m^3 (1000 kg/m^2 in the plane).
        density : float, optional
            [kg/m^3], in the plane [kg/m^2].
        inertia : array_like, optional
            About the mass centre in body axes: (3, 3), or 3 principal values, a scalar in the plane [kg m^2].
        mass_centre : array_like, optional
            In the body frame [m]; default that of the shapes.
        position : array_like
            Of the body frame's origin [m].
        orientation : array_like, optional
            Unit quaternion (w, x, y, z), body to world; an angle in the plane [rad].
        velocity, angular_velocity : array_like, optional
            Of the mass centre [m/s], and in world axes [rad/s].
        name : str, optional
            Unique; generated if not given.
        """
        name = self._new_name(name, "body")
        what = f"body {name!r}"
        shapes = self._placed(shape, what)
        total, inertia, centre = self._mass_properties(what, shapes, mass, density, inertia, mass_centre)
        body = Body(
            name=name,
            shapes=shapes,
            mass=total,
            inertia=inertia,
            mass_centre=centre,
            position=self._vector(position, f"{what}: position"),
            orientation=self._orientation(orientation, f"{what}: orientation"),
            velocity=self._vector(velocity, f"{what}: velocity"),
            angular_velocity=self._moment(angular_velocity, f"{what}: angular_velocity"),
        )
        self.bodies[name] = body
        return body

    def add_fixed(
        self,
        shape: ShapeOrShapes,
        *,
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        motion: Motion | None = None,
        name: str | None = None,
    ) -> Fixed:
        """Add a body that rests, or moves as ``motion(t)`` says.

        `motion` returns a position, or a pair (position, orientation), at time t; velocities follow by differentiation,
        so it must be defined a little before the start of the simulation too.
        """
        name = self._new_name(name, "fixed")
        what = f"fixed body {name!r}"
        if motion is not None:
            if position is not None or orientation is not None:
                raise InputError(f"{what}: give either motion or position and orientation, not both")
            if not callable(motion):
                raise InputError(f"{what}: motion is {motion!r}, must be a function of time")
            pose = self.pose(motion(0.0), f"{what}: motion(0)")
            place, turn = pose[:3], pose[3:]
        else:
            place = self._vector(position, f"{what}: position")
            turn = self._orientation(orientation, f"{what}: orientation")
        fixed = Fixed(name, self._placed(shape, what), place, turn, motion)
        self.fixed[name] = fixed
        return fixed

    def set_contact(
        self,
        *,
        friction: float,
        restitution: float = 0.0,
        torsional: float = 0.0,
        rolling: float = 0.0,
        ellipsoid: ArrayLike | None = None,
        between: tuple[str | Body | Fixed, str | Body | Fixed] | None = None,
    ) -> None:
        """Set the contact law of every pair of bodies, or of the pair `between`.

        Parameters
        ----------
        friction : float
            Coulomb's coefficient; without any `set_contact` contacts are frictionless.
        restitution : float
            Newton's coefficient, 0 to 1.
        torsional, rolling : float
            Radii of torsional and rolling friction [m]: couples up to this times the normal force.
        ellipsoid : (e_t, e_o, e_r), optional
            Half axes of ellipsoidal friction along the contact's tangents t and o, e_r [m] about its normal:
            ``(f_t/e_t)^2 + (f_o/e_o)^2 + (torque/e_r)^2 <= (friction * normal force)^2``. Not in the plane.
        between : pair of names or bodies, optional
        """
        what = "contact" if between is None else f"contact between {self._pair(between)}"
        data = ContactData(
            friction=checked_number(friction, f"{what}: friction", least=0.0),
            restitution=checked_number(restitution, f"{what}: restitution", least=0.0, most=1.0),
            torsional=checked_number(torsional, f"{what}: torsional", least=0.0),
            rolling=checked_number(rolling, f"{what}: rolling", least=0.0),
            ellipsoid=self._ellipsoid(ellipsoid, f"{what}: ellipsoid"),
        )
        if data.ellipsoid is not None and data.torsional > 0.0:
            raise InputError(f"{what}: torsional is {data.torsional:g}, must be 0 with an ellipsoid, which has e_r")
        if self.planar and data.torsional > 0.0:
            raise InputError(f"{what}: torsional is {data.torsional:g}, must be 0 in a planar scene")
        if between is None:
            self.contact = data
        else:
            self.pair_contact[self._pair(between)] = data

    def exclude(self, a: str | Body | Fixed, b: str | Body | Fixed) -> None:
        """Let bodies `a` and `b` pass through each other."""
        self.excluded.add(self._pair((a, b)))

    def add_force(
        self,
        body: str | Body,
        *,
        force: Load | None = None,
        torque: Load | None = None,
        at: ArrayLike | None = None,
    ) -> None:
        """Load a body with a force and a torque in world axes, constants or functions of (t, state).

        `at` is the point of attack in the body frame [m]; default the mass centre.
        """
        name = self._name(body)
        if name not in self.bodies:
            raise InputError(f"force: {name!r} is a fixed body, must be a body that can move")
        what = f"force on {name!r}"
        if force is None and torque is None:
            raise InputError(f"{what}: give force or torque")
        self.forces.append(
            AddedForce(
                name,
                force if force is None or callable(force) else self._vector(force, f"{what}: force"),
                torque if torque is None or callable(torque) else self._moment(torque, f"{what}: torque"),
                None if at is None else self._vector(at, f"{what}: at"),
            )
        )

    # --- joints --------------------------------------------------------------

    def add_joint(
        self,
        kind: str,
        body_a: str | Body | Fixed | None,
        body_b: str | Body | Fixed | None,
        *,
        anchor: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        ratio: float | None = None,
        friction: float | LoadFriction = 0.0,
        motion: JointMotion | None = None,
        limits: Sequence[float] | None = None,
        spring: float | Sequence[float] | None = None,
        damping: float | None = None,
        effort_limit: float | None = None,
        name: str | None = None,
    ) -> Joint:
        """Join two bodies, or a body and the world (None).

        Bodies that are joined do not touch each other unless ``set_contact(between=...)`` gives them a law; those of
        distance joints and gears do. The coordinate of a joint is zero at the initial pose: the angle of body b
        against a about the axis, its displacement along it, or the change of the distance.

        Parameters
        ----------
        kind : str
            ``fixed, revolute, prismatic, cylindrical, spherical, universal`` (axis = two axes at a right angle, the
            first on a), ``planar`` (axis = normal), ``distance`` (anchor = two points, on a and on b) or ``gear``
            (axis = two axes, `ratio`; needs no anchor). In a planar scene ``fixed, revolute, prismatic, distance,
            gear``.
        body_a, body_b : body, name, or None for the world
        anchor, axis : array_like
            In world coordinates at the initial pose [m].
        ratio : float
            Turns of b for each turn of a, each about its own axis; negative if they turn against each other.
        friction : float or ("load", coefficient, radius)
            Limit of dry friction [N, N m] of a revolute or prismatic joint, or one that follows the joint's reaction:
            ``coefficient * radius * |force|`` of a revolute joint, ``coefficient * (|force| + |moment| / radius)`` of
            a prismatic one.
        motion : function of time
            Prescribed coordinate.
        limits : (least, largest)
            Range of the coordinate; its ends are stops without rebound.
        spring : stiffness, or (stiffness, relaxed coordinate)
            [N/m, N m/rad]
        damping : float
            [N s/m, N m s/rad]
        effort_limit : float
            Largest force or torque with which `motion` is pursued [N, N m].
        name : str, optional
            Unique among joints; generated if not given.
        """
        name = self._joint_name(name)
        what = f"joint {name!r}"
        check_kind(what, kind, self.planar)
        a, b = self._joined(body_a, body_b, what)
        joint = make_joint(
            what,
            kind,
            a,
            b,
            planar=self.planar,
            anchor=self._anchors(kind, anchor, what),
            axis=None if axis is None else self._axes(axis, what),
            ratio=ratio,
            friction=friction,
            motion=motion,
            limits=limits,
            spring=spring,
            damping=damping,
            effort_limit=effort_limit,
            name=name,
        )
        self.joints[name] = joint
        return joint

    def add_spring(
        self,
        body_a: str | Body | Fixed | None,
        body_b: str | Body | Fixed | None,
        *,
        anchor: ArrayLike,
        stiffness: float,
        damping: float = 0.0,
        length: float | None = None,
        name: str | None = None,
    ) -> Joint:
        """Connect two points by a spring and damper, taken implicitly: stable however stiff.

        Parameters
        ----------
        anchor : (2, 3) array_like
            Points on a and on b, world coordinates at the initial pose [m].
        stiffness, damping : float
            [N/m], [N s/m]
        length : float, optional
            Of the relaxed spring [m]; default the initial distance.
        """
        name = self._joint_name(name)
        what = f"spring {name!r}"
        a, b = self._joined(body_a, body_b, what)
        points = self._anchors("spring", anchor, what)
        distance = float(np.linalg.norm(points[1] - points[0]))
        rest = distance if length is None else checked_number(length, f"{what}: length", least=0.0)
        spring = make_joint(
            what,
            "spring",
            a,
            b,
            planar=self.planar,
            anchor=points,
            axis=None,
            ratio=None,
            friction=0.0,
            motion=None,
            limits=None,
            spring=(checked_number(stiffness, f"{what}: stiffness", least=0.0), rest - distance),
            damping=damping,
            effort_limit=None,
            name=name,
        )
        self.joints[name] = spring
        return spring

    def add_constraint(
        self,
        psi: Callable[[Array, float], Any],
        bodies: Sequence[str | Body | Fixed],
        *,
        kind: str = "equality",
        jacobian: Callable[[Array, float], Any] | None = None,
        name: str | None = None,
    ) -> AddedConstraint:
        """Demand ``psi(q, t) = 0``, or ``>= 0``, of the stacked poses q of some bodies.

        Parameters
        ----------
        psi : function of (q, t)
            q holds 7 numbers for each body (position and quaternion of its frame), in the plane 3 (x, y, angle); the
            value is a number or a vector.
        bodies : sequence of bodies or names
        kind : "equality" or "inequality"
        jacobian : function of (q, t), optional
            Derivatives of psi with respect to q, (k, 7 n) or (k, 3 n); checked against differences of psi, which are
            taken otherwise.
        """
        name = f"constraint {name!r}" if name is not None else f"constraint {len(self.constraints) + 1}"
        names = tuple(self._name(body) for body in bodies)
        if not any(body in self.bodies for body in names):
            raise InputError(f"{name}: bodies are {list(names)}, at least one must be a body that can move")
        every: list[Body | Fixed] = [self.bodies[b] if b in self.bodies else self.fixed[b] for b in names]
        poses = [
            [*body.position[:2], 2.0 * np.arctan2(body.orientation[3], body.orientation[0])]
            if self.planar
            else [*body.position, *body.orientation]
            for body in every
        ]
        made = make_constraint(name, psi, names, np.array(poses).reshape(-1), kind, jacobian, planar=self.planar)
        self.constraints.append(made)
        return made

    def _joint_name(self, name: str | None) -> str:
        if name is None:
            count = len(self.joints) + 1
            while f"joint{count}" in self.joints:
                count += 1
            return f"joint{count}"
        if not isinstance(name, str) or not name:
            raise InputError(f"name is {name!r}, must be a string that is not empty")
        if name in self.joints:
            raise InputError(f"joint name {name!r} is already taken, must be unique")
        return name

    def _joined(
        self, body_a: str | Body | Fixed | None, body_b: str | Body | Fixed | None, what: str
    ) -> tuple[str | None, str]:
        """Return the names of two joined bodies, the world being None."""
        a, b = (None if body is None else self._name(body) for body in (body_a, body_b))
        if b is None:
            raise InputError(f"{what}: body_b is None, must be a body; the world comes first, as body_a")
        if a == b:
            raise InputError(f"{what}: joins {a!r} to itself, must be two different bodies")
        if a not in self.bodies and b not in self.bodies:
            raise InputError(f"{what}: joins {a!r} and {b!r}, at least one must be a body that can move")
        return a, b

    def _anchors(self, kind: str, anchor: ArrayLike | None, what: str) -> Array:
        """Return the anchors on a and b in space, (2, 3)."""
        if kind == "gear":
            return np.zeros((2, 3))
        if anchor is None:
            raise InputError(f"{what}: anchor is missing, must be given for a {kind} joint")
        if kind in ("distance", "spring"):
            points = _array_or_none(anchor)
            if points is None or points.ndim != 2 or len(points) != 2:
                raise InputError(f"{what}: anchor is {anchor!r}, must be two points for a {kind} joint")
            return np.array([self._vector(point, f"{what}: anchor") for point in points])
        return np.tile(self._vector(anchor, f"{what}: anchor"), (2, 1))

    def _axes(self, axis: ArrayLike, what: str) -> Array:
        """Return one or two axes in space, (n, 3); in the plane they have two components, or three if normal to it."""
        given = _array_or_none(axis)
        if given is None or given.ndim not in (1, 2):
            raise InputError(f"{what}: axis is {axis!r}, must be one vector or two")
        several = np.atleast_2d(given)
        return np.array(
            [
                checked(one, (3,), f"{what}: axis") if one.size == 3 else self._vector(one, f"{what}: axis")
                for one in several
            ]
        )

    # --- files ---------------------------------------------------------------

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scene:
        """Read a scene from a YAML file; data only, a scene file never runs code."""
        from signorini.scene.files import load_scene

        return load_scene(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scene as YAML; scenes with functions (motions, forces) cannot be saved."""
        from signorini.scene.files import save_scene

        save_scene(self, path)

    # --- checks at the door --------------------------------------------------

    def pose(self, value: Any, what: str) -> Array:
        """Return a pose (position, or position with orientation) as 7 numbers."""
        pair = isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1
        position, orientation = value if pair else (value, None)
        return np.concatenate([self._vector(position, what), self._orientation(orientation, what)])

    def _vector(self, value: ArrayLike | None, what: str) -> Array:
        """Return a 3-vector, lifted from the plane in a planar scene; None is the zero vector."""
        if value is None:
            return np.zeros(3)
        if self.planar:
            return np.append(checked(value, (2,), f"{what} (planar scene)"), 0.0)
        return checked(value, (3,), what)

    def _moment(self, value: ArrayLike | None, what: str) -> Array:
        """Return an axial 3-vector, a scalar about z in a planar scene; None is the zero vector."""
        if value is None:
            return np.zeros(3)
        if self.planar:
            return np.array([0.0, 0.0, float(checked(value, (), f"{what} (planar scene)"))])
        return checked(value, (3,), what)

    def _orientation(self, value: ArrayLike | None, what: str) -> Array:
        if value is None:
            return np.array([1.0, 0.0, 0.0, 0.0])
        if self.planar:
            half = 0.5 * float(checked(value, (), f"{what} (planar scene)"))
            return np.array([np.cos(half), 0.0, 0.0, np.sin(half)])
        e = checked(value, (4,), what)
        norm = float(np.linalg.norm(e))
        if abs(norm - 1.0) > 1e-3:  # typed digits may be few; anything worse is a mistake
            raise InputError(f"{what} is {e.tolist()} with norm {norm:.6g}, must be a unit quaternion (w, x, y, z)")
        return e / norm

    def _ellipsoid(self, value: ArrayLike | None, what: str) -> tuple[float, float, float] | None:
        if value is None:
            return None
        e = checked(value, (3,), what)
        if self.planar or e.min() <= 0.0:
            raise InputError(f"{what} is {e.tolist()}, must be three positive half axes, and none in a planar scene")
        return (float(e[0]), float(e[1]), float(e[2]))

    def _placed(self, shape: ShapeOrShapes, what: str) -> tuple[PlacedShape, ...]:
        shapes = [shape] if isinstance(shape, Shape | PlacedShape) else list(shape)
        if not shapes:
            raise InputError(f"{what}: has no shape, must have at least one")
        for s in shapes:
            if not isinstance(s, Shape | PlacedShape):
                raise InputError(f"{what}: {s!r} is not a shape")
        placed = tuple(s if isinstance(s, PlacedShape) else s.at() for s in shapes)
        for p in placed:
            kind = type(p.shape).__name__
            if self.planar and not p.shape.planar:
                raise InputError(f"{what}: {kind} is a spatial shape, must be planar in a planar scene")
            if not self.planar and not p.shape.spatial:
                raise InputError(f"{what}: {kind} is a planar shape, must be spatial; or use Scene(planar=True)")
        return placed

    def _mass_properties(
        self,
        what: str,
        shapes: tuple[PlacedShape, ...],
        mass: float | None,
        density: float | None,
        inertia: ArrayLike | None,
        mass_centre: ArrayLike | None,
    ) -> tuple[float, Array, Array]:
        """Return mass, inertia (3, 3) and mass centre (3,) from what was given and from the shapes."""
        if mass is not None and density is not None:
            raise InputError(f"{what}: give either mass or density, not both")
        if mass is not None:
            mass = checked_number(mass, f"{what}: mass", above=0.0)
        if density is not None:
            density = checked_number(density, f"{what}: density", above=0.0)
        if mass is not None and inertia is not None and mass_centre is not None:
            I, centre = inertia, self._vector(mass_centre, f"{what}: mass_centre")
        else:
            shaped = combine(shapes, 1000.0 if density is None else density, what)
            if mass is None:
                mass = shaped.mass
            centre = shaped.centre if mass_centre is None else self._vector(mass_centre, f"{what}: mass_centre")
            I = shaped.inertia * (mass / shaped.mass) if inertia is None else inertia
            if inertia is None and mass_centre is not None:
                raise InputError(f"{what}: mass_centre is given without inertia, must be given together")
        return mass, self._inertia(I, f"{what}: inertia"), centre

    def _inertia(self, value: ArrayLike, what: str) -> Array:
        if np.ndim(value) == 0:
            if not self.planar:
                raise InputError(f"{what} is {value!r}, must be a (3, 3) array or 3 principal values")
            return checked_number(value, what, above=0.0) * np.eye(3)
        I = np.diag(checked(value, (3,), what)) if np.ndim(value) == 1 else checked(value, (3, 3), what)
        if np.abs(I - I.T).max() > 1e-9 * np.abs(I).max():
            raise InputError(f"{what} is {I.tolist()}, must be symmetric")
        moments = np.linalg.eigvalsh(I)
        if moments[0] <= 0.0:
            raise InputError(f"{what} has principal moments {moments.tolist()}, must be positive definite")
        # A flat body reaches equality, so rounding of typed digits must pass.
        if not self.planar and moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-6):
            raise InputError(f"{what} has principal moments {moments.tolist()}, none may exceed the sum of the others")
        return 0.5 * (I + I.T)

    # --- names ---------------------------------------------------------------

    def _new_name(self, name: str | None, stem: str) -> str:
        if name is None:
            count = len(self.bodies) + len(self.fixed) + 1
            while f"{stem}{count}" in self.bodies or f"{stem}{count}" in self.fixed:
                count += 1
            return f"{stem}{count}"
        if not isinstance(name, str) or not name:
            raise InputError(f"name is {name!r}, must be a string that is not empty")
        if name in self.bodies or name in self.fixed:
            raise InputError(f"name {name!r} is already taken, must be unique")
        return name

    def _name(self, body: str | Body | Fixed) -> str:
        name = body.name if isinstance(body, Body | Fixed) else body
        if not isinstance(name, str) or (name not in self.bodies and name not in self.fixed):
            known = ", ".join(map(repr, [*self.fixed, *self.bodies]))
            raise InputError(f"no body is called {name!r}; there are {known or 'none yet'}")
        return name

    def _pair(self, pair: tuple[str | Body | Fixed, str | Body | Fixed]) -> tuple[str, str]:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"between is {pair!r}, must be a pair of names")
        a, b = sorted(self._name(body) for body in pair)
        if a == b:
            raise InputError(f"between is ({a!r}, {b!r}), must be two different bodies")
        return a, b


def _array_or_none(value: ArrayLike) -> Array | None:
    """Return `value` as an array of whatever shape, None if it is not made of numbers."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def words(data: ContactData) -> Mapping[str, Any]:
    """Return the contact data that differ from their defaults, and friction always."""
    default = ContactData()
    return {
        key: list(value) if isinstance(value := getattr(data, key), tuple) else value
        for key in data.__slots__
        if key == "friction" or getattr(data, key) != getattr(default, key)
    }
