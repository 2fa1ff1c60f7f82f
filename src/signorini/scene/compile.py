"""The only passage from objects to arrays: Scene to Model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.errors import InputError
from signorini.math.rotation import rotate
from signorini.model import Deformable, Force, Layer, Materials, Model, ModelArrays, ShapeKind, State
from signorini.model.convex_sets import ConvexSet
from signorini.model.thickness import thinnest_extents
from signorini.scene.body import Body, Fixed
from signorini.scene.compile_joints import compile_joints
from signorini.scene.contact import ContactData
from signorini.scene.encode import encode
from signorini.scene.scene import Scene
from signorini.scene.shape import Shape

SPATIAL = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
PLANAR = (1.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def compile_scene(scene: Scene) -> Model:
    """Turn a scene into arrays: fixed bodies first, then the moving ones in order of creation, flexible ones last."""
    fixed, bodies = list(scene.fixed.values()), list(scene.bodies.values())
    if not bodies and not scene.flexible:
        raise InputError("scene: has no body that can move, must have at least one")
    everything: list[Fixed | Body] = [*fixed, *bodies]
    rigid = tuple(body.name for body in everything)
    flexible = _flexible(scene, len(rigid))
    names = (*rigid, *(name for body in scene.flexible.values() for name in (body.name, *body.point_names)))
    n_f, n_b = len(fixed), len(names)

    mass, inertia, free = np.zeros(n_b), np.zeros((n_b, 3, 3)), np.zeros((n_b, 6))
    mass_centre = np.zeros((n_b, 3))
    q, v = np.zeros((n_b, 7)), np.zeros((n_b, 6))
    for b, wall in enumerate(fixed):
        q[b] = np.concatenate([wall.position, wall.orientation])
    for b, body in enumerate(bodies, start=n_f):
        mass[b], inertia[b], mass_centre[b] = body.mass, body.inertia, body.mass_centre
        free[b] = PLANAR if scene.planar else SPATIAL
        # Copies: arrays of a sealed scene are read-only, a kind for which kernels would be compiled anew.
        q[b, :3] = body.position + np.array(rotate(body.orientation.copy(), body.mass_centre.copy()))
        q[b, 3:] = body.orientation
        v[b] = np.concatenate([body.velocity, body.angular_velocity])

    for made, own in zip(flexible, scene.flexible.values(), strict=True):
        share = 1.0 / (made.rows.stop - made.rows.start)
        mass[made.rows], inertia[made.rows] = share * made.body.mass.sum(), share * _moments(made)
        free[made.rows] = PLANAR if scene.planar else SPATIAL
        x, e = own.places()
        q[made.rows] = np.vstack([np.append(own.position, own.orientation), np.hstack([x, e])])
        v[made.rows] = np.vstack([np.append(own.velocity, own.angular_velocity), own.rates()])

    placed = [(b, piece) for b, body in enumerate(everything) for shape in body.shapes for piece in shape.pieces()]
    index = {name: b for b, name in enumerate(names)}
    placed += [
        (index[f"{body.name}.{point}"], piece)
        for body in scene.flexible.values()
        for point, some in body.contacts.items()
        for shape in some
        for piece in shape.pieces()
    ]
    if scene.planar:
        _check_plates(piece.shape for _, piece in placed)
    shapes, hulls = encode(placed, mass_centre)
    bound = np.zeros(n_b)
    bounded = np.isfinite(shapes.bound)
    np.maximum.at(bound, shapes.body[bounded], shapes.bound[bounded])
    _check_extents(rigid, n_f, shapes.body[~bounded], bound)
    for made in flexible:  # its size stands for that of its points
        bound[made.rows] = np.maximum(bound[made.rows], np.linalg.norm(made.body.points.place, axis=1).max())
    weight = np.outer(mass, [*scene.gravity, 0.0, 0.0, 0.0])
    weight[len(rigid) :] = 0.0  # it acts on all of a flexible body
    modes = [body.modal for body in scene.flexible.values()], [body.modal_rate for body in scene.flexible.values()]
    return Model(
        names=names,
        fixed_count=n_f,
        planar=scene.planar,
        arrays=ModelArrays(mass, inertia, free, scene.gravity.copy(), weight, bound),
        shapes=shapes,
        hulls=hulls,
        materials=_materials(scene, names),
        motions=tuple(_motion(scene, wall) for wall in fixed),
        forces=tuple(
            Force(
                names.index(force.body),
                force.force,
                force.torque,
                None if force.at is None else force.at - mass_centre[names.index(force.body)],
            )
            for force in scene.forces
        ),
        joints=compile_joints(scene, names, n_f, q),
        mass_centre=mass_centre,
        initial_state=State(t=0.0, q=q, v=v, **_modal(*modes)),
        implicit=_implicit([piece.shape for _, piece in placed]),
        layers=_layers(scene, names, thinnest_extents(shapes, hulls, n_b)),
        flexible=flexible,
    )


def _flexible(scene: Scene, first: int) -> tuple[Deformable, ...]:
    """Return the flexible bodies as arrays that nobody can change, their rows from `first` on."""
    out: list[Deformable] = []
    row, mode = first, 0
    for body in scene.flexible.values():
        made, points, line = body.made()
        for array in (*made[:1], *made.points, *made[2:], *points, *((line.axis, line.coefficient) if line else ())):
            array.flags.writeable = False
        out.append(Deformable(body.name, row, points, made, mode, line))
        row, mode = out[-1].rows.stop, out[-1].modes.stop
    return tuple(out)


def _modal(coordinate: list[Array], rate: list[Array]) -> dict[str, Array]:
    """Return the further coordinates of a state, nothing in a scene of rigid bodies."""
    return {"modal": np.concatenate(coordinate), "modal_rate": np.concatenate(rate)} if coordinate else {}


def _moments(made: Deformable) -> Array:
    """Return the inertia of a flexible body about the axes of its frame, undeformed, (3, 3)."""
    r, m = made.body.points.place, made.body.mass
    out: Array = made.body.turning + np.einsum("n,nk,nk->", m, r, r) * np.eye(3) - np.einsum("n,ni,nj->ij", m, r, r)
    return out


def _rows(scene: Scene, name: str) -> tuple[str, ...]:
    """Return the rows that a name stands for: with a flexible body all its points too."""
    return (name, *scene.flexible[name].point_names) if name in scene.flexible else (name,)


def _layers(scene: Scene, names: tuple[str, ...], width: Array) -> tuple[Layer | None, ...]:
    """Return the layers of all bodies; nothing if all are rigid."""
    layers: list[Layer | None] = []
    for name, thin in zip(names, width, strict=True):
        layer = scene.layers.get(name)
        if layer is not None and np.isfinite(layer.max_deflection) and layer.max_deflection >= 0.5 * thin:
            raise InputError(
                f"layer of {name!r}: max_deflection is {layer.max_deflection:g}, must be < {0.5 * thin:g} m, "
                "the inradius of the body"
            )
        layers.append(None if layer is None or layer.max_deflection == 0.0 else layer)
    return tuple(layers) if any(layer is not None for layer in layers) else ()


def _check_extents(names: tuple[str, ...], fixed_count: int, unbounded: IntArray, bound: Array) -> None:
    """Raise `InputError` for bodies without any extent, by which overlaps and speeds of turning could be judged."""
    for b in range(fixed_count, len(names)):
        if bound[b] == 0.0 and b not in unbounded:
            raise InputError(f"body {names[b]!r}: is a point at its mass centre, must have an extent or a point off it")


def _check_plates(shapes: Iterable[Shape]) -> None:
    """Raise `InputError` if ellipses could meet plates with corners."""
    words = {shape.word() for shape in shapes}
    for word in ("polygon", "segment"):
        if "ellipse" in words and word in words:
            raise InputError(f"scene: has an ellipse and a {word}, ellipses touch half-planes, discs and ellipses only")


def _implicit(shapes: list[Shape]) -> tuple[ConvexSet | None, ...]:
    """Return the inequalities of shapes that have no other description; nothing if there are none."""
    if all(shape.kind is not ShapeKind.IMPLICIT for shape in shapes):
        return ()
    return tuple(shape.inequalities() if shape.kind is ShapeKind.IMPLICIT else None for shape in shapes)


def _motion(scene: Scene, wall: Fixed) -> Callable[[float], Array] | None:
    """Return the prescribed pose as a checked function of time, (7,)."""
    motion = wall.motion
    if motion is None:
        return None
    return lambda t: scene.pose(motion(t), f"fixed body {wall.name!r}: motion({t:.6g})")


def _joined(scene: Scene) -> set[tuple[str, str]]:
    """Return the pairs that do not touch because a joint connects their bodies, or because one body has both."""
    owner = {point: body.name for body in scene.flexible.values() for point in body.point_names}
    pairs = {
        (owner.get(joint.body_a, joint.body_a), owner.get(joint.body_b, joint.body_b))
        for joint in scene.joints.values()
        if joint.body_a is not None and joint.kind not in ("distance", "gear", "spring")
    }
    parts = {(name, name) for name in scene.flexible}
    return {pair for a, b in pairs | parts for pair in product(_rows(scene, a), _rows(scene, b))}


ROUGHEST = 1e6
"""Coefficients of friction beyond this count as this. What sticks with it sticks with any larger one; what would slip
with it carries a force a million times the normal one. Residuals see normal velocities only divided by it."""


def _materials(scene: Scene, names: tuple[str, ...]) -> Materials:
    """Number the contact data; pairs are keyed by ``a * n_b + b`` with a < b."""
    index = {name: b for b, name in enumerate(names)}
    rows: list[ContactData] = [scene.contact]
    by_key: dict[int, int] = {}

    def set_pair(a: str, b: str, row: int) -> None:
        for pair in product(_rows(scene, a), _rows(scene, b)):
            low, high = sorted(index[name] for name in pair)
            by_key[low * len(names) + high] = row

    for a, b in _joined(scene):
        if a != b:
            set_pair(a, b, -1)
    for (a, b), data in scene.pair_contact.items():
        set_pair(a, b, len(rows))
        rows.append(data)
    for a, b in scene.excluded:
        set_pair(a, b, -1)
    keys = np.array(sorted(by_key), dtype=np.int64)
    return Materials(
        friction=np.minimum([row.friction for row in rows], ROUGHEST),
        restitution=np.array([row.restitution for row in rows]),
        torsional=np.array([row.torsional for row in rows]),
        rolling=np.array([row.rolling for row in rows]),
        ellipsoid=np.array([row.ellipsoid or (0.0, 0.0, 0.0) for row in rows]),
        pair=keys,
        pair_material=np.array([by_key[int(key)] for key in keys], dtype=np.int64),
    )
