"""The scenes of the peer benchmark as data that no engine owns.

Body frames sit at mass centres and lie along principal axes, so that every engine can be given the same numbers. A
plane is a point and a unit normal; the half space behind it is solid. An incline is a level floor under tilted gravity.
Needs NumPy alone (hulls apart), so that engines under a Python of their own can read it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

Array = Any
GRAVITY = 9.81
DOWN = (0.0, 0.0, -GRAVITY)
FLOOR = (((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
RADIUS = 0.05  # of the spheres of piles, and half the edge of their boxes
DENSITY = 1000.0
CHAIN_LINK = 0.1  # length of a link of the chain


@dataclass(frozen=True)
class Part:
    """A shape on a body: sphere (radius), box (half edges) or hull (its corners).

    Or capsule or cylinder along z (radius, half length), or ellipsoid (semi-axes).
    """

    kind: str
    size: tuple[float, ...] = ()
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    corners: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class Body:
    """A rigid body with its principal inertia; quaternions are (w, x, y, z), velocities in world axes."""

    mass: float
    inertia: tuple[float, float, float]
    parts: tuple[Part, ...]
    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float] = UPRIGHT
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class PeerScene:
    """Bodies above planes, one coefficient of friction, and how to run and judge it."""

    name: str
    bodies: tuple[Body, ...]
    mu: float
    h: float
    steps: int
    """Steps of a whole run."""
    size: float
    """Length of a body, to which penetrations are compared [m]."""
    planes: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...] = FLOOR
    gravity: tuple[float, float, float] = DOWN
    warm: int = 0
    """Steps before anything is measured, in which each engine finds its own rest."""
    at_rest: bool = True
    """Whether all motion is an error."""
    tolerance: float = 1e-8
    """Residual that we are asked for; other engines keep their own measure."""
    chain: bool = False
    """Whether bodies are links joined at their ends, the first to the world."""
    judge: Callable[[Motion, Motion, float], float] | None = field(default=None, compare=False)
    """(first, last, seconds) -> an error against the known answer."""
    judged: str = ""
    """What the judge measures."""


@dataclass(frozen=True)
class Motion:
    """Positions and velocities of all bodies of a scene at one time."""

    position: Array
    """Mass centres (n, 3) [m]"""
    quaternion: Array
    """(w, x, y, z), (n, 4)"""
    velocity: Array
    """Of the mass centres and angular, world axes, (n, 6) [m/s, rad/s]"""

    @property
    def finite(self) -> bool:
        """Whether all are numbers."""
        return all(bool(np.isfinite(x).all()) for x in (self.position, self.quaternion, self.velocity))


def rotations(quaternion: Array) -> Array:
    """Return rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def sphere(radius: float, mass: float, position: Any, **more: Any) -> Body:
    i = 0.4 * mass * radius * radius
    return Body(mass, (i, i, i), (Part("sphere", (radius,)),), _three(position), **more)


def box(half: float, mass: float, position: Any, **more: Any) -> Body:
    i = mass / 1.5 * half * half
    return Body(mass, (i, i, i), (Part("box", (half, half, half)),), _three(position), **more)


def capsule(radius: float, half: float, density: float, position: Any, **more: Any) -> Body:
    tube, caps = density * np.pi * radius**2 * 2.0 * half, density * 4.0 / 3.0 * np.pi * radius**3
    along = (0.5 * tube + 0.4 * caps) * radius**2
    across = tube * (radius**2 / 4.0 + half**2 / 3.0) + caps * (0.4 * radius**2 + half**2 + 0.75 * half * radius)
    part = Part("capsule", (radius, half))
    return Body(tube + caps, (across, across, along), (part,), _three(position), **more)


def cylinder(radius: float, half: float, density: float, position: Any, **more: Any) -> Body:
    mass = density * np.pi * radius**2 * 2.0 * half
    across = mass * (radius**2 / 4.0 + half**2 / 3.0)
    part = Part("cylinder", (radius, half))
    return Body(mass, (across, across, 0.5 * mass * radius**2), (part,), _three(position), **more)


def ellipsoid(axes: tuple[float, float, float], density: float, position: Any, **more: Any) -> Body:
    mass, (x, y, z) = density * 4.0 / 3.0 * np.pi * float(np.prod(axes)), (a * a for a in axes)
    inertia = (mass / 5.0 * (y + z), mass / 5.0 * (x + z), mass / 5.0 * (x + y))
    return Body(mass, inertia, (Part("ellipsoid", axes),), _three(position), **more)


def _three(x: Any) -> tuple[float, float, float]:
    a, b, c = (float(value) for value in x)
    return a, b, c


def _four(x: Any) -> tuple[float, float, float, float]:
    a, b, c, d = (float(value) for value in x)
    return a, b, c, d


# --- one body ----------------------------------------------------------------


