"""Structures of blocks that must stand, and some that must fall: scenes for ``bench_structures``.

::

    python -c "from benchmarks.structures import STRUCTURES; print(*STRUCTURES)"

Each builder places its bodies so that they touch to within rounding: nothing overlaps, and nothing has to settle.
``STRUCTURES`` holds those that are measured, by name, with the step, the time and the displacement by which they are
judged. Coordinates in m, z upwards, the floor at z = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

import signorini as sg
from signorini._arrays import Array

CARD = (0.088, 0.063, 0.0005)
CARD_MASS = 0.0018
BRICK = (0.215, 0.1025, 0.065)
JENGA = (0.075, 0.025, 0.015)
FINGER = (0.02, 0.04, 0.2)


@dataclass(frozen=True, slots=True)
class Structure:
    """A scene, how to run it, and what must come of it."""

    name: str
    builder: Callable[[], sg.Scene]
    h: float
    """[s]"""
    duration: float
    """[s]"""
    stands: bool
    """Whether it must stand; else it must fall."""
    limit: float
    """Displacement that a standing structure stays below and a falling one exceeds [m]."""
    of: str = ""
    """The body that is measured; all that move if empty."""
    against: str = ""
    """The body against which it is measured; the world if empty."""
    since: float = 0.0
    """Time from which it is measured [s]."""


def _on_floor(friction: float) -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=friction)
    return scene


def _about_y(angle: float) -> tuple[float, float, float, float]:
    return (float(np.cos(0.5 * angle)), 0.0, float(np.sin(0.5 * angle)), 0.0)


def _about_z(angle: float) -> tuple[float, float, float, float]:
    return (float(np.cos(0.5 * angle)), 0.0, 0.0, float(np.sin(0.5 * angle)))


def _prism(outline: Array, low: float, high: float) -> tuple[sg.ConvexHull, Array]:
    """Return the hull over a convex outline (n, 2), about its middle, and that middle."""
    corners = np.array([(*point, z) for z in (low, high) for point in outline.tolist()])
    middle = corners.mean(axis=0)
    return sg.ConvexHull(points=corners - middle), middle


# --- cards -------------------------------------------------------------------


def card_house(
    levels: int,
    *,
    lean: float = 20.0,
    friction: float = 0.6,
    card: Sequence[float] = CARD,
    mass: float = CARD_MASS,
    gap: float = 0.0,
) -> sg.Scene:
    r"""Build a house of cards: `levels` tents below, one less on each level, a card from ridge to ridge between.

    ::

             /\
            ----
           /\  /\
          --------
         /\  /\  /\

    Cards of size (length, width, thickness) lean by `lean` degrees from the vertical. Each stands on the inner edge of
    its foot, the two of a tent touch at the inner edges of their heads, and the level above lies on the outer edges of
    the heads, which are the highest. Ends of lying cards meet above the ridges, `gap` apart.
    """
    scene = _on_floor(friction)
    length, width, t = card
    a = np.radians(lean)
    s, c = float(np.sin(a)), float(np.cos(a))
    rise = length * c + t * s  # from the lowest edge to the highest
    spacing = length + gap
    for level in range(levels):
        tents = levels - level
        z = level * (rise + t)
        for k in range(tents):
            x = (k - 0.5 * (tents - 1)) * spacing
            for side in (-1.0, 1.0):
                # Of the card on the left the corner (t/2, length/2) of its section is at the ridge.
                scene.add_body(
                    sg.Box((t, width, length)),
                    mass=mass,
                    position=(x + side * 0.5 * (length * s + t * c), 0.0, z + 0.5 * rise),
                    orientation=_about_y(-side * a),
                    name=f"card{level}-{k}{'l' if side < 0.0 else 'r'}",
                )
        for k in range(tents - 1):
            scene.add_body(
                sg.Box((length, width, t)),
                mass=mass,
                position=((k - 0.5 * (tents - 2)) * spacing, 0.0, z + rise + 0.5 * t),
                name=f"roof{level}-{k}",
            )
    return scene


# --- masonry -----------------------------------------------------------------


def arch(
    count: int = 15,
    *,
    thickness: float = 0.115,
    radius: float = 1.0,
    depth: float = 0.4,
    friction: float = 0.7,
    density: float = 2000.0,
) -> sg.Scene:
    """Build half a circle of `count` voussoirs on the floor; `thickness` is that of the ring by its mean radius.

    Without slip fifteen voussoirs stand from a thickness of 0.1061 on by limit analysis (0.1075 for infinitely many).
    """
    scene = _on_floor(friction)
    joints = np.linspace(0.0, np.pi, count + 1)
    rays = np.column_stack([np.cos(joints), np.sin(joints)])
    rays[-1, 1] = 0.0
    inner, outer = (radius * (1.0 + side * 0.5 * thickness) * rays for side in (-1.0, 1.0))
    for k in range(count):
        section = np.array([inner[k], outer[k], outer[k + 1], inner[k + 1]])
        corners = np.array([(x, y, z) for y in (-0.5 * depth, 0.5 * depth) for x, z in section.tolist()])
        middle = corners.mean(axis=0)
        scene.add_body(sg.ConvexHull(points=corners - middle), density=density, position=middle, name=f"voussoir{k}")
    return scene


def wall(
    courses: int,
    *,
    bricks: int = 6,
    brick: Sequence[float] = BRICK,
    gap: float = 0.0,
    friction: float = 0.7,
    density: float = 1800.0,
) -> sg.Scene:
    """Build a wall in running bond; every other course begins and ends with half a brick. `gap` is that of the ends."""
    scene = _on_floor(friction)
    length, width, height = brick
    step = length + gap
    half = 0.5 * (length - gap)
    for course in range(courses):
        z = (course + 0.5) * height
        places = [((k + 0.5) * step, length) for k in range(bricks)]
        if course % 2:
            places = [((k + 1.0) * step, length) for k in range(bricks - 1)]
            places += [(0.5 * gap + 0.5 * half, half), (bricks * step - 0.5 * gap - 0.5 * half, half)]
        for k, (x, size) in enumerate(places):
            scene.add_body(
                sg.Box((size, width, height)),
                density=density,
                position=(x - 0.5 * bricks * step, 0.0, z),
                name=f"brick{course}-{k}",
            )
    return scene


def lintels(
    bays: int = 3,
    storeys: int = 2,
    *,
    pillar: Sequence[float] = (0.3, 0.3, 1.0),
    height: float = 0.25,
    span: float = 1.2,
    gap: float = 0.0,
    friction: float = 0.6,
) -> sg.Scene:
    """Build storeys of pillars at distances `span` with slabs from pillar to pillar, whose ends are `gap` apart."""
    scene = _on_floor(friction)
    rise = pillar[2] + height
    for storey in range(storeys):
        z = storey * rise
        for k in range(bays + 1):
            x = (k - 0.5 * bays) * span
            scene.add_body(
                sg.Box(pillar), density=2400.0, position=(x, 0.0, z + 0.5 * pillar[2]), name=f"pillar{storey}-{k}"
            )
        for k in range(bays):
            ends = [(k - 0.5 * bays) * span + 0.5 * gap, (k + 1 - 0.5 * bays) * span - 0.5 * gap]
            ends[0] -= 0.5 * pillar[0] if k == 0 else 0.0
            ends[1] += 0.5 * pillar[0] if k == bays - 1 else 0.0
            scene.add_body(
                sg.Box((ends[1] - ends[0], pillar[1], height)),
                density=2400.0,
                position=(0.5 * (ends[0] + ends[1]), 0.0, z + pillar[2] + 0.5 * height),
                name=f"lintel{storey}-{k}",
            )
    return scene


def dolmen(*, friction: float = 0.6, height: float = 1.5, seed: int = 0) -> sg.Scene:
    """Lay a capstone of seven uneven sides on three uneven stones of one height."""
    rng = np.random.default_rng(seed)
    scene = _on_floor(friction)
    for k, angle in enumerate(np.radians([90.0, 210.0, 330.0])):
        corners = np.radians([45.0, 135.0, 225.0, 315.0]) + rng.uniform(-0.3, 0.3, 4)
        outline = 0.35 * np.column_stack([np.cos(corners), np.sin(corners)])
        outline += 1.0 * np.array([np.cos(angle), np.sin(angle)])
        stone, middle = _prism(outline, 0.0, height)
        scene.add_body(stone, density=2600.0, position=middle, name=f"stone{k}")
    corners = 2.0 * np.pi * (np.arange(7) + rng.uniform(-0.2, 0.2, 7)) / 7.0
    cap, middle = _prism(1.8 * np.column_stack([np.cos(corners), np.sin(corners)]), height, height + 0.5)
    scene.add_body(cap, density=2600.0, position=middle, name="capstone")
    return scene


# --- piles of blocks ---------------------------------------------------------


def jenga(
    levels: int = 18,
    *,
    block: Sequence[float] = JENGA,
    gap: float = 0.0,
    friction: float = 0.4,
    taken: float = 0.0,
    seed: int = 0,
) -> sg.Scene:
    """Build crossed levels of three blocks, `gap` apart; of a part `taken` of the levels one block is missing.

    Which one is drawn: the middle, so that both sides stay, or a side. The uppermost level is whole.
    """
    rng = np.random.default_rng(seed)
    scene = _on_floor(friction)
    length, width, height = block
    for level in range(levels):
        open_level = level < levels - 1 and rng.random() < taken
        missing = int(rng.integers(-1, 2)) if open_level else None
        for k in (-1, 0, 1):
            if k == missing:
                continue
            offset = k * (width + gap)
            crossed = bool(level % 2)
            scene.add_body(
                sg.Box((width, length, height) if crossed else (length, width, height)),
                density=600.0,
                position=(offset if crossed else 0.0, 0.0 if crossed else offset, (level + 0.5) * height),
                name=f"block{level}{'lmr'[k + 1]}",
            )
    return scene


def pyramid(
    base: int, *, size: Sequence[float] = (0.2, 0.1, 0.1), gap: float = 0.01, friction: float = 0.5
) -> sg.Scene:
    """Build a triangle of boxes, each on two, `gap` apart in a row."""
    scene = _on_floor(friction)
    for row in range(base):
        for k in range(base - row):
            x = (k - 0.5 * (base - row - 1)) * (size[0] + gap)
            scene.add_body(sg.Box(size), density=1000.0, position=(x, 0.0, (row + 0.5) * size[2]), name=f"box{row}-{k}")
    return scene


def square_pyramid(
    base: int, *, edge: float = 0.1, gap: float = 0.0, friction: float = 0.5, seed: int | None = None
) -> sg.Scene:
    """Build a pyramid of cubes, each on four; with a `seed` their densities are drawn between 300 and 3000 kg/m^3."""
    rng = np.random.default_rng(seed)
    scene = _on_floor(friction)
    for level in range(base):
        side = base - level
        for i, j in np.ndindex(side, side):
            x, y = ((k - 0.5 * (side - 1)) * (edge + gap) for k in (i, j))
            density = 1000.0 if seed is None else 300.0 * 10.0 ** float(rng.random())
            scene.add_body(
                sg.Box((edge, edge, edge)),
                density=density,
                position=(x, y, (level + 0.5) * edge),
                name=f"cube{level}-{i}-{j}",
            )
    return scene


def cubes(side: int, height: int, *, edge: float = 0.1, gap: float = 0.001, friction: float = 0.5) -> sg.Scene:
    """Build `side` x `side` columns of `height` cubes, `gap` apart."""
    scene = _on_floor(friction)
    for i, j, k in np.ndindex(side, side, height):
        scene.add_body(
            sg.Box((edge, edge, edge)),
            density=1000.0,
            position=(i * (edge + gap), j * (edge + gap), (k + 0.5) * edge),
            name=f"cube{i}-{j}-{k}",
        )
    return scene


def tower(
    count: int,
    *,
    edge: float = 0.1,
    height: float = 0.1,
    yaw: float = 0.0,
    offset: float = 0.0,
    seed: int = 0,
    varied: bool = False,
    friction: float = 0.5,
) -> sg.Scene:
    """Build a tower of boxes turned by up to `yaw` degrees and moved by up to `offset` from its axis.

    If `varied`, edges are drawn within a fifth of `edge`, heights between `height` and its half, and densities between
    300 and 3000 kg/m^3.
    """
    rng = np.random.default_rng(seed)
    scene = _on_floor(friction)
    z = 0.0
    for k in range(count):
        size, density = (edge, edge, height), 1000.0
        if varied:
            a, b = edge * rng.uniform(0.8, 1.2, 2)
            size = (float(a), float(b), height * float(rng.uniform(0.5, 1.0)))
            density = 300.0 * 10.0 ** float(rng.random())
        x, y = rng.uniform(-offset, offset, 2)
        scene.add_body(
            sg.Box(size),
            density=density,
            position=(x, y, z + 0.5 * size[2]),
            orientation=_about_z(np.radians(rng.uniform(-yaw, yaw))),
            name=f"box{k}",
        )
        z += size[2]
    return scene


def overhang(
    count: int, *, part: float = 0.95, size: Sequence[float] = (0.2, 0.1, 0.03), friction: float = 0.5
) -> sg.Scene:
    """Stack blocks that lean over as far as they can, times `part`: the k-th from above by 1/(2 k) of its length."""
    scene = _on_floor(friction)
    x = 0.0
    for k in range(count):
        scene.add_body(sg.Box(size), density=700.0, position=(x, 0.0, (k + 0.5) * size[2]), name=f"block{k}")
        if k < count - 1:
            x += part * 0.5 * size[0] / (count - 1 - k)
    return scene


# --- furniture ---------------------------------------------------------------


def _add_load(scene: sg.Scene, z: float) -> None:
    """Put boxes of three sizes and masses on a board at height z."""
    for k, (x, y, edge, mass) in enumerate([(-0.3, 0.1, 0.2, 8.0), (0.25, -0.15, 0.1, 2.0), (0.3, 0.2, 0.15, 15.0)]):
        position = (x, y, z + 0.5 * edge)
        scene.add_body(sg.Box((edge, edge, edge)), mass=mass, position=position, name=f"load{k}")


def table(*, joined: bool = True, friction: float = 0.4) -> sg.Scene:
    """Load a table: one body of a board and four legs, or if not `joined`, a board that lies on four legs."""
    scene = _on_floor(friction)
    board, leg = sg.Box((1.2, 0.8, 0.04)), sg.Box((0.06, 0.06, 0.7))
    feet = [(sx * 0.5, sy * 0.3) for sx in (-1.0, 1.0) for sy in (-1.0, 1.0)]
    if joined:
        legs = [leg.at(position=(x, y, -0.37)) for x, y in feet]
        scene.add_body([board.at(position=(0.0, 0.0, 0.0)), *legs], mass=20.0, position=(0, 0, 0.72), name="table")
    else:
        for k, (x, y) in enumerate(feet):
            scene.add_body(leg, mass=1.5, position=(x, y, 0.35), name=f"leg{k}")
        scene.add_body(board, mass=14.0, position=(0, 0, 0.72), name="board")
    _add_load(scene, 0.74)
    return scene


def ladder(*, lean: float = 20.0, length: float = 3.0, friction: float = 0.5) -> sg.Scene:
    """Lean a ladder of 12 kg by `lean` degrees from the vertical against a wall."""
    scene = _on_floor(friction)
    a = np.radians(lean)
    s, c = float(np.sin(a)), float(np.cos(a))
    deep, rungs = 0.08, 9
    parts = [sg.Box((deep, 0.04, length)).at(position=(0.0, y, 0.0)) for y in (-0.2, 0.2)]
    heights = (np.linspace(-0.45, 0.45, rungs) * length).tolist()
    parts += [sg.Box((0.03, 0.36, 0.03)).at(position=(0.0, 0.0, z)) for z in heights]
    # It stands on the lower edges of the rails that face the wall, and leans with the upper ones.
    place = (0.0, 0.0, 0.5 * (length * c + deep * s))
    scene.add_fixed(sg.HalfSpace(normal=(-1, 0, 0), offset=-0.5 * (length * s + deep * c)), name="wall")
    scene.add_body(parts, mass=12.0, position=place, orientation=_about_y(a), name="ladder")
    return scene


# --- grip --------------------------------------------------------------------

CLOSED = 0.3
"""Time by which a grip has closed and the palm begins to rise [s]."""


def grip(
    fingers: int = 2,
    *,
    force: float = 10.0,
    friction: float = 0.5,
    mass: float = 0.5,
    gap: float = 0.005,
    lift: float = 0.2,
    rising: float = 1.0,
    damping: float = 40.0,
) -> sg.Scene:
    """Grip a box with two or four fingers on guides of a palm, and lift it.

    Fingers begin `gap` away from the box and are pressed on with `force` [N] each; from ``CLOSED`` on the palm rises by
    `lift` within `rising` seconds, smoothly.
    """
    scene = _on_floor(friction)
    edge, high, ground = 0.06, 0.08, 0.02
    top = ground + FINGER[2]

    def palm(t: float) -> tuple[float, float, float]:
        s = min(max((t - CLOSED) / rising, 0.0), 1.0)
        return (0.0, 0.0, top + 0.02 + lift * s**3 * (10.0 - 15.0 * s + 6.0 * s * s))

    scene.add_fixed(sg.Box((0.2, 0.2, 0.02)), motion=palm, name="palm")
    scene.add_body(sg.Box((edge, edge, high)), mass=mass, position=(0.0, 0.0, 0.5 * high), name="box")
    for k in range(fingers):
        out = np.array([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 1.0, 0.0)][k])
        size = FINGER if k < 2 else (FINGER[1], FINGER[0], FINGER[2])
        place = out * (0.5 * (edge + FINGER[0]) + gap) + (0.0, 0.0, ground + 0.5 * FINGER[2])
        name = f"finger{k}"
        scene.add_body(sg.Box(size), density=1000.0, position=place, name=name)
        anchor = (place[0], place[1], top)
        scene.add_joint("prismatic", "palm", name, anchor=anchor, axis=-out, damping=damping, name=f"guide{k}")
        scene.add_force(name, force=-force * out)
    return scene


GRIPS: dict[str, dict[str, float]] = {
    "": {},
    "_fast": {"damping": 0.0, "gap": 0.02},
    "_slow": {"damping": 400.0, "gap": 1e-3},
}
"""Ways to close, by name."""

# --- the structures measured -------------------------------------------------


def _structures() -> list[Structure]:
    standing = partial(Structure, stands=True, duration=5.0, limit=1e-5)
    falling = partial(Structure, stands=False, duration=3.0)
    long = partial(Structure, stands=True, duration=60.0, limit=1e-6)
    gripped = partial(Structure, duration=60.0, limit=1e-6, of="box", against="palm", since=CLOSED)
    found = [
        standing(f"cards_{levels}_{round(1e3 * h)}ms", partial(card_house, levels), h)
        for levels in range(2, 8)
        for h in (0.001, 0.002, 0.005)
    ]
    found += [standing(f"cards_{levels}_gap", partial(card_house, levels, gap=2e-4), 0.002) for levels in (3, 5)]
    found.append(falling("cards_3_slippery", partial(card_house, 3, friction=0.15), 0.002, limit=0.02))
    for h in (0.002, 0.005):
        ms = f"{round(1e3 * h)}ms"
        found += [
            standing(f"arch_115_{ms}", partial(arch, thickness=0.115), h),
            standing(f"arch_150_rough_{ms}", partial(arch, thickness=0.15, friction=1.0), h),
            falling(f"arch_100_{ms}", partial(arch, thickness=0.1), h, limit=0.1),
        ]
    found += [
        standing(f"wall_{courses}{'_gap' if gap else ''}", partial(wall, courses, gap=gap), 0.01)
        for courses in (10, 15, 20)
        for gap in (0.0, 1e-3)
    ]
    found += [
        standing("jenga_18", jenga, 0.01),
        standing("jenga_18_gap", partial(jenga, gap=2e-4), 0.01),
        standing("jenga_18_2ms", partial(jenga, gap=2e-4), 0.002),
        *(standing(f"jenga_18_taken_{k}", partial(jenga, gap=2e-4, taken=0.6, seed=k), 0.01) for k in range(3)),
        standing("pyramid_6", partial(pyramid, 6), 0.005),
        standing("pyramid_10", partial(pyramid, 10), 0.005),
        standing("pyramid_10_touching", partial(pyramid, 10, gap=0.0), 0.01),
        standing("square_pyramid_5", partial(square_pyramid, 5), 0.005),
        standing("square_pyramid_5_gap", partial(square_pyramid, 5, gap=5e-3), 0.01),
        standing("square_pyramid_6_varied", partial(square_pyramid, 6, gap=5e-3, seed=0), 0.01),
        standing("cubes_2x2x10_gap", partial(cubes, 2, 10), 0.01),
        standing("cubes_2x2x10", partial(cubes, 2, 10, gap=0.0), 0.005),
        standing("cubes_3x3x6", partial(cubes, 3, 6, gap=0.0), 0.01),
        long("tower_30", partial(tower, 30), 0.01),
        standing("tower_24_yaw1", partial(tower, 24, yaw=1.0, offset=2e-3), 0.005),
        long("tower_30_yaw1", partial(tower, 30, yaw=1.0, offset=2e-3, seed=1), 0.01),
        standing("tower_24_yaw10", partial(tower, 24, yaw=10.0, offset=3e-3, seed=2), 0.005),
        long("tower_30_yaw10", partial(tower, 30, yaw=10.0, offset=3e-3, seed=3), 0.005),
        standing("tower_24_varied", partial(tower, 24, yaw=10.0, offset=3e-3, seed=4, varied=True), 0.005),
        standing("overhang_95", partial(overhang, 6), 0.005),
        falling("overhang_105", partial(overhang, 6, part=1.05), 0.005, limit=0.05),
        standing("lintels_1", partial(lintels, 1, 1), 0.005),
        standing("lintels_3x2", lintels, 0.01),
        standing("lintels_3x3_gap", partial(lintels, 3, 3, gap=0.02), 0.005),
        standing("dolmen", dolmen, 0.005),
        standing("table", table, 0.01),
        standing("table_of_parts", partial(table, joined=False), 0.005),
        standing("ladder", ladder, 0.01),
        falling("ladder_slippery", partial(ladder, lean=30.0, friction=0.15), 0.005, limit=0.1),
        *(
            gripped(f"grip_{fingers}{word}_{round(1e3 * h)}ms", partial(grip, fingers, **how), h, stands=True)
            for fingers in (2, 4)
            for word, how in GRIPS.items()
            for h in (0.01, 0.005, 0.002)
        ),
        gripped("grip_2_slippery", partial(grip, friction=0.2), 0.005, stands=False, limit=0.05, duration=2.0),
    ]
    return found


STRUCTURES: dict[str, Structure] = {structure.name: structure for structure in _structures()}
"""The structures measured, by name."""
