"""From joints to arrays: frames on the bodies, scalar rows, and the spanning forest."""

from __future__ import annotations

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.errors import InputError
from signorini.math.rotation import multiply, tangent_frame, unrotate
from signorini.model import WORLD, Constraint, JointArrays, Joints, RowKind, RowTable, Tree, no_joints
from signorini.scene.joint import Joint
from signorini.scene.scene import Scene

Row = tuple[RowKind, int, int]

_SLIDE, _ALIGN = RowKind.SLIDE, RowKind.ALIGN
_POINT: tuple[Row, ...] = ((_SLIDE, 0, 0), (_SLIDE, 1, 0), (_SLIDE, 2, 0))
_PARALLEL: tuple[Row, ...] = ((_ALIGN, 0, 2), (_ALIGN, 1, 2))
_ROWS: dict[str, tuple[Row, ...]] = {
    "fixed": (*_POINT, *_PARALLEL, (_ALIGN, 0, 1)),
    "revolute": (*_POINT, *_PARALLEL),
    "prismatic": (*_POINT[:2], *_PARALLEL, (_ALIGN, 0, 1)),
    "cylindrical": (*_POINT[:2], *_PARALLEL),
    "spherical": _POINT,
    "universal": (*_POINT, (_ALIGN, 2, 2)),
    "planar": (_POINT[2], *_PARALLEL),
    "distance": ((RowKind.DISTANCE, 0, 0),),
    "gear": ((RowKind.GEAR, 2, 2),),
    "spring": (),
}
# In the plane the frame's axis is normal to it, that of a prismatic joint lies in it and u_0 beside it.
_PLANAR_ROWS: dict[str, tuple[Row, ...]] = {
    "fixed": (*_POINT[:2], (_ALIGN, 0, 1)),
    "revolute": _POINT[:2],
    "prismatic": (_POINT[0], _PARALLEL[0]),
    "distance": _ROWS["distance"],
    "gear": _ROWS["gear"],
    "spring": (),
}
_COORDINATE: dict[str, Row] = {
    "revolute": (RowKind.ANGLE, 2, 2),
    "prismatic": _POINT[2],
    "distance": (RowKind.DISTANCE, 0, 0),
    "spring": (RowKind.DISTANCE, 0, 0),
}


def compile_joints(scene: Scene, names: tuple[str, ...], fixed_count: int, q: Array) -> Joints:
    """Turn joints and constraints into arrays, for bodies with poses `q` (n_b, 7) of their mass centres."""
    if not scene.joints and not scene.constraints:
        return no_joints(len(names))
    index = {name: b for b, name in enumerate(names)}
    # Springs last: rigid joints make better trees, and scene files keep the two apart.
    joints = sorted(scene.joints.values(), key=lambda joint: joint.kind == "spring")
    _refuse_loose_gears(scene, joints)
    arrays = _arrays(joints, index, q, planar=scene.planar)
    rows, drive, spring = _row_table(joints, planar=scene.planar)
    coordinates = _table([(g, _COORDINATE[joint.kind]) for g, joint in enumerate(joints) if joint.kind in _COORDINATE])
    coordinate_of = np.full(len(joints), -1, dtype=np.int64)
    coordinate_of[coordinates.joint] = np.arange(coordinates.joint.size)
    equalities, inequalities = (
        tuple(
            Constraint(one.name, one.psi, tuple(index[name] for name in one.bodies), one.jacobian, one.size)
            for one in scene.constraints
            if one.kind == kind
        )
        for kind in ("equality", "inequality")
    )
    return Joints(
        names=tuple(joint.name for joint in joints),
        kinds=tuple(joint.kind for joint in joints),
        arrays=arrays,
        rows=rows,
        coordinates=coordinates,
        coordinate_of=coordinate_of,
        drive=drive,
        spring=spring,
        motions=tuple(joint.motion for joint in joints),
        effort_limit=np.array([joint.effort_limit for joint in joints]),
        friction=np.array([joint.friction for joint in joints]),
        load_friction=np.array([joint.load_friction for joint in joints]).reshape(-1, 2),
        limits=np.array([joint.limits for joint in joints]).reshape(-1, 2),
        stiffness=np.array([joint.stiffness for joint in joints]),
        rest=np.array([joint.rest for joint in joints]),
        damping=np.array([joint.damping for joint in joints]),
        equalities=equalities,
        inequalities=inequalities,
        tree=_forest(arrays, rows, equalities, len(names), fixed_count),
    )