def slide_roll() -> PeerScene:
    """A sphere thrown along the floor slips, then rolls with 5/7 of its speed."""
    ball = sphere(1.0, 1.0, (0, 0, 1), velocity=(2.0, 0.0, 0.0))

    def judge(first: Motion, last: Motion, seconds: float) -> float:
        return float(max(abs(last.velocity[0, 0] - 10 / 7), abs(last.velocity[0, 4] - 10 / 7)))

    return PeerScene(
        "slide_roll", (ball,), 0.2, 0.01, 60, 1.0, at_rest=False, judge=judge, judged="speed and spin at 0.6 s [m/s]"
    )


def free_box() -> PeerScene:
    """One cube at rest on the floor."""
    return PeerScene("free_box", (box(0.5, 1.0, (0, 0, 0.5)),), 0.5, 0.002, 3000, 0.5, warm=300)


def incline_stick() -> PeerScene:
    """A cube on 20 degrees with mu = 0.5 stays where it is."""
    return PeerScene(
        "incline_stick",
        (box(0.5, 1.0, (0, 0, 0.5)),),
        0.5,
        0.005,
        1000,
        0.5,
        gravity=_tilted(20.0),
        warm=100,
        tolerance=1e-10,
    )


def incline_slide() -> PeerScene:
    """A cube on 20 degrees with mu = 0.3 slides with a known acceleration."""
    known = GRAVITY * (np.sin(np.radians(20.0)) - 0.3 * np.cos(np.radians(20.0)))

    def judge(first: Motion, last: Motion, seconds: float) -> float:
        return float(abs(last.velocity[0, 0] - known * seconds) / (known * seconds))

    return PeerScene(
        "incline_slide",
        (box(0.5, 1.0, (0, 0, 0.5)),),
        0.3,
        0.005,
        400,
        0.5,
        gravity=_tilted(20.0),
        at_rest=False,
        tolerance=1e-10,
        judge=judge,
        judged="relative error of the speed at 2 s",
    )


def _tilted(degrees: float) -> tuple[float, float, float]:
    a = np.radians(degrees)
    return (float(GRAVITY * np.sin(a)), 0.0, float(-GRAVITY * np.cos(a)))


def painleve(mu: float, speed_after: float) -> PeerScene:
    """A slender rod at 65 degrees whose lower tip slides towards it; above mu = 1.337 no finite force solves it.

    The reference is the tip's speed after 50 ms by an explicit integration of the sliding rod; beyond the critical
    coefficient the tip stops at once by an impact without collision.
    """
    a, tip = np.radians(65.0), 0.01
    c, s = float(np.cos(a)), float(np.sin(a))
    ends = tuple(Part("sphere", (tip,), (x, 0.0, 0.0)) for x in (-1.0, 1.0))
    turned = (float(np.cos(a / 2)), 0.0, float(-np.sin(a / 2)), 0.0)
    rod = Body(1.0, (1 / 3, 1 / 3, 1 / 3), ends, (c, 0.0, s + tip), turned, (-2.0, 0.0, 0.0))

    def judge(first: Motion, last: Motion, seconds: float) -> float:
        arm = -rotations(last.quaternion)[0, :, 0] + np.array([0.0, 0.0, -tip])
        speed = last.velocity[0, :3] + np.cross(last.velocity[0, 3:], arm)
        return float(abs(speed[0] - speed_after))

    return PeerScene(
        f"painleve_{mu}", (rod,), mu, 0.001, 50, 1.0, at_rest=False, judge=judge, judged="speed of the tip [m/s]"
    )


# --- stacks and chains -------------------------------------------------------


def stack(ratio: float) -> PeerScene:
    """Ten unit cubes, masses growing from 1 kg below to `ratio` kg on top."""
    masses = np.geomspace(1.0, ratio, 10)
    bodies = tuple(box(0.5, float(m), (0, 0, 0.5 + i)) for i, m in enumerate(masses))

    def judge(first: Motion, last: Motion, seconds: float) -> float:
        return float(np.linalg.norm(last.position - first.position, axis=1).max())

    name = "stack" if ratio == 1.0 else f"stack_{ratio:.0e}".replace("+0", "")
    return PeerScene(name, bodies, 0.5, 0.005, 1000, 0.5, judge=judge, judged="largest drift in 5 s [m]")


def chain(count: int) -> PeerScene:
    """Links along x, hinged about y at their ends and to the world, released."""
    half, mass = (CHAIN_LINK / 2, 0.01, 0.01), 0.1
    x, y, z = (a * a for a in half)
    inertia = (mass / 3 * (y + z), mass / 3 * (x + z), mass / 3 * (x + y))
    bodies = tuple(Body(mass, inertia, (), ((i + 0.5) * CHAIN_LINK, 0.0, 0.0)) for i in range(count))

    def judge(first: Motion, last: Motion, seconds: float) -> float:
        spin = np.einsum("nji,nj->ni", rotations(last.quaternion), last.velocity[:, 3:])
        kinetic = 0.5 * mass * (last.velocity[:, :3] ** 2).sum() + 0.5 * (spin**2 * inertia).sum()
        potential = mass * GRAVITY * (last.position - first.position)[:, 2].sum()
        return float(abs(kinetic + potential) / (mass * GRAVITY * count * 0.5 * count * CHAIN_LINK))

    return PeerScene(
        f"chain_{count}",
        bodies,
        0.0,
        0.001,
        1000,
        CHAIN_LINK,
        planes=(),
        at_rest=False,
        chain=True,
        judge=judge,
        judged="energy lost or gained in 1 s / weight times half the length",
    )


