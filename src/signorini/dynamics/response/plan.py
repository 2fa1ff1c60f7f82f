"""In which order bodies are assembled: pairs of neighbours, level by level.

An assembly is a body or an assembly. Its rows are its open handles, six each, and after them the scalar rows of its
contacts, which stay open up to the root. Two assemblies are merged over all joints between them, their joints to the
ground and those that both ends of which they hold together: a loop is closed where its last two assemblies meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from signorini._arrays import IntArray
from signorini.errors import InputError

GROUND = -1
"""The body at the end of a joint to what stands still or moves as prescribed."""


class Plan(NamedTuple):
    """Nodes of the assembly, bodies first, every node after its kids; tables as flat arrays with their starts."""

    body_count: int
    body: IntArray
    """Bodies a and b of each joint, (n_j, 2)."""
    handle: IntArray
    """Rows of each joint in its two bodies, where they begin there, -1 for the ground, (n_j, 2)."""
    rows: IntArray
    """Number of rows of each node, (n,)."""
    row_start: IntArray
    """Where the rows of each node begin among those of all, (n + 1,)."""
    square_start: IntArray
    """Where the squares of these numbers do, (n + 1,)."""
    kid: IntArray
    kid_start: IntArray
    """(n + 1,)"""
    joint: IntArray
    """Joints that are closed in each node."""
    joint_start: IntArray
    """(n + 1,)"""
    end: IntArray
    """Where the six rows of both ends of these joints begin in the rows of the kids, one after another, or -1."""
    keep: IntArray
    """Rows of the kids, one after another, that each node goes on with; as many as it has rows."""
    root: IntArray
    """Nodes that are nobody's kids."""
    contact: IntArray
    """Which contact row, counted through all bodies, stands in each row of the roots, one root after another."""
    depth: int
    """Number of merges above a body, at most."""
    carried: int
    """Sum of the contact rows of all merged nodes: columns that contacts cost."""


class _Assembly(NamedTuple):
    node: int
    bodies: frozenset[int]
    handles: tuple[tuple[int, int], ...]
    """Open ends (joint, side) in the order of their rows."""
    contacts: tuple[int, ...]
    """Contact rows, counted through all bodies."""
    depth: int


def make_plan(ends: Sequence[tuple[int, int]], contact_rows: Sequence[int], *, late: bool = False) -> Plan:
    """Plan the assembly of bodies with these joints and numbers of contact rows.

    Parameters
    ----------
    ends : bodies a and b of every joint, :data:`GROUND` for none
    contact_rows : number of scalar contact rows of every body
    late : assemblies without contacts first, so that the rows of contacts are carried through few merges (S5, Fig. 4)
    """
    builder = _Builder(ends, contact_rows)
    while len(builder.assemblies) > 1:
        pairs = _pairs(builder, free=True) if late else []
        pairs = pairs or _pairs(builder, free=False)
        if not pairs:
            break
        for first, second in pairs:
            builder.merge(first, second)
    for assembly in [assembly for assembly in builder.assemblies.values() if assembly.handles]:
        builder.merge(assembly)
    return builder.plan()


def _pairs(builder: _Builder, *, free: bool) -> list[tuple[_Assembly, _Assembly]]:
    """Return neighbours to be merged at one level, those with the fewest neighbours first."""
    near: dict[int, set[int]] = {}
    for a, b in builder.ends:
        if GROUND not in (a, b):
            i, j = builder.assembly_of[a], builder.assembly_of[b]
            if i != j and not (free and (builder.assemblies[i].contacts or builder.assemblies[j].contacts)):
                near.setdefault(i, set()).add(j)
                near.setdefault(j, set()).add(i)
    pairs, level = [], [(len(others), i) for i, others in near.items()]
    waiting = sorted(level, reverse=True)
    while waiting:
        count, i = waiting.pop()
        if i not in near or not near[i]:
            continue
        if count != len(near[i]):  # others are merged by now
            waiting.append((len(near[i]), i))
            waiting.sort(reverse=True)
            continue
        j = min(near[i], key=lambda k: (len(near[k]), k))
        pairs.append((builder.assemblies[min(i, j)], builder.assemblies[max(i, j)]))
        for taken in (i, j):
            for other in near.pop(taken):
                if other in near:
                    near[other].discard(taken)
    return pairs