def _refuse_loose_gears(scene: Scene, joints: list[Joint]) -> None:
    """Refuse gears whose wheels are not on axles that stand still.

    The row of a gear holds spins in the world, and its moments act on the two wheels alone. Only what stands still may
    take their reaction: a carrier that turns would keep its own, and angular momentum would come from nowhere.
    """
    still = {None} | {fixed.name for fixed in scene.fixed.values() if fixed.motion is None}
    axles = [joint for joint in joints if joint.kind not in ("gear", "distance", "spring")]
    ends = [(joint.body_a, joint.body_b) for joint in axles]
    carried = {b for pair in ends for a, b in (pair, pair[::-1]) if a in still}
    for gear in (joint for joint in joints if joint.kind == "gear"):
        for wheel in (gear.body_a, gear.body_b):
            if wheel not in carried | still:
                raise InputError(
                    f"joint {gear.name!r}: body {wheel!r} of the gear is not on an axle that stands still, must have a "
                    "joint to the world or to a fixed body without motion: a gear holds spins in the world"
                )


# --- frames and rows -----------------------------------------------------------


def _arrays(joints: list[Joint], index: dict[str, int], q: Array, *, planar: bool) -> JointArrays:
    n = len(joints)
    body_a = np.array([WORLD if joint.body_a is None else index[joint.body_a] for joint in joints], dtype=np.int64)
    body_b = np.array([index[joint.body_b] for joint in joints], dtype=np.int64)
    anchor, frame = np.zeros((2, n, 3)), np.zeros((2, n, 4))
    parameter = np.zeros(n)
    world = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    for g, joint in enumerate(joints):
        common = _frame(joint.axis[0])
        for side, body in enumerate((body_a[g], body_b[g])):
            pose = world if body == WORLD else q[body]
            anchor[side, g] = unrotate(pose[3:], joint.anchor[side] - pose[:3])
            # A gear and a universal joint have an axis on either body; all others one common frame.
            there = _frame(joint.axis[side]) if joint.kind in ("gear", "universal") else common
            frame[side, g] = multiply((pose[3], -pose[4], -pose[5], -pose[6]), there)
        if joint.kind in ("distance", "spring"):
            parameter[g] = np.linalg.norm(joint.anchor[1] - joint.anchor[0])
        elif joint.kind == "gear":
            parameter[g] = joint.ratio
    in_plane = np.full(n, 1 if planar else 0, dtype=np.int64)
    return JointArrays(body_a, body_b, anchor[0], anchor[1], frame[0], frame[1], parameter, in_plane)


def _frame(axis: Array) -> tuple[float, float, float, float]:
    """Return the quaternion of a frame with its last column along `axis`; of an axis in the x-y plane the first too."""
    u_2 = (float(axis[0]), float(axis[1]), float(axis[2]))
    u_0 = np.array([-axis[1], axis[0], 0.0]) if axis[2] == 0.0 else np.array(tangent_frame(u_2)[0])
    R = np.column_stack([u_0, np.cross(axis, u_0), axis])
    return _quaternion(R)


def _quaternion(R: Array) -> tuple[float, float, float, float]:
    """Return the quaternion of a rotation matrix, by its largest component for accuracy."""
    squares = np.array(
        [
            1.0 + R[0, 0] + R[1, 1] + R[2, 2],
            1.0 + R[0, 0] - R[1, 1] - R[2, 2],
            1.0 - R[0, 0] + R[1, 1] - R[2, 2],
            1.0 - R[0, 0] - R[1, 1] + R[2, 2],
        ]
    )
    k = int(np.argmax(squares))
    products = np.array(
        [
            [squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], squares[1], R[1, 0] + R[0, 1], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], squares[2], R[2, 1] + R[1, 2]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2], squares[3]],
        ]
    )
    e = products[k] / np.linalg.norm(products[k])
    return (float(e[0]), float(e[1]), float(e[2]), float(e[3]))


def _row_table(joints: list[Joint], *, planar: bool) -> tuple[RowTable, IntArray, IntArray]:
    """Return the bilateral rows, and which of them are drives and springs."""
    made: list[tuple[int, Row]] = []
    drive: list[int] = []
    spring: list[int] = []
    for g, joint in enumerate(joints):
        rigid = list((_PLANAR_ROWS if planar else _ROWS)[joint.kind])
        driven = joint.motion is not None and np.isinf(joint.effort_limit)
        soft = joint.stiffness > 0.0 or joint.damping > 0.0
        if joint.kind == "distance" and joint.motion is not None:
            rigid = []  # the motion replaces the constant distance
        extra = [_COORDINATE[joint.kind]] * (int(driven) + int(soft)) if joint.kind in _COORDINATE else []
        made += [(g, row) for row in (*rigid, *extra)]
        drive += [0] * len(rigid) + [1] * int(driven) + [0] * int(soft)
        spring += [0] * len(rigid) + [0] * int(driven) + [1] * int(soft)
    return _table(made), np.array(drive, dtype=np.int64), np.array(spring, dtype=np.int64)


def _table(rows: list[tuple[int, Row]]) -> RowTable:
    columns = np.array([(g, *row) for g, row in rows], dtype=np.int64).reshape(-1, 4).T
    return RowTable(*(np.ascontiguousarray(column) for column in columns))


