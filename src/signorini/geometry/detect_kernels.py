"""Detection in one call: frames, boxes, pairs and contacts, without memory of its own.

There is a kernel for each :class:`~signorini.geometry.tables.Family` of scenes, and all take the same arguments, so
that a scene need not compile what it has no use for::

    count = detect_simple(*tables, q, reach, *scratch)

Contacts become the rows of ``scratch.value`` and ``scratch.number``, in ascending order of pairs of shapes and names.
The result is their number, or minus the capacity that memory would need: call again with
``scratch = scratch_for(tables, -count)``.
"""

from __future__ import annotations

from signorini._arrays import Array, IntArray
from signorini._jit import inner_kernel, kernel
from signorini.geometry.curved_memory import curved_memory
from signorini.geometry.curved_pairs import curved_pair
from signorini.geometry.curved_planes import curved_plane_pair
from signorini.geometry.frames import HALF_SPACE, place_shapes
from signorini.geometry.pairs import find_pairs
from signorini.geometry.polytopes import polytope_pair
from signorini.geometry.scratch import carved, carved_integers
from signorini.geometry.simple_pairs import HULL, POLYGON, SPHERE, is_simple, out_of_reach, simple_pair, sphere_pair
from signorini.geometry.solids import PART_COLUMNS
from signorini.geometry.sphere_polytopes import sphere_polytope_pair
from signorini.geometry.sphere_rounds import sphere_round_pair
from signorini.geometry.support import curved_boxes
from signorini.geometry.tables import (
    FOUND,
    KIND,
    MOST_CORNERS,
    MOST_EDGES,
    MOST_FACES,
    MOST_VERTICES,
    Family,
    Scratch,
    Tables,
    scratch_for,
)
from signorini.model.shape_kinds import CONE, LAST_CURVED


@inner_kernel
def _counted(made: int, capacity: int) -> int:
    """Return the number of contacts, negative if they are more than fit."""
    return made if made <= capacity else -made