class _Builder:
    """Parts so far, and the tables of their nodes."""

    def __init__(self, ends: Sequence[tuple[int, int]], contact_rows: Sequence[int]) -> None:
        self.ends = [(int(a), int(b)) for a, b in ends]
        self.body_count = len(contact_rows)
        for g, (a, b) in enumerate(self.ends):
            if a == b or not all(GROUND <= body < self.body_count for body in (a, b)):
                raise InputError(f"joint {g}: joins bodies {a} and {b}, must join two of {self.body_count}")
        of_body: list[list[tuple[int, int]]] = [[] for _ in contact_rows]
        self.handle = np.full((len(self.ends), 2), -1, dtype=np.int64)
        for g, pair in enumerate(self.ends):
            for side, body in enumerate(pair):
                if body != GROUND:
                    self.handle[g, side] = 6 * len(of_body[body])
                    of_body[body].append((g, side))
        first = _starts(contact_rows)
        self.assemblies = {
            k: _Assembly(k, frozenset([k]), tuple(handles), tuple(range(first[k], first[k + 1])), 0)
            for k, handles in enumerate(of_body)
        }
        self.assembly_of = dict.fromkeys(range(self.body_count), 0) | {k: k for k in range(self.body_count)}
        self.rows = [6 * len(assembly.handles) + len(assembly.contacts) for assembly in self.assemblies.values()]
        self.kids: list[list[int]] = [[] for _ in self.rows]
        self.joints: list[list[int]] = [[] for _ in self.rows]
        self.closed: list[list[int]] = [[] for _ in self.rows]
        self.kept: list[list[int]] = [[] for _ in self.rows]
        self.carried = 0

    def merge(self, *assemblies: _Assembly) -> None:
        """Merge assemblies over all joints whose ends they hold, or the ground does."""
        bodies = frozenset().union(*(assembly.bodies for assembly in assemblies))
        place: dict[tuple[int, int], int] = {}
        contacts: list[int] = []
        first = 0
        for assembly in assemblies:
            place |= {end: first + 6 * k for k, end in enumerate(assembly.handles)}
            first += 6 * len(assembly.handles)
            contacts += range(first, first + len(assembly.contacts))
            first += len(assembly.contacts)
        joints = sorted({g for g, _ in place if all(b == GROUND or b in bodies for b in self.ends[g])})
        left = tuple(end for assembly in assemblies for end in assembly.handles if end[0] not in joints)
        node = len(self.rows)
        self.kids.append([assembly.node for assembly in assemblies])
        self.joints.append(joints)
        self.closed.append([place.get((g, side), -1) for g in joints for side in (0, 1)])
        self.kept.append([row for end in left for row in range(place[end], place[end] + 6)] + contacts)
        self.rows.append(len(self.kept[-1]))
        self.carried += len(contacts)
        for assembly in assemblies:
            del self.assemblies[assembly.node]
        own = tuple(row for assembly in assemblies for row in assembly.contacts)
        self.assemblies[node] = _Assembly(node, bodies, left, own, 1 + max(assembly.depth for assembly in assemblies))
        self.assembly_of |= dict.fromkeys(bodies, node)

    def plan(self) -> Plan:
        rows = np.array(self.rows, dtype=np.int64)
        return Plan(
            body_count=self.body_count,
            body=np.array(self.ends, dtype=np.int64).reshape(-1, 2),
            handle=self.handle,
            rows=rows,
            row_start=_starts(rows),
            square_start=_starts(rows**2),
            kid=_flat(self.kids),
            kid_start=_starts([len(kids) for kids in self.kids]),
            joint=_flat(self.joints),
            joint_start=_starts([len(joints) for joints in self.joints]),
            end=_flat(self.closed),
            keep=_flat([list(range(n)) if k < self.body_count else self.kept[k] for k, n in enumerate(self.rows)]),
            root=np.array(sorted(self.assemblies), dtype=np.int64),
            contact=_flat([list(self.assemblies[node].contacts) for node in sorted(self.assemblies)]),
            depth=max((assembly.depth for assembly in self.assemblies.values()), default=0),
            carried=self.carried,
        )


def _flat(tables: list[list[int]]) -> IntArray:
    return np.array([one for table in tables for one in table], dtype=np.int64)


def _starts(counts: Sequence[int] | IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.asarray(counts, dtype=np.int64))]).astype(np.int64)
