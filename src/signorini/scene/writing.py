"""From a scene to the content of a scene file, so that reading it gives the same bits.

Reading normalises quaternions and normals and turns angles into quaternions. Both round, so a value that is written as
it stands may come back changed in its last digit. :func:`_repeating` therefore looks for a neighbour that reading turns
into exactly the value in the scene.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from signorini.errors import InputError
from signorini.scene.body import Body, Fixed
from signorini.scene.contact import ContactData, words
from signorini.scene.flexible import Beam, FlexibleBody
from signorini.scene.scene import AddedForce, Scene
from signorini.scene.shapes import HalfSpace, PlacedShape
from signorini.scene.writing_joints import joint_to_dict

# Two of three unit vectors need one attempt; of 12000 random ones none needed more than 160. Finer steps, of 1e-13, are
# too much alike in how they round: one in a hundred vectors then finds nothing.
_STEP, _ATTEMPTS = 1e-8, 900
_TURNS = 1000  # full turns of a planar angle that are looked through


def scene_to_dict(scene: Scene) -> dict[str, Any]:
    """Return the content of a scene file that describes `scene`.

    Raises
    ------
    InputError
        If a motion, a force or a constraint is a Python function, which a file of data cannot hold.
    """
    data: dict[str, Any] = {"planar": True} if scene.planar else {}
    data["gravity"] = _vector(scene, scene.gravity)
    if scene.contact != ContactData() or (scene.contact_given and not scene.pair_contact):
        data["contact"] = dict(words(scene.contact))
    if scene.pair_contact:
        data["pairs"] = [{"between": list(pair), **words(law)} for pair, law in scene.pair_contact.items()]
    if scene.excluded:
        data["exclude"] = [list(pair) for pair in sorted(scene.excluded)]
    if scene.fixed:
        data["fixed"] = [_fixed(scene, wall) for wall in scene.fixed.values()]
    if scene.bodies:
        data["bodies"] = [_body(scene, body) for body in scene.bodies.values()]
    if scene.flexible:
        data["flexible"] = [_flexible(scene, body) for body in scene.flexible.values()]
    if scene.forces:
        data["forces"] = [_force(scene, force) for force in scene.forces]
    for key, springs in (("joints", False), ("springs", True)):
        some = [joint for joint in scene.joints.values() if (joint.kind == "spring") == springs]
        if some:
            data[key] = [joint_to_dict(scene, joint, _unit) for joint in some]
    for constraint in scene.constraints:
        raise InputError(f"{constraint.name}: psi is a Python function, cannot be saved in a scene file")
    if scene.simulate:
        data["simulate"] = scene.simulate
    return data


def _fixed(scene: Scene, wall: Fixed) -> dict[str, Any]:
    if wall.motion is not None:
        raise InputError(f"fixed body {wall.name!r}: motion is a Python function, cannot be saved in a scene file")
    entry = {"name": wall.name, **_shapes(scene, wall.shapes)}
    if not _zero(wall.position):
        entry["position"] = _vector(scene, wall.position)
    return entry | _orientation(scene, wall.orientation) | _layer(scene, wall.name)


def _body(scene: Scene, body: Body) -> dict[str, Any]:
    entry = {"name": body.name, **_shapes(scene, body.shapes), **_mass(scene, body)}
    entry["position"] = _vector(scene, body.position)
    entry |= _orientation(scene, body.orientation)
    if not _zero(body.velocity):
        entry["velocity"] = _vector(scene, body.velocity)
    if not _zero(body.angular_velocity):
        entry["angular_velocity"] = _moment(scene, body.angular_velocity)
    return entry | _layer(scene, body.name)


def _flexible(scene: Scene, body: FlexibleBody) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": body.name}
    entry["beam" if isinstance(body.what, Beam) else "modes"] = body.what.words()
    entry["position"] = _vector(scene, body.position)
    entry |= _orientation(scene, body.orientation)
    if not _zero(body.velocity):
        entry["velocity"] = _vector(scene, body.velocity)
    if not _zero(body.angular_velocity):
        entry["angular_velocity"] = _moment(scene, body.angular_velocity)
    for word, values in (("modal", body.modal), ("modal_rate", body.modal_rate)):
        if values.any():
            entry[word] = values.tolist()
    named = {k: x for k, x in body.points.items() if not isinstance(body.what, Beam) or k not in ("start", "end")}
    for word, some in (("masses", body.masses), ("points", named)):
        if some:
            entry[word] = dict(some)
    if body.contacts:
        entry["contacts"] = {point: [_shape(scene, one) for one in placed] for point, placed in body.contacts.items()}
    if isinstance(body.damping, Mapping):
        entry["damping"] = {key: np.asarray(value).tolist() for key, value in body.damping.items()}
    elif body.damping is not None:
        entry["damping"] = np.asarray(body.damping, dtype=float).tolist()
    if body.geometric != "foreshortening":
        entry["geometric"] = body.geometric
    return entry


def _layer(scene: Scene, name: str) -> dict[str, Any]:
    layer = scene.layers.get(name)
    if layer is None:
        return {}
    words = layer.words(scene.planar)
    return {"layer": words if np.isinf(layer.max_deflection) else {**words, "max_deflection": layer.max_deflection}}


def _force(scene: Scene, load: AddedForce) -> dict[str, Any]:
    entry: dict[str, Any] = {"body": load.body}
    for word, value, write in (("force", load.force, _vector), ("torque", load.torque, _moment)):
        if callable(value):
            raise InputError(f"force on {load.body!r}: {word} is a Python function, cannot be saved in a scene file")
        if value is not None:
            entry[word] = write(scene, value)
    if load.at is not None:
        entry["at"] = _vector(scene, load.at)
    return entry


def _mass(scene: Scene, body: Body) -> dict[str, Any]:
    """Return the fewest words that give the mass properties exactly."""
    every = {
        "mass": body.mass,
        "inertia": _inertia(scene, body.inertia),
        "mass_centre": _vector(scene, body.mass_centre),
    }
    for count in (1, 2):
        some = dict(list(every.items())[:count])
        trial = Scene(planar=scene.planar)
        try:
            made = trial.add_body(body.shapes, position=np.zeros(2 if scene.planar else 3), **some)
        except InputError:  # shapes without volume: all three are needed
            continue
        if _same(made.inertia, body.inertia) and _same(made.mass_centre, body.mass_centre):
            return some
    return every


def _inertia(scene: Scene, inertia: ArrayLike) -> Any:
    """Return one number in the plane or three principal values where these say it all, else the matrix."""
    I = np.asarray(inertia)
    if scene.planar and _same(I, I[0, 0] * np.eye(3)):
        return float(I[0, 0])
    return np.diag(I).tolist() if _same(I, np.diag(np.diag(I))) else I.tolist()


def _shapes(scene: Scene, placed: tuple[PlacedShape, ...]) -> dict[str, Any]:
    entries = [_shape(scene, one) for one in placed]
    return {"shape": entries[0]} if len(entries) == 1 else {"shapes": entries}


def _shape(scene: Scene, placed: PlacedShape) -> dict[str, Any]:
    shape = placed.shape
    default = {field.name: field.default for field in fields(shape) if field.default is not MISSING}
    ((word, values),) = shape.to_dict().items()
    if isinstance(shape, HalfSpace):
        values["normal"] = _repeating(shape.normal, _scaled(shape.normal), lambda n: HalfSpace(normal=n).normal)
    entry: dict[str, Any] = {
        word: {key: value for key, value in values.items() if key not in default or not _same(value, default[key])}
    }
    if not _zero(placed.position):
        flat = scene.planar and _same(placed.position[2], 0.0)
        entry["position"] = list(placed.position[: 2 if flat else 3])
    if not _same(placed.quaternion, (1.0, 0.0, 0.0, 0.0)):
        candidates = _scaled(placed.quaternion)
        entry["orientation"] = _repeating(placed.quaternion, candidates, lambda e: shape.at(orientation=e).quaternion)
    return entry


def _orientation(scene: Scene, quaternion: ArrayLike) -> dict[str, Any]:
    e = np.asarray(quaternion)
    if _same(e, (1.0, 0.0, 0.0, 0.0)):
        return {}
    origin = (0.0, 0.0) if scene.planar else (0.0, 0.0, 0.0)
    candidates: Iterable[Any] = _angles(e) if scene.planar else _scaled(e)
    return {"orientation": _repeating(e, candidates, lambda value: scene.pose((origin, value), "orientation")[3:])}


def _repeating(value: ArrayLike, candidates: Iterable[Any], read: Callable[[Any], ArrayLike]) -> Any:
    """Return the first candidate that `read` turns into exactly `value`; the first of all, off by rounding, if none."""
    first = None
    for candidate in candidates:
        first = candidate if first is None else first
        if _same(read(candidate), value):
            return candidate
    return first


def _unit(vector: ArrayLike, read: Callable[[list[float]], ArrayLike]) -> Any:
    return _repeating(vector, _scaled(vector), read)


def _scaled(vector: ArrayLike) -> Iterator[list[float]]:
    """Yield a unit vector and copies of it that are a little longer or shorter, the nearest first."""
    for k in range(_ATTEMPTS):
        change = _STEP * ((k + 1) // 2) * (1 if k % 2 else -1)
        yield (np.asarray(vector) * (1.0 + change)).tolist()


def _angles(quaternion: ArrayLike) -> Iterator[float]:
    """Yield angles about z near that of a quaternion, at first within a turn, then further round."""
    w, _, _, z = np.asarray(quaternion).tolist()
    principal = 2.0 * math.atan2(z, w)
    for turn in sorted(range(-_TURNS, _TURNS + 1), key=abs):
        up = down = principal + 4.0 * math.pi * turn
        for _ in range(5):
            yield up
            yield down
            up, down = math.nextafter(up, math.inf), math.nextafter(down, -math.inf)


def _vector(scene: Scene, vector: ArrayLike) -> list[float]:
    values: list[float] = np.asarray(vector).tolist()
    return values[:2] if scene.planar else values


def _moment(scene: Scene, vector: ArrayLike) -> float | list[float]:
    values: list[float] = np.asarray(vector).tolist()
    return values[2] if scene.planar else values


def _same(a: ArrayLike, b: ArrayLike) -> bool:
    """Compare bits: -0.0 is not 0.0."""
    return np.asarray(a, dtype=np.float64).tobytes() == np.asarray(b, dtype=np.float64).tobytes()


def _zero(vector: ArrayLike) -> bool:
    return _same(vector, np.zeros(3))