@kernel
def detect_simple(
    shape: Array,
    label: IntArray,
    solid: Array,
    link: IntArray,
    pair: IntArray,
    q: Array,
    reach: Array,
    world: Array,
    cells: IntArray,
    work: Array,
    mark: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Find the contacts of a scene of half-spaces, spheres and capsules, or of one with one other polytope."""
    place_shapes(shape, label, solid, q, reach, world)
    found = find_pairs(shape, label, q, reach, world, cells, work)
    made = found - found
    for c in range(cells[FOUND], cells[FOUND] + found):
        i, j = cells[c] >> 32, cells[c] & 0xFFFFFFFF
        if out_of_reach(shape, label, q, reach, i, j):
            continue
        low, high = min(label[i, KIND], label[j, KIND]), max(label[i, KIND], label[j, KIND])
        if low == SPHERE and high == SPHERE:
            made = sphere_pair(made, i, j, shape, label, pair, reach, world, value, index)
        elif is_simple(low, high):
            made = simple_pair(made, i, j, shape, label, solid, pair, reach, world, work, mark, value, index)
    return found if found < 0 else _counted(made, value.shape[0])


@kernel
def detect_polytopes(
    shape: Array,
    label: IntArray,
    solid: Array,
    link: IntArray,
    pair: IntArray,
    q: Array,
    reach: Array,
    world: Array,
    cells: IntArray,
    work: Array,
    mark: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Find the contacts of a scene of half-spaces and rounded polytopes."""
    place_shapes(shape, label, solid, q, reach, world)
    found = find_pairs(shape, label, q, reach, world, cells, work)
    v, f, m = cells[MOST_VERTICES], cells[MOST_FACES], cells[MOST_CORNERS]
    reals, integers = work.reshape(work.size), mark.reshape(mark.size)
    at, number = 10 * m, 3 * m
    vertex, at = carved(reals, at, 2 * v, 3), at + 6 * v
    plane, at = carved(reals, at, 2 * f, 4), at + 8 * f
    polygon = carved(reals, at, 4 * m, 3)
    part, number = (carved_integers(integers, number, 2, PART_COLUMNS), number + 2 * PART_COLUMNS)
    near, number = (carved_integers(integers, number, 2, cells[MOST_EDGES]), number + 2 * cells[MOST_EDGES])
    tag = carved_integers(integers, number, 4 * m, 3)
    made = found - found
    for c in range(cells[FOUND], cells[FOUND] + found):
        i, j = cells[c] >> 32, cells[c] & 0xFFFFFFFF
        if out_of_reach(shape, label, q, reach, i, j):
            continue
        low, high = (min(label[i, KIND], label[j, KIND]), max(label[i, KIND], label[j, KIND]))
        if low == SPHERE and high == SPHERE:
            made = sphere_pair(made, i, j, shape, label, pair, reach, world, value, index)
        elif is_simple(low, high):
            made = simple_pair(made, i, j, shape, label, solid, pair, reach, world, work, mark, value, index)
        elif low == SPHERE and high == HULL:
            made = sphere_polytope_pair(made, i, j, shape, label, solid, link, pair, reach, world, work, value, index)
        elif high <= POLYGON:
            made = polytope_pair(
                made,
                i,
                j,
                shape,
                label,
                solid,
                link,
                pair,
                reach,
                world,
                vertex,
                plane,
                part,
                near,
                polygon,
                tag,
                work,
                mark,
                value,
                index,
            )
    return found if found < 0 else _counted(made, value.shape[0])


@kernel
def detect_curved(
    shape: Array,
    label: IntArray,
    solid: Array,
    link: IntArray,
    pair: IntArray,
    q: Array,
    reach: Array,
    world: Array,
    cells: IntArray,
    work: Array,
    mark: IntArray,
    value: Array,
    index: IntArray,
) -> int:
    """Find the contacts of a scene of all kinds; pairs with a shape that only functions describe are passed over."""
    place_shapes(shape, label, solid, q, reach, world)
    curved_boxes(shape, label, reach, world)
    found = find_pairs(shape, label, q, reach, world, cells, work)
    memory = curved_memory(cells, work, mark)
    made = found - found
    for c in range(cells[FOUND], cells[FOUND] + found):
        i, j = cells[c] >> 32, cells[c] & 0xFFFFFFFF
        if out_of_reach(shape, label, q, reach, i, j):
            continue
        low, high = (min(label[i, KIND], label[j, KIND]), max(label[i, KIND], label[j, KIND]))
        if low == SPHERE and high == SPHERE:
            made = sphere_pair(made, i, j, shape, label, pair, reach, world, value, index)
        elif is_simple(low, high):
            made = simple_pair(made, i, j, shape, label, solid, pair, reach, world, work, mark, value, index)
        elif low == SPHERE and high == HULL:
            made = sphere_polytope_pair(made, i, j, shape, label, solid, link, pair, reach, world, work, value, index)
        elif high <= POLYGON:
            made = polytope_pair(
                made,
                i,
                j,
                shape,
                label,
                solid,
                link,
                pair,
                reach,
                world,
                memory.vertex,
                memory.plane,
                memory.part,
                memory.near,
                memory.polygon,
                memory.tag,
                work,
                mark,
                value,
                index,
            )
        elif high > LAST_CURVED:
            continue
        elif low == SPHERE and high <= CONE:
            made = sphere_round_pair(made, i, j, shape, label, pair, reach, world, work, mark, value, index)
        elif low == HALF_SPACE:
            made = curved_plane_pair(made, i, j, shape, label, pair, reach, world, work, mark, value, index)
        else:
            made = curved_pair(
                made, i, j, shape, label, solid, link, pair, reach, world, memory, work, mark, value, index
            )
    return found if found < 0 else _counted(made, value.shape[0])


KERNELS = {Family.SIMPLE: detect_simple, Family.POLYTOPES: detect_polytopes, Family.CURVED: detect_curved}


def contact_rows(tables: Tables, family: Family, q: Array, reach: Array, scratch: Scratch) -> tuple[int, Scratch]:
    """Find the contacts of a scene; return how many rows of memory they are, and that memory, grown if need be."""
    while True:
        world, cells, work, mark, value, number = scratch
        count = KERNELS[family](*tables, q, reach, world, cells, work, mark, value, number)
        if count >= 0:
            return count, scratch
        scratch = scratch_for(tables, -count)
