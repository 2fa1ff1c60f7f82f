"""Meetings of two shapes in motion, against what is known by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from signorini._arrays import Array, IntArray
from signorini._jit import kernel
from signorini.engine import arrays as ea
from signorini.engine.stages import stage_address
from signorini.geometry.meetings import (
    DISPLACE,
    MEET,
    RECEDE,
    STOP,
    Desk,
    first_meeting,
    lay_out,
    look_at,
    pair_speed,
    write_met,
)
from signorini.geometry.tables import MOST_CORNERS, family_of, scratch_for, tables_of
from signorini.scene.shapes import Box, HalfSpace, Shape, Sphere, encode
from tests.unit.geometry.reference import ANY_PAIR

NEAR = 1e-6
ROW = np.zeros((1, 10))


def desk_of(shapes: Sequence[Shape]) -> Desk:
    """Return a desk on which two shapes lie, one of body 0 and one of body 1."""
    arrays, hulls = encode([(b, s.at()) for b, s in enumerate(shapes)], np.zeros((2, 3)))
    tables = tables_of(arrays, hulls, ANY_PAIR, 0)
    scratch = scratch_for(tables, 64)
    rows = int(scratch.cells[MOST_CORNERS]) + 64
    desk = Desk(
        stage_address(int(ea.FIND), family_of(tables)),
        np.zeros((2, tables.shape.shape[1])),
        np.zeros((2, tables.label.shape[1]), dtype=np.int64),
        tables.solid,
        tables.link,
        tables.pair[:0],
        np.zeros((2, 7)),
        np.zeros(2),
        scratch.world,
        scratch.cells,
        scratch.work,
        scratch.mark,
        np.zeros((rows, 10)),
        np.zeros((rows, 4), dtype=np.int64),
        np.zeros((2, 3)),
        np.zeros(2, dtype=np.int64),
        np.zeros((2, 4, 7)),
        1.0,
    )
    _lay(desk, tables.shape, tables.label)
    return desk


@kernel
def _lay(desk: Desk, shape: Array, label: IntArray) -> None:
    lay_out(desk, shape, label, 0, 1)


@kernel
def _first(desk: Desk, q: Array, path: Array, duration: float, near: float) -> float:
    return first_meeting(desk, q, path, 0, 1, duration, near)


@kernel
def _speed(desk: Desk, q: Array, path: Array, duration: float) -> float:
    return pair_speed(desk, q, path, 0, 1, duration)


@kernel
def _met(desk: Desk, q: Array, path: Array, time: float, duration: float, asks: int, row: Array) -> float:
    """Write the first contact after `time` seconds; body 0 is fixed."""
    look_at(desk, q, path, 0, 1, time, 1.0)
    return write_met(desk, q, q, path, path, 0, 1, 1, time, duration, 0.0, 0.0, asks, 0, row, 0)


@kernel
def _met_from(desk: Desk, start: Array, q: Array, path: Array, time: float, duration: float, row: Array) -> float:
    """Do the same for bodies that were displaced from `start`."""
    look_at(desk, q, path, 0, 1, time, 1.0)
    return write_met(desk, start, q, path, path, 0, 1, 1, time, duration, 0.0, 0.0, MEET, 0, row, 0)


def poses(*positions: tuple[float, float, float]) -> Array:
    return np.array([[*x, 1.0, 0.0, 0.0, 0.0] for x in positions])


def going(velocity: tuple[float, float, float], spin: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Array:
    """Return the ways of a body that rests and of one that moves."""
    return np.array([[0.0] * 6, [*velocity, *spin]])


@pytest.mark.parametrize("speed", [1.0, 50.0, 1000.0])
@pytest.mark.parametrize("beside", [0.0, 0.1, 0.2999])
def test_balls_meet_when_their_centres_are_close(beside: float, speed: float) -> None:
    """By Pythagoras: centres are r_a + r_b apart after (2 - sqrt((r_a + r_b)^2 - y^2))/v seconds, not before."""
    desk, q = desk_of([Sphere(0.1), Sphere(0.2)]), poses((0, 0, 0), (-2.0, beside, 0))
    touch = (2.0 - math.sqrt(0.3**2 - beside**2)) / speed
    met = _first(desk, q, going((speed, 0, 0)), 3.0 / speed, NEAR)
    there = np.hypot(-2.0 + speed * met, beside) - 0.3
    assert met <= touch
    assert 0.0 < there <= NEAR


@pytest.mark.parametrize("beside", [0.3 + 2.0 * NEAR, 0.31, 5.0])
def test_balls_that_pass_do_not_meet(beside: float) -> None:
    desk, q = desk_of([Sphere(0.1), Sphere(0.2)]), poses((0, 0, 0), (-2.0, beside, 0))
    assert _first(desk, q, going((100.0, 0, 0)), 0.04, NEAR) == math.inf


def test_what_is_too_late_does_not_meet() -> None:
    desk, q = desk_of([Sphere(0.1), Sphere(0.2)]), poses((0, 0, 0), (-2.0, 0, 0))
    assert _first(desk, q, going((1.0, 0, 0)), 1.69, NEAR) == math.inf
    assert _first(desk, q, going((1.0, 0, 0)), 1.71, NEAR) < 1.71


@pytest.mark.parametrize("turns", [0.25, 1.0, 7.0])
@pytest.mark.parametrize("angle", [0.5, 1.5, 2.5])
def test_a_blade_meets_a_ball_at_its_angle(angle: float, turns: float) -> None:
    """A blade of width 2 w meets a ball of radius r at distance d when their angle is asin((w + r)/d)."""
    d, r, half = 0.4, 0.05, 0.01
    desk = desk_of([Sphere(r), Box((1.0, 2.0 * half, 0.1))])
    q, spin = poses((d * math.cos(angle), d * math.sin(angle), 0), (0, 0, 0)), 2.0 * math.pi * turns
    touch = (angle - math.asin((half + r) / d)) / spin
    met = _first(desk, q, going((0, 0, 0), (0, 0, spin)), 1.0, NEAR)
    if touch > 1.0:
        assert met == math.inf
    else:
        assert touch - 2.0 * NEAR / (spin * d) <= met <= touch


def test_no_point_is_faster_than_the_pair() -> None:
    """Speed and half a diagonal times spin; what turns over a plane is as far from that plane's origin as it gets."""
    q, path = poses((0, 0, 0), (0, 0, 1.0)), going((3.0, 0, 4.0), (0, 2.0, 0))
    half = 0.5 * math.sqrt(0.2**2 + 0.4**2 + 0.4**2)
    assert _speed(desk_of([Sphere(0.1), Box((0.2, 0.4, 0.4))]), q, path, 1.0) == pytest.approx(5.0 + 2.0 * half)
    path[0, 3:] = (0.0, 1.0, 0.0)  # now the plane turns, too
    faster = _speed(desk_of([HalfSpace(), Box((0.2, 0.4, 0.4))]), q, path, 1.0)
    assert faster >= 5.0 + 2.0 * half + 1.0 * (1.0 + half)


