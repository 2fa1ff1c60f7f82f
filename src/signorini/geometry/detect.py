"""Detect contacts: from the configuration to the table of candidate contacts."""

from __future__ import annotations

import threading
import weakref

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.geometry.detect_kernels import contact_rows
from signorini.geometry.implicit_pairs import Implicits, implicit_pairs
from signorini.geometry.tables import Family, Scratch, Tables, family_of, scratch_for, tables_of
from signorini.model.contacts import Contacts
from signorini.model.model import Materials, Model
from signorini.model.shapes import Hulls, ShapeArrays, ShapeKind
from signorini.model.state import State


def detect(model: Model, state: State, reach: Array, *, facets: bool = True) -> Contacts:
    """Find all candidate contacts: pairs of surfaces that may meet within the coming step.

    Parameters
    ----------
    model, state
        Shapes and where their bodies are.
    reach : (n_b,) [m]
        How far any surface point of each body may move. Shapes of different bodies make candidates where their gap
        is at most the sum of both reaches, unless both bodies are fixed or the pair is excluded.
    facets : whether nearly flat caps of superellipsoids touch by several points (:mod:`signorini.geometry.caps`)
    """
    q = np.require(state.q, requirements=["C", "W"])  # states that simulators show are read-only
    return detect_arrays(
        model.shapes, model.hulls, model.materials, model.fixed_count, q, reach, model.implicit, facets=facets
    )


class _Detector:
    """The tables of one scene and the memory of its last detection."""

    __slots__ = ("facets", "family", "fixed_count", "materials", "scratch", "tables")

    def __init__(self, shapes: ShapeArrays, hulls: Hulls, materials: Materials, fixed_count: int, facets: bool) -> None:
        self.materials, self.fixed_count, self.facets = materials, fixed_count, facets
        self.tables: Tables = tables_of(shapes, hulls, materials, fixed_count, facets=facets)
        self.family: Family = family_of(self.tables)
        self.scratch: Scratch = scratch_for(self.tables, 2 * shapes.kind.size)


class _Known(threading.local):
    """Detectors of this thread by the identity of the scene's arrays, for as long as these live."""

    def __init__(self) -> None:
        self.detectors: dict[int, tuple[weakref.ref[IntArray], _Detector]] = {}


_known = _Known()


def _detector(shapes: ShapeArrays, hulls: Hulls, materials: Materials, fixed_count: int, facets: bool) -> _Detector:
    detectors = _known.detectors
    key = id(shapes.kind)
    entry = detectors.get(key)
    if entry is not None and entry[0]() is shapes.kind:
        detector = entry[1]
        known = detector.materials is materials and detector.fixed_count == fixed_count
        if known and detector.facets == facets:
            return detector
    detector = _Detector(shapes, hulls, materials, fixed_count, facets)
    detectors[key] = (weakref.ref(shapes.kind, lambda _: detectors.pop(key, None)), detector)
    return detector


def detect_arrays(
    shapes: ShapeArrays,
    hulls: Hulls,
    materials: Materials,
    fixed_count: int,
    q: Array,
    reach: Array,
    implicit: Implicits = (),
    *,
    facets: bool = True,
) -> Contacts:
    """Do the work of :func:`detect` on arrays.

    What is derived from the scene is kept as long as the array ``shapes.kind`` lives: its arrays must not change.
    """
    detector = _detector(shapes, hulls, materials, fixed_count, facets)
    count, detector.scratch = contact_rows(detector.tables, detector.family, q, reach, detector.scratch)
    value, index = detector.scratch.value[:count], detector.scratch.number[:count]
    if implicit:
        i, j = detector.scratch.pairs()
        mine = (shapes.kind[i] == ShapeKind.IMPLICIT) | (shapes.kind[j] == ShapeKind.IMPLICIT)
        described = i[mine] * shapes.kind.size + j[mine]
        frame = detector.scratch.world[:, :7].copy()
        more = implicit_pairs(shapes, hulls, implicit, materials, reach, frame, described)
        value, index = np.vstack([more[0], value]), np.vstack([more[1], index])
        order = np.argsort(index[:, 2], kind="stable")
        value, index = value[order], index[order]
    return Contacts.of_rows(value, index)
