"""Overlaps are parted by the sizes of the two bodies of each contact, whatever else hangs together with them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import signorini as sg

RADIUS, MASS = np.array([1.0, 0.1, 0.01]), np.array([1e3, 1.0, 1e-3])
OVERLAP = RADIUS * [0.25e-6 + 1e-8, 1e-3, 0.05]
WAY = [0.0, 0.8 * (OVERLAP[1] - 0.25e-6 * RADIUS[1]), 0.01 * RADIUS[2]]
"""Not worth making, for a ball of 1 m; four fifths of what exceeds the band; as far as a small ball goes at once."""


def beside(radius: float, other: float, gap: float) -> float:
    """Return how far balls on a floor are from each other along it that are apart by `gap`."""
    return float(np.sqrt((radius + other + gap) ** 2 - (radius - other) ** 2))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_balls_of_all_sizes_in_one_island_are_lifted_each_by_its_own(order: tuple[int, ...]) -> None:
    """Three balls within reach of each other, a million times as heavy and a hundred times as large, in any order."""
    x = [0.0, beside(RADIUS[0], RADIUS[1], 1e-3)]
    x.append(x[1] + beside(RADIUS[1], RADIUS[2], 5e-4))
    scene = sg.Scene(gravity=(0, 0, -9.81))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in order:
        place = (x[k], 0.0, RADIUS[k] - OVERLAP[k])
        scene.add_body(sg.Sphere(RADIUS[k]), mass=MASS[k], position=place, name=f"ball{k}")
    scene.set_contact(friction=0.0)
    simulator = sg.Simulator(scene, h=1e-3)
    report = simulator.step()
    assert report.result.contacts.gap.size == 5  # so that all are one island
    for k in range(3):
        z = simulator.state.q[1 + order.index(k), 2]
        assert z - (RADIUS[k] - OVERLAP[k]) == pytest.approx(WAY[k], rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("light_first", [True, False])
@pytest.mark.parametrize("on_floor", [True, False])
def test_two_balls_part_alike_on_a_floor_and_by_their_masses_in_space(on_floor: bool, light_first: bool) -> None:
    """Of 0.8 (d - band) each goes a half, or what leaves their mass centre where it is; the first is no measure."""
    mass, scene = {"light": 1.0, "heavy": 1e3}, sg.Scene(gravity=(0, 0, -9.81 if on_floor else 0.0))
    if on_floor:
        scene.add_fixed(sg.HalfSpace(), name="floor")
    x, d = {"light": 0.0, "heavy": 2.0 - 1e-3}, 1e-3
    names = ["light", "heavy"] if light_first else ["heavy", "light"]
    for name in names:
        scene.add_body(sg.Sphere(1.0), mass=mass[name], position=(x[name], 0, 1), name=name)
    scene.set_contact(friction=0.0)
    simulator = sg.Simulator(scene, h=1e-3)
    simulator.step()
    way = 0.8 * (d - 0.25e-6)
    part = 0.5 if on_floor else mass["light"] / sum(mass.values())
    ends = {name: simulator.state.q[int(on_floor) + k, 0] for k, name in enumerate(names)}
    assert ends["heavy"] - x["heavy"] == pytest.approx(part * way, rel=1e-6)
    assert x["light"] - ends["light"] == pytest.approx((1.0 - part) * way, rel=1e-6)
