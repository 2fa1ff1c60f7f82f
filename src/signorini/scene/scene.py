"""What the user writes: bodies, fixed bodies, contact data and loads, by name.

A scene checks everything once, at the door. :func:`signorini.scene.compile.compile_scene` turns it into arrays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from signorini._arrays import Array, checked, checked_flag, checked_number
from signorini.errors import InputError
from signorini.model import Layer, Motion, State, make_layer
from signorini.scene.body import Body, Fixed, ShapeOrShapes, mass_properties, placed_shapes
from signorini.scene.contact import ContactData, make_contact
from signorini.scene.flexible import Beam, FlexibleBody, Modes, make_flexible
from signorini.scene.joint import (
    AddedConstraint,
    Joint,
    JointMotion,
    LoadFriction,
    anchors_in_space,
    axes_in_space,
    check_kind,
    make_constraint,
    make_joint,
)
from signorini.scene.names import AnyBody, joined_names, name_of, new_name, pair_of
from signorini.scene.revision import Revision, counted
from signorini.scene.space import Space

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Load = ArrayLike | Callable[[float, State], Any]


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
        self.revision = Revision()
        """How often the scene was edited; a :class:`~signorini.Simulator` refuses one edited since it was made."""
        self.planar = checked_flag(planar, "scene: planar")
        self._space = Space(self.planar)
        if gravity is None:
            gravity = (0.0, -9.81) if planar else (0.0, 0.0, -9.81)
        self.gravity = self._space.vector(gravity, "scene: gravity")
        self.bodies: dict[str, Body] = counted({}, self.revision)
        self.fixed: dict[str, Fixed] = counted({}, self.revision)
        self.flexible: dict[str, FlexibleBody] = counted({}, self.revision)
        self.contact = ContactData()
        self.contact_given = False
        """Whether anything was said about contacts; frictionless ones may be meant, or forgotten."""
        self.pair_contact: dict[tuple[str, str], ContactData] = counted({}, self.revision)
        self.excluded: set[tuple[str, str]] = counted(set(), self.revision)
        self.layers: dict[str, Layer] = counted({}, self.revision)
        """Compliant layers by the names of their bodies."""
        self.forces: list[AddedForce] = counted([], self.revision)
        self.joints: dict[str, Joint] = counted({}, self.revision)
        self.constraints: list[AddedConstraint] = counted([], self.revision)
        self.simulate: dict[str, Any] = {}
        """The ``simulate`` block of the scene file, for the command line."""

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name != "simulate":  # which says nothing of the scene itself
            self.revision.count += 1

    def seal(self) -> None:
        """Make the arrays of bodies, joints and loads read-only, so that none is changed in place unnoticed."""
        parts: tuple[Any, ...] = (
            *self.bodies.values(),
            *self.fixed.values(),
            *self.flexible.values(),
            *self.joints.values(),
            *self.forces,
        )
        for array in (self.gravity, *(getattr(part, name) for part in parts for name in part.__slots__)):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

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
        name = new_name(name, "body", *self._known)
        what = f"body {name!r}"
        shapes = placed_shapes(shape, what, planar=self.planar)
        total, inertia, centre = mass_properties(what, shapes, mass, density, inertia, mass_centre, self._space)
        body = Body(
            name=name,
            shapes=shapes,
            mass=total,
            inertia=inertia,
            mass_centre=centre,
            position=self._space.vector(position, f"{what}: position"),
            orientation=self._space.orientation(orientation, f"{what}: orientation"),
            velocity=self._space.vector(velocity, f"{what}: velocity"),
            angular_velocity=self._space.moment(angular_velocity, f"{what}: angular_velocity"),
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
        name = new_name(name, "fixed", *self._known)
        what = f"fixed body {name!r}"
        if motion is not None:
            if position is not None or orientation is not None:
                raise InputError(f"{what}: give either motion or position and orientation, not both")
            if not callable(motion):
                raise InputError(f"{what}: motion is {motion!r}, must be a function of time")
            pose = self._space.pose(motion(0.0), f"{what}: motion(0)")
            place, turn = pose[:3], pose[3:]
        else:
            place = self._space.vector(position, f"{what}: position")
            turn = self._space.orientation(orientation, f"{what}: orientation")
        fixed = Fixed(name, placed_shapes(shape, what, planar=self.planar), place, turn, motion)
        self.fixed[name] = fixed
        return fixed

    def add_flexible(
        self,
        what: Beam | Modes,
        *,
        position: ArrayLike,
        orientation: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        modal: ArrayLike | None = None,
        modal_rate: ArrayLike | None = None,
        masses: Mapping[str, float] | None = None,
        points: Mapping[str, float] | None = None,
        contacts: Mapping[str, ShapeOrShapes] | None = None,
        damping: Any = None,
        geometric: str = "foreshortening",
        name: str | None = None,
    ) -> FlexibleBody:
        """Add a body that deforms by modes in a floating frame; :class:`~signorini.Recursive` knows such bodies.

        Every named point is called ``"body.point"`` by joints, contacts, loads and trajectories, like a body. A joint
        that names the flexible body itself attaches to the point at its anchor; a beam makes one there.

        Parameters
        ----------
        what : Beam or Modes
        position, orientation : array_like
            Of the frame [m]; a beam lies along its x from its origin.
        velocity, angular_velocity : array_like, optional
            Of the origin of the frame [m/s], and in world axes [rad/s].
        modal, modal_rate : (nu,) array_like, optional
            Modal coordinates and their rates at the start; default zero.
        masses : mapping, optional
            Point masses by the names of points [kg].
        points : mapping, optional
            Distances along a beam, which also has ``start`` and ``end`` [m]; numbers of nodes of `Modes`.
        contacts : mapping, optional
            Shapes, or lists of them, by the names of the points that they move and turn with.
        damping : optional
            Matrix (nu, nu), ratios of the modes (nu,) or one for all, or ``{"rayleigh": (a, b)}``.
        geometric : "foreshortening" or "none"
            Whether axial loads stiffen bending.
        name : str, optional
            Unique; generated if not given.
        """
        name = new_name(name, "flexible", *self._known)
        body = make_flexible(
            what,
            position=position,
            orientation=orientation,
            velocity=velocity,
            angular_velocity=angular_velocity,
            modal=modal,
            modal_rate=modal_rate,
            masses=masses,
            points=points,
            contacts=contacts,
            damping=damping,
            geometric=geometric,
            name=name,
            space=self._space,
        )
        for point in body.point_names:
            new_name(point, "", *self._known)
        self.flexible[name] = body
        return body

    def set_contact(
        self,
        *,
        friction: float,
        restitution: float = 0.0,
        torsional: float = 0.0,
        rolling: float = 0.0,
        ellipsoid: ArrayLike | None = None,
        between: tuple[AnyBody, AnyBody] | None = None,
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
        data = make_contact(
            what,
            planar=self.planar,
            friction=friction,
            restitution=restitution,
            torsional=torsional,
            rolling=rolling,
            ellipsoid=ellipsoid,
        )
        self.contact_given = True
        if between is None:
            self.contact = data
        else:
            self.pair_contact[self._pair(between)] = data

    def set_layer(
        self,
        body: AnyBody,
        *,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike = 0.0,
        max_deflection: float = float("inf"),
        law: Any = None,
    ) -> None:
        """Cover a body, also a fixed one, with a compliant layer above a rigid core; :class:`~signorini.QuasiRigid`
        knows layers.

        Parameters
        ----------
        body : name or body
        stiffness, damping : array_like
            [N/m], [N s/m]: a number for all directions, three values along the normal and both tangents (n, t, o) of
            the contact, or a symmetric matrix (3, 3); in the plane two values (n, t), or (2, 2).
        max_deflection : float
            Thickness of the layer [m]: 0 is rigid, inf has no core.
        law : HuntCrossley, optional
            Another law instead of stiffness and damping.
        """
        name = name_of(body, self.fixed, self.bodies)
        self.layers[name] = make_layer(
            f"layer of {name!r}",
            planar=self.planar,
            stiffness=stiffness,
            damping=damping,
            max_deflection=max_deflection,
            law=law,
        )

    def exclude(self, a: AnyBody, b: AnyBody) -> None:
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
        if name in self.fixed:
            raise InputError(f"force: {name!r} is a fixed body, must be a body that can move")
        what = f"force on {name!r}"
        if force is None and torque is None:
            raise InputError(f"{what}: give force or torque")
        self.forces.append(
            AddedForce(
                name,
                force if force is None or callable(force) else self._space.vector(force, f"{what}: force"),
                torque if torque is None or callable(torque) else self._space.moment(torque, f"{what}: torque"),
                None if at is None else self._space.vector(at, f"{what}: at"),
            )
        )

    # --- joints --------------------------------------------------------------

    def add_joint(
        self,
        kind: str,
        body_a: AnyBody | None,
        body_b: AnyBody | None,
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
        motion : function of time, or three of them
            Prescribed coordinate [m, rad], or (coordinate, rate, acceleration); rates that are not given are found by
            differences.
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
        name = new_name(name, "joint", self.joints, what="joint name")
        what = f"joint {name!r}"
        check_kind(what, kind, self.planar)
        a, b = self._joined(body_a, body_b, what)
        anchors = anchors_in_space(kind, anchor, what, self._space)
        a, b, grown = (a, b, {}) if kind == "gear" else self._attached(a, b, anchors, name)
        joint = make_joint(
            what,
            kind,
            a,
            b,
            planar=self.planar,
            anchor=anchors,
            axis=None if axis is None else axes_in_space(axis, what, self._space),
            ratio=ratio,
            friction=friction,
            motion=motion,
            limits=limits,
            spring=spring,
            damping=damping,
            effort_limit=effort_limit,
            name=name,
        )
        self.flexible.update(grown)
        self.joints[name] = joint
        return joint

    def add_spring(
        self,
        body_a: AnyBody | None,
        body_b: AnyBody | None,
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
        name = new_name(name, "joint", self.joints, what="joint name")
        what = f"spring {name!r}"
        a, b = self._joined(body_a, body_b, what)
        points = anchors_in_space("spring", anchor, what, self._space)
        a, b, grown = self._attached(a, b, points, name)
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
        self.flexible.update(grown)
        self.joints[name] = spring
        return spring

    def add_constraint(
        self,
        psi: Callable[[Array, float], Any],
        bodies: Sequence[AnyBody],
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
        names = tuple(name_of(body, self.fixed, self.bodies) for body in bodies)
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

    # --- files ---------------------------------------------------------------

    @staticmethod
    def load(path: str | os.PathLike[str], *, outside: bool = False) -> Scene:
        """Read a scene from a YAML file; data only, a scene file never runs code.

        Mesh files that it names must lie in its folder or below, unless `outside` is True.
        """
        from signorini.scene.files import load_scene

        return load_scene(path, outside=outside)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scene as YAML; scenes with functions (motions, forces) cannot be saved."""
        from signorini.scene.files import save_scene

        save_scene(self, path)

    # --- poses and names -----------------------------------------------------

    def pose(self, value: Any, what: str) -> Array:
        """Return a pose (position, or position with orientation) as 7 numbers."""
        return self._space.pose(value, what)

    def picture(self, *, view: ArrayLike | None = None, width: int = 840) -> Figure:
        """Draw the bodies where they are at the start, before anything is simulated; a matplotlib figure.

        Parameters
        ----------
        view : array_like, optional
            Direction from the scene to the camera, (3,); one from which much is seen if not given.
        width : int
            Pixels.
        """
        from signorini.scene.compile import compile_scene
        from signorini.scene.solids import solids
        from signorini.visual import plot_motion

        model = compile_scene(self)
        start = model.initial_state
        return plot_motion(
            solids(model),
            np.array([start.t]),
            start.q[None],
            model.fixed_count,
            planar=self.planar,
            width=width,
            view=None if view is None else checked(view, (3,), "picture: view"),
        )

    @property
    def _known(self) -> tuple[Mapping[str, object], ...]:
        """All names of bodies, and of points of flexible ones."""
        points = {point: body for body in self.flexible.values() for point in body.point_names}
        return self.fixed, self.bodies, self.flexible, points

    def _name(self, body: AnyBody) -> str:
        return name_of(body, *self._known)

    def _pair(self, pair: tuple[AnyBody, AnyBody]) -> tuple[str, str]:
        return pair_of(pair, *self._known)

    def _joined(self, body_a: AnyBody | None, body_b: AnyBody | None, what: str) -> tuple[str | None, str]:
        return joined_names(body_a, body_b, what, *self._known)

    def _attached(
        self, a: str | None, b: str, anchors: Array, joint: str
    ) -> tuple[str | None, str, dict[str, FlexibleBody]]:
        """Return the points at which a joint meets flexible bodies instead of these, and bodies that gained a point."""
        grown: dict[str, FlexibleBody] = {}
        ends = [a, b]
        for side, name in enumerate((a, b)):
            if name in self.flexible:
                grown[name], point = self.flexible[name].meeting(anchors[side], joint)
                if point not in self.flexible[name].point_names:
                    new_name(point, "", *self._known)
                ends[side] = point
        owners = [None if name is None else self._owner(name) for name in (a, b)]
        if owners[0] is not None and owners[0] == owners[1]:
            raise InputError(f"joint {joint!r}: joins {owners[0]!r} to itself, must be two different bodies")
        assert ends[1] is not None
        return ends[0], ends[1], grown

    def _owner(self, name: str) -> str | None:
        """Return the flexible body that this is, or that has this point; None if it is rigid."""
        return next((one.name for one in self.flexible.values() if name in (one.name, *one.point_names)), None)
