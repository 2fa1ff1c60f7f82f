"""Scratch memory for pairs with a curved shape, carved out of the two pieces that every scene has."""

from __future__ import annotations

from typing import NamedTuple

from signorini._arrays import Array, IntArray
from signorini._jit import counting_kernel
from signorini.geometry.convex_depth import MAX_CORNERS, MAX_FACES
from signorini.geometry.features import MAX_CANDIDATES
from signorini.geometry.scratch import carved, carved_integers
from signorini.geometry.solids import PART_COLUMNS, SOLID_COLUMNS
from signorini.geometry.tables import MOST_CORNERS, MOST_EDGES, MOST_FACES, MOST_VERTICES


class Search(NamedTuple):
    """What the search for closest points writes."""

    simplex: Array
    """See :mod:`signorini.geometry.convex_distance`, (5, 10)."""
    corner: Array
    """Corners of an expanding polytope, see :mod:`signorini.geometry.convex_depth`, (n, 9)."""
    face: IntArray
    """Its faces, (n, 3)."""
    wall: Array
    """Their planes, (n, 4)."""
    rim: IntArray
    """The edges around the faces that a new corner sees, (n, 2)."""
    choice: IntArray
    """Candidates of features, see :mod:`signorini.geometry.features`, (2, n, 2)."""
    M: Array
    """Equations, see :mod:`signorini.geometry.touch`, (8, 7)."""


class Patches(NamedTuple):
    """What two solids show each other, as polytopes of one face; see :mod:`signorini.geometry.patches`."""

    vertex: Array
    """(n, 3)"""
    plane: Array
    """(2, 4)"""
    part: IntArray
    """(2, PART_COLUMNS)"""
    link: IntArray
    """(n, 4)"""
    name: IntArray
    """(n, 2)"""


class CurvedMemory(NamedTuple):
    """All scratch memory of a pair, polytopes included."""

    vertex: Array
    """Vertices of both polytopes in the frame of the first shape, (n, 3)."""
    plane: Array
    """(n, 4)"""
    part: IntArray
    """(2, PART_COLUMNS)"""
    near: IntArray
    """(2, n)"""
    polygon: Array
    """(n, 3)"""
    tag: IntArray
    """(n, 3)"""
    pose: Array
    """See :mod:`signorini.geometry.solids`, (2, SOLID_COLUMNS)."""
    search: Search
    patches: Patches


@counting_kernel
def curved_memory(cells: IntArray, work: Array, mark: IntArray) -> CurvedMemory:
    """Return the tables in `work` and `mark`, after the points and features of contacts with which these begin."""
    v, f, m, e = cells[MOST_VERTICES], cells[MOST_FACES], cells[MOST_CORNERS], cells[MOST_EDGES]
    reals, integers = work.reshape(work.size), mark.reshape(mark.size)
    at, number = 10 * m, 3 * m
    vertex, at = carved(reals, at, 2 * v, 3), at + 6 * v
    plane, at = carved(reals, at, 2 * f, 4), at + 8 * f
    polygon, at = carved(reals, at, 4 * m, 3), at + 12 * m
    pose, at = carved(reals, at, 2, SOLID_COLUMNS), at + 2 * SOLID_COLUMNS
    simplex, at = carved(reals, at, 5, 10), at + 50
    corner, at = carved(reals, at, MAX_CORNERS, 9), at + 9 * MAX_CORNERS
    wall, at = carved(reals, at, MAX_FACES, 4), at + 4 * MAX_FACES
    M, at = carved(reals, at, 8, 7), at + 56
    patch, at = carved(reals, at, 2 * m, 3), at + 6 * m
    patch_plane = carved(reals, at, 2, 4)
    part, number = carved_integers(integers, number, 2, PART_COLUMNS), number + 2 * PART_COLUMNS
    near, number = carved_integers(integers, number, 2, e), number + 2 * e
    tag, number = carved_integers(integers, number, 4 * m, 3), number + 12 * m
    patch_part, number = carved_integers(integers, number, 2, PART_COLUMNS), number + 2 * PART_COLUMNS
    face, number = carved_integers(integers, number, MAX_FACES, 3), number + 3 * MAX_FACES
    rim, number = carved_integers(integers, number, 3 * MAX_FACES, 2), number + 6 * MAX_FACES
    choice = integers[number : number + 4 * MAX_CANDIDATES].reshape((2, MAX_CANDIDATES, 2))
    number += 4 * MAX_CANDIDATES
    patch_link, number = carved_integers(integers, number, 2 * m + 2, 4), number + 8 * m + 8
    name = carved_integers(integers, number, 2 * m, 2)
    search = Search(simplex, corner, face, wall, rim, choice, M)
    patches = Patches(patch, patch_plane, patch_part, patch_link, name)
    return CurvedMemory(vertex, plane, part, near, polygon, tag, pose, search, patches)