@pytest.mark.parametrize("time", [0.0, 0.01, 0.03])
def test_the_gap_of_a_meeting_is_the_way_there(time: float) -> None:
    """Psi = Psi(tau) - tau n.u; what is left at the end of the step is Psi + h n.u."""
    desk, q, h, r = desk_of([HalfSpace(), Sphere(0.1)]), poses((0, 0, 0), (0, 0, 0.6)), 0.05, 0.1
    left = _met(desk, q, going((7.0, 0, -20.0)), time, h, MEET, ROW)
    np.testing.assert_allclose(ROW[0, 6:9], [0, 0, 1], atol=1e-15)
    assert ROW[0, 9] == pytest.approx(0.6 - r, abs=1e-14)  # the normal does not turn: that of the start
    assert left == pytest.approx(0.6 - r - 20.0 * h, abs=1e-14)
    # Impulses act where the ball touches then, as seen from its centre.
    np.testing.assert_allclose(ROW[0, 3:6] - q[1, :3], [0, 0, -r], atol=1e-14)


def test_arms_are_those_of_the_meeting() -> None:
    """The blade has turned by a right angle: its end is below its centre, and comes down no more."""
    desk, q = desk_of([HalfSpace(), Box((1.0, 0.02, 0.1))]), poses((0, 0, 0), (0, 0, 0.6))
    h, spin = 0.02, 0.5 * math.pi / 0.01
    left = _met(desk, q, going((0, 0, -2.0), (0, spin, 0)), 0.01, h, MEET, ROW)
    arm = ROW[0, 3:6] - q[1, :3]
    assert arm[2] == pytest.approx(-0.5, abs=1e-12)
    down = -2.0 - spin * arm[0]  # of the corner
    gap = 0.6 - 2.0 * 0.01 - 0.5
    assert ROW[0, 9] == pytest.approx(gap - 0.01 * down, abs=1e-12)
    assert left == pytest.approx(gap + (h - 0.01) * down, abs=1e-12)


