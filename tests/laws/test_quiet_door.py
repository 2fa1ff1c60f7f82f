"""Structures that are measured are meant as they are: nothing is said of them at the door."""

from __future__ import annotations

import pytest
from benchmarks.structures import STRUCTURES, Structure

import signorini as sg

BY_SCENE = {repr(structure.builder): structure for structure in STRUCTURES.values()}
"""Each scene once, whatever its steps."""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("structure", BY_SCENE.values(), ids=lambda structure: structure.name)
def test_structures_hear_nothing(structure: Structure) -> None:
    simulator = sg.Simulator(structure.builder(), h=structure.h)
    assert simulator.warnings == []