# --- piles -------------------------------------------------------------------


def container(width: float) -> tuple[Any, ...]:
    """Return floor and four walls of an open box."""
    walls = (((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), ((width, 0.0, 0.0), (-1.0, 0.0, 0.0)))
    others = (((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)), ((0.0, width, 0.0), (0.0, -1.0, 0.0)))
    return (*FLOOR, *walls, *others)


def _grid(side: int) -> Array:
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return cells[np.argsort(cells[:, 2], kind="stable")] + 0.5


def _side(count: int) -> int:
    return int(np.ceil(count ** (1 / 3) - 1e-9))


def sphere_pile(count: int) -> PeerScene:
    """Spheres on a jiggled grid in an open box: they fall and collapse."""
    side, spacing = _side(count), 2.2 * RADIUS
    rng = np.random.default_rng(0)
    cells = _grid(side)[:count]
    places = cells * spacing + rng.uniform(-0.08, 0.08, cells.shape) * RADIUS
    mass = DENSITY * 4 / 3 * np.pi * RADIUS**3
    bodies = tuple(sphere(RADIUS, mass, place) for place in places)
    return PeerScene(
        f"collapse_{count}", bodies, 0.5, 0.005, 240, RADIUS, container(side * spacing), at_rest=False, tolerance=1e-6
    )


def box_pile(count: int) -> PeerScene:
    """Cubes turned at random on a grid in an open box."""
    side, spacing = _side(count), 2 * np.sqrt(3) * RADIUS * 1.03
    rng = np.random.default_rng(1)
    turns = _random_turns(rng, side**3)
    mass = DENSITY * (2 * RADIUS) ** 3
    bodies = tuple(
        box(RADIUS, mass, cell * spacing, quaternion=_four(q))
        for cell, q in zip(_grid(side)[:count], turns, strict=False)
    )
    return PeerScene(
        f"box_collapse_{count}",
        bodies,
        0.5,
        0.005,
        240,
        RADIUS,
        container(side * spacing),
        at_rest=False,
        tolerance=1e-6,
    )


def hull_pile(count: int) -> PeerScene:
    """Convex hulls of ten kinds, 4 to 20 corners, turned at random on a grid in an open box."""
    side, spacing = _side(count), 2.5 * RADIUS
    rng = np.random.default_rng(2)
    kinds = [_hull(rng, corners) for corners in (4, 5, 6, 7, 8, 10, 12, 14, 16, 20)]
    turns = _random_turns(rng, side**3)
    bodies = tuple(
        replace(kinds[i % len(kinds)], position=_three(cell * spacing), quaternion=_four(turns[i]))
        for i, cell in enumerate(_grid(side)[:count])
    )
    return PeerScene(
        f"hull_collapse_{count}",
        bodies,
        0.5,
        0.005,
        240,
        RADIUS,
        container(side * spacing),
        at_rest=False,
        tolerance=1e-6,
    )


def _random_turns(rng: Any, count: int) -> Array:
    q = rng.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1)[:, None]


def _hull(rng: Any, corners: int) -> Body:
    """Return the hull of points spread over a sphere, in its principal frame."""
    from signorini import ConvexHull

    points = rng.normal(size=(corners, 3))
    for _ in range(200):  # points repel each other, so that no two are close and the hull is no sliver
        away = points[:, None] - points
        away /= np.maximum((away**2).sum(-1), 1e-9)[..., None] ** 1.5
        points += 0.1 * away.sum(1)
        points /= np.linalg.norm(points, axis=1)[:, None]
    points *= 1.2 * RADIUS * rng.uniform(0.8, 1.0, 3)
    whole = ConvexHull(points).mass_properties(DENSITY)
    moments, axes = np.linalg.eigh(whole.inertia)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    placed = (points - whole.centre) @ axes
    part = Part("hull", corners=tuple(_three(x) for x in placed))
    return Body(float(whole.mass), _three(moments), (part,), (0.0, 0.0, 0.0))


def settled(pile: PeerScene, name: str, position: Array, quaternion: Array, steps: int) -> PeerScene:
    """Return `pile` with its bodies at rest at the places of a settled one."""
    bodies = tuple(
        replace(body, position=_three(x), quaternion=_four(q / np.linalg.norm(q)))
        for body, x, q in zip(pile.bodies, position, quaternion, strict=True)
    )
    return replace(pile, name=name, bodies=bodies, steps=steps, warm=600, at_rest=True)