def test_what_moves_apart_is_not_posed_unless_it_is_to_part() -> None:
    """And what overlaps and sinks slowly is to stop, where that is asked for."""
    desk, q, up = desk_of([HalfSpace(), Sphere(0.1)]), poses((0, 0, 0), (0, 0, 0.08)), going((0, 0, 1.0))
    assert _met(desk, q, up, 0.01, 0.02, STOP, ROW) == math.inf
    assert _met(desk, q, up, 0.01, 0.02, RECEDE, ROW) < math.inf
    assert ROW[0, 9] == pytest.approx(-0.01, abs=1e-14)
    assert _met(desk, q, going((0, 0, -1e-3)), 0.01, 0.02, MEET, ROW) == math.inf
    assert _met(desk, q, going((0, 0, -1e-3)), 0.01, 0.02, STOP, ROW) < 0.0
    assert ROW[0, 9] == 0.0


def test_what_sinks_is_displaced_if_that_is_asked_for() -> None:
    """Parting alone stops it: displaced, it comes to where the step would have begun without the overlap."""
    desk, q, down = desk_of([HalfSpace(), Sphere(0.1)]), poses((0, 0, 0), (0, 0, 0.08)), going((0, 0, -1e-3))
    _met(desk, q, down, 0.01, 0.02, RECEDE, ROW)
    assert ROW[0, 9] == 0.0
    _met(desk, q, down, 0.01, 0.02, DISPLACE, ROW)
    assert ROW[0, 9] == pytest.approx(-0.02, abs=1e-14)


def test_contacts_belong_to_where_bodies_were_before_they_were_displaced() -> None:
    """Displaced by d and turned by a small angle, the corner at an arm r had d.n + (angle x r).n less of a gap."""
    desk, q, h = desk_of([HalfSpace(), Box((0.4, 0.2, 0.2))]), poses((0, 0, 0), (0, 0, 0.3)), 0.01
    angle, lift = 1e-3, 2e-3
    q[1, 3:] = (math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0)
    start = poses((0, 0, 0), (0, 0, 0.3 - lift))
    path = going((0, 0, -5.0))
    here, before = np.zeros((1, 10)), np.zeros((1, 10))
    left = _met_from(desk, q, q, path, 0.01, h, here)
    assert _met_from(desk, start, q, path, 0.01, h, before) == left
    arm = here[0, 3:6] - q[1, :3]
    assert abs(arm[0]) == pytest.approx(0.2, abs=1e-3)  # which a turn about y moves down by the angle times x
    assert here[0, 9] - before[0, 9] == pytest.approx(lift - angle * arm[0], abs=angle**2)
    np.testing.assert_allclose(before[0, 3:5] - start[1, :2], arm[:2], rtol=0, atol=1e-14)