# --- the spanning forest ---------------------------------------------------------


def _forest(
    arrays: JointArrays, rows: RowTable, equalities: tuple[Constraint, ...], body_count: int, fixed_count: int
) -> Tree:
    """Choose the joints whose rows are eliminated body by body; the rest close loops.

    Rows of one joint stand together. Joints to fixed bodies are looked at from a root that stands for all of them.
    """
    n_j = arrays.body_a.size
    start = np.searchsorted(rows.joint, np.arange(n_j + 1))
    ground = body_count
    ends = [
        tuple(ground if body < fixed_count else int(body) for body in (arrays.body_a[g], arrays.body_b[g]))
        for g in range(n_j)
    ]
    # Gears hold speeds about axes that may be any; they never carry a body.
    gear = {int(g) for g, kind in zip(rows.joint, rows.kind, strict=True) if kind == RowKind.GEAR}
    root = _Groups(body_count + 1)
    chosen = [g for g in range(n_j) if start[g] < start[g + 1] and g not in gear and root.join(*ends[g])]
    used = {body for pair in ends for body in pair} | {b for one in equalities for b in one.bodies if b >= fixed_count}
    next_to: dict[int, list[tuple[int, int]]] = {body: [] for body in used}
    next_to.setdefault(ground, [])
    for g in chosen:
        a, b = ends[g]
        next_to[a].append((g, b))
        next_to[b].append((g, a))

    body, parent, row_start, row_stop, tree_start = [], [], [], [], [0]
    of_body = np.full(body_count, -1, dtype=np.int64)
    seen = {ground}

    def grow(first: int, joint: int, towards: int) -> None:
        """Add the tree of `first`, which hangs by `joint` (or freely), leaves first."""
        found = [(first, joint, towards)]
        seen.add(first)
        for at, _, _ in found:
            for g, other in next_to[at]:
                if other not in seen:
                    seen.add(other)
                    found.append((other, g, at))
        for at, g, up in reversed(found):
            body.append(at)
            parent.append(-1 if up in (ground, -1) else up)
            row_start.append(int(start[g]) if g >= 0 else 0)
            row_stop.append(int(start[g + 1]) if g >= 0 else 0)
            of_body[at] = len(tree_start) - 1
        tree_start.append(len(body))

    for g, other in next_to[ground]:
        grow(other, g, ground)
    for at in sorted(used - {ground}):
        if at not in seen:
            grow(at, -1, -1)
    loop_row, loop_start = _loop_rows(arrays, rows, equalities, set(chosen), of_body, len(tree_start) - 1)
    return Tree(
        body=np.array(body, dtype=np.int64),
        parent=np.array(parent, dtype=np.int64),
        row_start=np.array(row_start, dtype=np.int64),
        row_stop=np.array(row_stop, dtype=np.int64),
        of_body=of_body,
        start=np.array(tree_start, dtype=np.int64),
        loop_row=loop_row,
        loop_start=loop_start,
    )


def _loop_rows(
    arrays: JointArrays,
    rows: RowTable,
    equalities: tuple[Constraint, ...],
    chosen: set[int],
    of_body: IntArray,
    tree_count: int,
) -> tuple[IntArray, IntArray]:
    """Return the rows outside the forest, those of one mechanism (trees held together by loops) together."""
    left: list[tuple[int, tuple[int, ...]]] = [
        (r, (int(arrays.body_a[g]), int(arrays.body_b[g]))) for r, g in enumerate(rows.joint) if g not in chosen
    ]
    r = rows.joint.size
    for one in equalities:
        left += [(r + k, one.bodies) for k in range(one.size)]
        r += one.size
    groups = _Groups(tree_count)
    trees = [sorted({int(of_body[b]) for b in bodies if b >= 0 and of_body[b] >= 0}) for _, bodies in left]
    for some in trees:
        for tree in some[1:]:
            groups.join(some[0], tree)
    order = sorted(range(len(left)), key=lambda k: groups.root(trees[k][0]))
    roots = [groups.root(trees[k][0]) for k in order]
    cuts = [k for k in range(1, len(order)) if roots[k] != roots[k - 1]]
    loop_start = np.array([0, *cuts, len(order)] if order else [0], dtype=np.int64)
    return np.array([left[k][0] for k in order], dtype=np.int64), loop_start


class _Groups:
    """Sets that are joined."""

    def __init__(self, n: int) -> None:
        self._parent = list(range(n))

    def root(self, i: int) -> int:
        while self._parent[i] != i:
            self._parent[i] = self._parent[self._parent[i]]
            i = self._parent[i]
        return i

    def join(self, i: int, j: int) -> bool:
        """Join two sets; False if they were one already."""
        a, b = self.root(i), self.root(j)
        if a == b:
            return False
        self._parent[max(a, b)] = min(a, b)
        return True
