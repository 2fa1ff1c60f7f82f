"""Each constant of the law by a scene whose result depends on it: expected numbers say what the value means."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini._jit import kernel
from signorini.dynamics.bodies import CONSERVING
from signorini.dynamics.flight import fly_bodies, veer_bodies
from signorini.dynamics.joint_springs import midpoint_shares
from signorini.dynamics.limits import limit_margin
from signorini.engine import arrays as ea
from signorini.engine.contacts import may_mislead
from signorini.engine.joints.close import CLOSES, FAILS, closing
from signorini.engine.meet import (
    _add_meetings,
    _ends_in_overlap,
    _overlap_as_said,
    goes_through,
    lay_out_pair,
    pair_desk,
    set_path,
)
from signorini.engine.mend import _allowed, _is_too_close
from signorini.engine.solve import _next_alpha, pose_island
from signorini.formulations.layered.memory import Kept as KeptLayer
from signorini.formulations.layered.memory import LayerMemory
from signorini.posing.constants import table
from signorini.posing.joint_blocks import _rounded
from signorini.posing.passive_law import ASKED_SHARE, SHARE_COLUMNS, next_share
from signorini.solvers.island_forces import HOLDS, SLIPS
from signorini.solvers.island_table import BEST, ENTRY, MODE
from tests.friction_problems import friction as friction_problem
from tests.unit.solvers.test_island_forces import SQUARE, Kept, legs, share
from tests.unit.solvers.test_island_lu import Table
from tests.unit.solvers.test_island_robust import WEIGHT, enter, island_of

uncompiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") == "0", reason="calls kernels of the step that are not compiled alone"
)
G = 9.81
H = 0.01
PINNED: set[str] = set()
Test = TypeVar("Test", bound=Callable[..., None])


@kernel
def next_alpha(alpha: float, sweeps: float, rests: bool) -> float:
    """Return the softness of the next step; inner kernels cannot be called from Python."""
    return _next_alpha(alpha, sweeps, rests)


def pins(*names: str) -> Callable[[Test], Test]:
    """Mark a test as one that fails if a constant of these names is halved or doubled."""
    PINNED.update(names)
    return lambda test: test


def ball(
    gap: float = 0.0,
    v: tuple[float, float, float] = (0, 0, 0),
    *,
    r: float = 0.1,
    spin: float = 0.0,
    g: float = G,
    friction: float = 0.0,
    restitution: float = 0.0,
) -> sg.Scene:
    """Return a ball of 1 kg above a floor."""
    scene = sg.Scene(gravity=(0, 0, -g))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(
        sg.Sphere(r), mass=1.0, position=(0, 0, r + gap), velocity=v, angular_velocity=(0, spin, 0), name="ball"
    )
    scene.set_contact(friction=friction, restitution=restitution)
    return scene


def stepped(scene: sg.Scene, h: float = H, **options: Any) -> tuple[sg.Simulator, sg.StepReport]:
    """Return a simulator after one step, and its report."""
    simulator = sg.Simulator(scene, h=h, formulation=sg.MoreauJean(**options))
    return simulator, simulator.step()


# --- which contacts are posed ----------------------------------------------------


@pins("REACH_FACTOR", "REACH_FRACTION")
@pytest.mark.parametrize(("speed", "reach"), [(0.0, 0.01 * 0.1), (1.0, 1.25 * H * 1.0 + 0.01 * 0.1)])
def test_contacts_are_seen_within_reach(speed: float, reach: float) -> None:
    """A hundredth of the body's radius, and five quarters of its way."""
    for gap, count in ((0.99 * reach, 1), (1.01 * reach, 0)):
        assert stepped(ball(gap, (0, 0, -speed), g=0.0))[1].result.contacts.gap.size == count


class Thrown:
    """A ball of 1 m over a floor at the start of a step, on the `way` that it is to go, as the kernels see it."""

    def __init__(self, gap: float, way: tuple[float, float, float], *, spin: float = 0.0, width: float = 1.0) -> None:
        x, y, z = way
        self.simulator = sg.Simulator(ball(gap, (x / H, y / H, z / H), r=0.5, g=0.0), h=H)
        assert self.simulator.engine is not None
        self.arena = self.simulator.engine.arena
        self.table = self.arena.table
        self.arena[ea.VALUE][0] = (0, 0, 0, 0, 0, gap, 0, 0, 1, gap)
        self.arena[ea.THIN][1] = width
        for row in (ea.V, ea.V_FREE):
            self.arena[row][1] = (x / H, y / H, z / H, 0, 0, spin / H)

    def desk(self) -> Any:
        """Return the pair on the desk, ready to be followed."""
        set_path(self.table, self.arena[ea.V])
        desk = pair_desk(self.table)
        lay_out_pair(self.table, desk, int(self.arena[ea.INDEX][0, 2]))
        return desk


@uncompiled
@pins("MEETING")
def test_what_touches_and_does_not_come_closer_holds() -> None:
    """A gap, or a way, of less than 1e-4 of the thinner body is none; others are told by where they lead."""
    for way, misleads in ((0.8e-4, False), (1.2e-4, True)):
        assert may_mislead(Thrown(0.5e-4, (0, 0, -way)).table, 0) == misleads
    for gap, misleads in ((0.8e-4, False), (1.2e-4, True)):
        thrown = Thrown(gap, (0, 0, -1.0))
        thrown.arena[ea.V][1] = 0.0
        assert may_mislead(thrown.table, 0) == misleads


@pins("HIT_LEFT")
@pytest.mark.parametrize(("part", "stops"), [(0.08, False), (0.15, True)])
def test_a_contact_that_leaves_more_than_a_tenth_of_a_hit_does_not_finish_it(part: float, stops: bool) -> None:
    """A ball that comes down on a table at 1 m/s along it, and is 5 mm beyond its edge when the step ends.

    Its contact there has the normal n, and lets it come on by gap / h: of a it leaves a - (-n u - gap / h) n_z.
    """
    r, x = 0.1, 0.005
    n, gap = np.array([x, r]) / math.hypot(x, r), math.hypot(x, r) - r
    a = (n[0] + gap / H) * n[1] / (part - n[0] ** 2)
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_fixed(sg.Box((2, 2, 0.4)), position=(-1, 0, -0.2), name="table")
    scene.add_body(sg.Sphere(r), mass=1.0, position=(x - H, 0, r + a * H), velocity=(1, 0, -3 * a), name="ball")
    scene.set_contact(friction=0.0)
    simulator = sg.Simulator(scene, h=H)
    simulator.run(2)
    assert simulator.state.v[-1, 2] == pytest.approx(0.0 if stops else -part * a, abs=1e-9)


@uncompiled
@pins("SWIFT")
def test_a_ball_that_passes_by_half_its_width_is_followed() -> None:
    for way, misleads in ((0.48, False), (0.52, True)):
        assert may_mislead(Thrown(0.1, (way, 0, 0)).table, 0) == misleads


@uncompiled
@pins("DOUBT")
def test_a_spin_is_followed_that_leaves_its_tangent_by_a_thousandth_of_the_width() -> None:
    """Half the square of the angle times 0.5 m, beside 2 mm."""
    for error, misleads in ((0.8e-3, False), (1.2e-3, True)):
        spin = math.sqrt(2.0 * error * 2e-3 / 0.5)
        assert may_mislead(Thrown(5e-7, (0, 0, 0), spin=spin, width=2e-3).table, 0) == misleads


@uncompiled
@pins("SHALLOW")
def test_a_pair_is_deep_from_a_quarter_of_the_thinner_body_on() -> None:
    """On a way of 1 m towards a floor at 0.1 m: after 0.1 + 0.0025 of the step it overlaps, after 0.1 + 0.25 deep."""
    thrown = Thrown(0.1, (0, 0, -1.0))
    begins, deep = goes_through(thrown.table, thrown.desk(), 0, 1, 0.1, 2.5e-3)
    assert begins / H == pytest.approx(0.1025, abs=1e-4)
    assert deep / H == pytest.approx(0.35, abs=1e-4)


@uncompiled
@pins("DEEP")
def test_an_overlap_at_the_end_of_a_way_counts_from_a_four_hundredth_of_the_thinner_body_on() -> None:
    for overlap, counts in ((2e-3, False), (3e-3, True), (1.9e-2, True), (2.1e-2, False)):
        thrown = Thrown(0.1, (0, 0, -0.1 - overlap))
        assert _ends_in_overlap(thrown.table, thrown.desk(), 0, 1, 0.1) == counts


@uncompiled
@pins("ALIKE")
def test_normals_say_the_same_within_45_degrees() -> None:
    for degrees, alike in ((43.0, True), (47.0, False)):
        thrown, angle = Thrown(0.1, (0, 0, -0.2)), math.radians(degrees)
        thrown.arena[ea.VALUE][0, 6:9] = math.sin(angle), 0.0, math.cos(angle)
        found = _overlap_as_said(thrown.table, thrown.desk(), 0, 1, H)
        assert found == (pytest.approx(0.1) if alike else -1.0)


@uncompiled
@pins("PATIENT_ROUNDS")
def test_what_still_goes_through_after_ten_rounds_does_not_rebound() -> None:
    for rounds, rebounds in ((9, True), (10, False)):
        thrown = Thrown(0.1, (0, 0, -1.0))
        thrown.desk()
        thrown.arena[ea.COUNTS][ea.ROUNDS] = rounds
        _add_meetings(thrown.table)
        assert (thrown.arena[ea.MEETS][1, ea.NO_REBOUND] == 0.0) == rebounds


@uncompiled
@pins("TOO_CLOSE")
def test_a_step_may_end_in_overlaps_of_a_two_thousandth_of_the_thinner_body() -> None:
    for overlap, close in ((0.4e-3, False), (0.6e-3, True)):
        thrown = Thrown(0.1, (0, 0, -0.2))
        value, index = thrown.arena[ea.VALUE], thrown.arena[ea.INDEX]
        value[0, 9] = -overlap
        thrown.arena[ea.NUMBERS][[ea.DEEPEST, ea.DEEPEST_EXTENT]] = 0.0, 1.0
        assert _is_too_close(thrown.table, value, index, 0, 1, _allowed(thrown.table)) == close


@pins("SPEED_ROUNDING")
def test_a_rolling_ball_does_not_slip_by_rounding() -> None:
    """Its centre and its rim move at 1 m/s against each other: what differs by 3e-14 of that is no slip."""
    for slip, sticks in ((2e-14, True), (4e-14, False)):
        report = stepped(ball(v=(1, 0, 0), r=0.5, spin=2.0 * (1.0 - slip), friction=0.5))[1]
        assert (report.result.impulse[0, 1] == 0.0) == sticks


@pins("RELAXED")
def test_a_layer_is_forgotten_that_has_relaxed() -> None:
    """... to less than 1e-15 m, unless something presses it."""
    tangent = np.array([[1.0, 0.0, 0.0]] * 2)
    for deflection, force, forgotten in ((0.7e-15, 0.0, True), (1.4e-15, 0.0, False), (0.7e-15, 1.0, False)):
        kept = KeptLayer(np.full((2, 3), deflection), tangent, np.array([force, 0.0, 0.0, 0.0]))
        assert (LayerMemory.of({7: ((0, 1), kept)}, np.zeros(0), 0.0).feature.size == 0) == forgotten


@pins("GRAIN")
def test_beside_joints_a_way_that_positions_lose_is_none() -> None:
    """Eight roundings of a body of 1 m in a step of a millisecond: 1.8e-12 m/s."""
    for speed, rests in ((1.5e-12, True), (2.2e-12, False)):
        scene = ball(v=(speed, 0, 0), r=1.0, friction=0.5)
        scene.add_body(sg.Sphere(0.1), mass=1.0, position=(5, 0, 3), name="bob")
        scene.add_joint("spherical", None, "bob", anchor=(5, 0, 4))
        assert (stepped(scene, 1e-3)[1].result.impulse[0, 1] == 0.0) == rests


def _capped(p: float, angle: float = 0.0) -> sg.ContactTable:
    """Return the contacts of a superellipsoid of half a metre that stands on the floor, turned by `angle` about y."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    n = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    height = 0.5 * float((np.abs(n) ** (p / (p - 1.0))).sum()) ** ((p - 1.0) / p)
    e = (np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0)
    scene.add_body(sg.Superellipsoid((0.5, 0.5, 0.5), p), mass=1.0, position=(0, 0, height), orientation=e)
    scene.set_contact(friction=0.5)
    return sg.simulate(scene, duration=1e-3, h=1e-3).contacts(0)


@pins("FACET_DEPTH")
def test_facets_are_as_wide_as_a_surface_is_flat_to_a_ten_millionth() -> None:
    assert np.abs(_capped(8.0).point[:, 0]).max() == pytest.approx(0.5 * (8.0 * 1e-7) ** (1 / 8), rel=1e-5)


@pins("FACET_WIDTH")
def test_facets_are_wider_than_a_hundredth() -> None:
    """``(p 1e-7)^(1/p)`` is 0.0080 for 3.1, 0.0099 for 3.24, 0.0101 for 3.26 and 0.0116 for 3.36."""
    assert [len(_capped(p).gap) for p in (3.1, 3.24, 3.26, 3.36)] == [1, 1, 4, 4]


@pins("FACET_GAP")
def test_facets_go_across_up_to_gaps_of_a_ten_thousandth() -> None:
    """At an angle t the lowest point of exponent 8 is at ``0.5 t^(1/7)``, and its image ``2 t x`` higher."""
    for gap, corners in ((0.9e-4, 4), (1.1e-4, 2)):
        assert len(_capped(8.0, (0.5 * gap) ** (7 / 8)).gap) == corners


# --- what gaps ask for -----------------------------------------------------------


@pins("BAND", "RECOVERY", "LIFT_SPEED")
@pytest.mark.parametrize(
    ("overlap", "speed"),
    [
        (1e-6, 0.2 * (1e-6 - 0.5e-6 * 0.1) / (0.5 * H)),
        (1e-4, 0.2 * (1e-4 - 0.5e-6 * 0.1) / (0.5 * H)),
        (1e-2, 0.5 * G * H),
    ],
)
def test_with_theta_a_half_overlaps_recede_gently(overlap: float, speed: float) -> None:
    """A fifth of what exceeds half a millionth of the body in a step, at half of what gravity gives in one at most."""
    assert stepped(ball(-overlap), theta=0.5)[0].state.v[1, 2] == pytest.approx(speed, rel=1e-9)


@pins("HALF_BAND")
def test_a_ball_under_load_stays_a_quarter_of_a_millionth_above_the_floor() -> None:
    for gap, falls in ((0.2e-6, False), (0.3e-6, True)):
        simulator, _ = stepped(ball(r=1.0), 1e-4)
        snapshot = simulator.snapshot()
        snapshot.state.q[1, 2] = 1.0 + gap
        simulator.restore(snapshot)
        simulator.step()
        assert simulator.state.v[1, 2] == (-G * 1e-4 if falls else 0.0)


@pins("REST_STEPS")
def test_a_ball_rebounds_that_came_faster_than_gravity_makes_it_in_two_steps() -> None:
    for steps, rebounds in ((1.9, False), (2.1, True)):
        simulator, _ = stepped(ball(v=(0, 0, -steps * G * H), restitution=1.0))
        assert simulator.state.v[1, 2] == (pytest.approx(steps * G * H) if rebounds else 0.0)


@pins("BARELY")
def test_without_gravity_every_speed_rebounds_whose_square_is_a_number() -> None:
    for speed, rebounds in ((2e-100, True), (0.6e-100, False)):
        simulator, _ = stepped(ball(v=(0, 0, -speed), g=0.0, restitution=1.0))
        assert simulator.state.v[1, 2] == (pytest.approx(speed, rel=1e-9, abs=0.0) if rebounds else 0.0)


@pins("REBOUND_ROUNDING")
def test_a_whole_rebound_may_gain_a_few_roundings() -> None:
    for gain, taken in ((0.8e-12, True), (1.5e-12, False)):
        row = np.zeros(int(SHARE_COLUMNS))
        row[ASKED_SHARE] = 1.0
        assert next_share(row, gain, 0.0, 1e-8) == taken


# --- overlaps that are displaced -------------------------------------------------


@pins("HALF_BAND", "TAKEN_BACK", "MOST_DISPLACED", "LEAST_DISPLACED")
@pytest.mark.parametrize(
    ("overlap", "way"),
    [
        (0.25e-6 + 1e-8, 0.0),  # eight thousand millionths of the body: not worth making
        (0.25e-6 + 2e-8, 0.8 * 2e-8),
        (1e-6, 0.8 * (1e-6 - 0.25e-6)),
        (1e-4, 0.8 * (1e-4 - 0.25e-6)),
        (0.05, 0.01),
    ],
)
def test_four_fifths_of_an_overlap_are_taken_back(overlap: float, way: float) -> None:
    """Of what exceeds a quarter of a millionth of the body, by a hundredth of it at most."""
    simulator, _ = stepped(ball(-overlap, r=1.0))
    assert simulator.state.q[1, 2] - (1.0 - overlap) == pytest.approx(way, rel=1e-6, abs=1e-12)
    assert simulator.state.v[1, 2] == 0.0


@pins("TOUCHING")
def test_a_contact_under_load_is_kept_in_touch_while_another_is_parted() -> None:
    """A dumbbell of radius 1 whose other end is open: by less than 1e-4 that is closed with it, by more it is left."""
    for part, kept in ((0.9, True), (1.1, False)):
        scene = sg.Scene(gravity=(0, 0, -G))
        scene.add_fixed(sg.HalfSpace(), name="floor")
        ends: Any = [sg.Sphere(0.5).at((x, 0, 0)) for x in (-0.5, 0.5)]
        scene.add_body(ends, mass=1.0, position=(0, 0, 0.5), name="dumbbell")
        scene.set_contact(friction=0.0)
        simulator, _ = stepped(scene, 1e-4)
        snapshot, up, down = simulator.snapshot(), part * 1e-4, 1e-5
        snapshot.state.q[1, 2:] = 0.5 + 0.5 * (up - down), 1.0, 0.0, -0.5 * (up + down), 0.0
        simulator.restore(snapshot)
        simulator.step()
        z, turn = simulator.state.q[1, 2], 2.0 * simulator.state.q[1, 5]
        left = z - 0.5 - 0.5 * turn
        assert left == pytest.approx(0.2 * up if kept else up, abs=2e-6)


@pins("CROWD", "LOOSENESS")
def test_where_a_body_has_more_than_four_contacts_what_keeps_them_yields() -> None:
    """A cube between floor and ceiling, lifted by e, is to get back by m, held by four corners: m (1 + W/40) = 0.8 e.

    Their multipliers are -m/4 each, and W is 1 for its way and 3 for its turn, in units of the mass.
    """
    scene, e = sg.Scene(gravity=(0, 0, -G)), 5e-5
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_fixed(sg.Box((3, 3, 1)), position=(0, 0, 1.5 + 0.6 * e), name="ceiling")
    scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5), name="cube")
    scene.set_contact(friction=0.0)
    simulator, _ = stepped(scene, 1e-5)
    snapshot = simulator.snapshot()
    snapshot.state.q[2, 2] = 0.5 + e
    simulator.restore(snapshot)
    assert simulator.step().result.contacts.gap.size == 8
    m = 0.5 + e - simulator.state.q[2, 2]
    assert m == pytest.approx(0.8 * e / 1.1, rel=0.01)  # sweeps end when they change a hundredth


# --- softness --------------------------------------------------------------------

SOFTEST_CORNER = 8.0
"""W_nn between two cubes of 1 kg and 1 m, corner on corner: 2 (1 + 3) 1/kg."""


class Soft:
    """Stacked cubes whose first step has few sweeps and no robust solver, so that it is posed soft."""

    def __init__(self, count: int = 3, **words: Any) -> None:
        self.simulator = sg.Simulator(self.cubes(count, **words), h=0.005, tolerance=words.get("tolerance", 1e-6))
        engine = self.simulator.engine
        assert engine is not None
        self.arena = engine.arena
        self.arena[ea.COUNTS][[ea.HAS_ROBUST, ea.LIMIT, ea.SOFT]] = 0, words.get("sweeps", 4), 1
        self.arena[ea.THIN][self.arena[ea.THIN] < np.inf] = words.get("width", 1.0)

    @staticmethod
    def cubes(count: int, *, drop: float = 0.0, push: float = 0.0, **_: Any) -> sg.Scene:
        scene = sg.Scene(gravity=(0, 0, -G))
        scene.add_fixed(sg.HalfSpace(), name="floor")
        for k in range(count):
            scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0.5 + k), velocity=(push * k, 0, -drop))
        scene.set_contact(friction=0.5)
        return scene

    def alpha(self) -> float:
        """Make a step; return its softness."""
        return self.simulator.step().certificate.compliance / SOFTEST_CORNER

    def remembered(self, column: int) -> Array:
        """Return what is remembered of the island with each contact; a view."""
        rows: Array = self.arena[ea.OLD_SOFTNESS][: self.arena[ea.COUNTS][ea.OLD], column]
        return rows


@pins("FIRST_ALPHA", "ALPHA_RAISED")
@pytest.mark.parametrize(("tolerance", "alpha"), [(1e-6, 0.05), (1e-10, 0.05 * 2.5)])
def test_an_island_begins_a_twentieth_soft_and_becomes_softer_until_it_is_solved(
    tolerance: float, alpha: float
) -> None:
    assert Soft(tolerance=tolerance).alpha() == pytest.approx(alpha, rel=1e-6)


@pins("YIELD_AT_REST", "YIELD_AT_MOST", "WITHIN")
@pytest.mark.parametrize(("drop", "bound"), [(0.0, 1e-3), (1.0, 2e-2)])
def test_what_gives_way_by_more_than_a_part_of_its_width_is_posed_stiffer(drop: float, bound: float) -> None:
    """A thousandth at rest, a fiftieth in motion; then by seven tenths of that."""
    deflection = Soft(drop=drop).simulator.step().certificate.deflection
    for part, alpha in ((1.1, 0.05), (0.9, 0.7 * 0.9 * 0.05)):
        assert Soft(drop=drop, width=part * deflection / bound).alpha() == pytest.approx(alpha, rel=1e-6)


@pins("RIGID_ENOUGH")
def test_an_island_that_errs_by_less_than_a_millionth_stays_rigid() -> None:
    """Sweeps take its residual to 1.6e-6, and eight more to 1e-10, which misses the tolerance too."""
    for sweeps, soft in ((32, True), (40, False)):
        island = Soft(2, sweeps=sweeps, push=0.3, tolerance=1e-12)
        assert (island.alpha() > 0.0) == soft


@pins("LONGEST_WAIT")
def test_a_soft_island_waits_longer_and_longer_to_be_tried_as_rigid() -> None:
    island = Soft()
    waits = [(island.alpha(), island.remembered(ea.BACK)[0])[1] for _ in range(6)]
    assert waits == [2.0, 4.0, 8.0, 16.0, 16.0, 16.0]


@pins("ENTRY_AT_LEAST")
def test_an_island_never_begins_stiffer_than_four_thousandths() -> None:
    island = Soft(sweeps=2, tolerance=1e-3)
    island.alpha()
    island.remembered(ea.ALPHA)[:] = 0.0
    island.remembered(ea.ENTRY_ALPHA)[:] = 3e-3
    island.remembered(ea.WAIT)[:] = 0.0
    assert island.alpha() == pytest.approx(3e-3, rel=1e-3)
    assert island.remembered(ea.ENTRY_ALPHA)[0] == pytest.approx(4e-3, rel=1e-12)


@uncompiled
@pins("BRIDGED", "BRIDGED_BY_ALPHA")
@pytest.mark.parametrize(("alpha", "part"), [(0.01, 0.2), (0.03, 0.6), (0.1, 0.8)])
def test_a_loaded_layer_bridges_twenty_times_its_softness_of_a_gap_and_four_fifths_at_most(
    alpha: float, part: float
) -> None:
    simulator, _ = stepped(ball(r=0.5))
    assert simulator.engine is not None
    arena, gap, load = simulator.engine.arena, 1e-3, 1e6
    arena[ea.GAP][0], arena[ea.SHIFT][0], arena[ea.B][0] = gap, gap / H, 0.0
    arena[ea.REFERENCE][0], arena[ea.COMPLIANCE][0] = (load, 0.0, 0.0), 0.0
    arena[ea.DIAGONAL][0] = np.eye(3)
    pose_island(arena.table, 0, 1, alpha)
    assert arena[ea.LOAD][0, 0] + alpha * load == pytest.approx((1.0 - part) * gap / H, rel=1e-6)


@pins(
    "EASY_SWEEPS",
    "GOOD_SWEEPS",
    "HARD_SWEEPS",
    "HARDEST_SWEEPS",
    "ALPHA_EASED",
    "ALPHA_LESS",
    "ALPHA_MORE",
    "ALPHA_MUCH_MORE",
    "LEAST_ALPHA",
    "MOST_ALPHA",
)
@pytest.mark.parametrize(
    ("alpha", "sweeps", "rests", "after"),
    [
        (0.1, 20.0, False, 0.075),
        (0.1, 30.0, False, 0.09),
        (0.1, 45.0, False, 0.1),
        (0.1, 60.0, False, 0.11),
        (0.1, 60.0, True, 0.1),
        (0.1, 120.0, False, 0.15),
        (0.1, 120.0, True, 0.15),
        (1.1e-3, 20.0, False, 1e-3),
        (0.39, 120.0, False, 0.4),
    ],
)
def test_softness_follows_the_sweeps_that_a_step_took(alpha: float, sweeps: float, rests: bool, after: float) -> None:
    assert next_alpha(alpha, sweeps, rests) == pytest.approx(after, rel=1e-12)


# --- which of several solutions --------------------------------------------------


def modes_kept(slip: float, friction: float) -> list[int]:
    """Return what four legs are taken to do that slip at a part of the load's speed, and bore a part of mu p_n."""
    before, bears = np.zeros((4, 3)), np.zeros((4, 3))
    before[:, 1], bears[:, 0], bears[:, 1] = -slip * WEIGHT, 0.25 * WEIGHT, 0.125 * WEIGHT * friction
    return list(Kept(legs(SQUARE), before=before, bears=bears).mode)


@pins("RESTING", "CLOSED_SPEED", "EDGE")
@pytest.mark.parametrize(
    ("slip", "friction", "mode"),
    [
        (0.09, 0.0, HOLDS),
        (0.11, 0.0, SLIPS),
        (0.8e-6, 1.0, HOLDS),
        (1.4e-6, 1.0, SLIPS),
        (1e-4, 1.0 - 1.4e-6, HOLDS),
        (1e-4, 1.0 - 0.7e-6, SLIPS),
    ],
)
def test_legs_are_at_rest_that_slip_by_less_than_a_tenth_of_what_the_load_gives(
    slip: float, friction: float, mode: int
) -> None:
    """Or by a millionth, if their friction was at its limit but for a millionth."""
    assert modes_kept(slip, friction) == [mode] * 4


@pins("TOLD_APART", "LEAST_TOLD")
@pytest.mark.parametrize(
    ("residual", "slip", "mode"),
    [(1e-9, 80e-9, HOLDS), (1e-9, 130e-9, SLIPS), (0.0, 0.8e-12, HOLDS), (0.0, 1.4e-12, SLIPS)],
)
def test_a_solution_tells_speeds_of_a_hundred_residuals(residual: float, slip: float, mode: int) -> None:
    W, p, u = legs(SQUARE).W, np.tile([0.25 * WEIGHT, -0.125 * WEIGHT, 0.0], (4, 1)), np.zeros((4, 3))
    u[:, 1] = slip * WEIGHT
    table_of = Table()
    enter(table_of, island_of(friction_problem(W, u.reshape(-1) - W @ p.reshape(-1), np.full(4, 0.5))), p)
    table_of.reals(BEST)[:] = table_of.reals(ENTRY)
    share(table_of.w, residual, 1e-8)
    assert list(table_of.wholes(MODE)) == [mode] * 4


def twist(count: int = 1, sinking: float = 0.0) -> float:
    """Return the part of the first box's weight by which its corners bear more crosswise; boxes slide in a row."""
    scene = sg.Scene(gravity=(0, 0, -G))
    scene.add_fixed(sg.HalfSpace(), name="floor")
    for k in range(count):
        scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(k, 0, 0.5), velocity=(1, 0, -sinking))
    scene.set_contact(friction=0.3)
    result = stepped(scene)[1].result
    p = result.impulse[(result.contacts.body_a == 0) & (result.contacts.body_b == 1), 0]
    return float(p[0] - p[1] - p[2] + p[3]) / (G * H)


@pins("STIRRED_SPEED", "SMALL_ISLAND", "FACE")
def test_what_slides_on_bears_with_the_least_impulses() -> None:
    """Four corners that bear crosswise have greater ones, and move the box alike.

    So do up to eight boxes, if they sink by no more than a thousandth of the speed that is at play, here 1 m/s.
    """
    assert abs(twist()) < 1e-6
    assert abs(twist(sinking=0.8e-3)) < 1e-6
    assert abs(twist(sinking=1.3e-3)) > 0.1
    assert abs(twist(8)) < 1e-6
    assert abs(twist(9)) > 0.1


# --- sleep -----------------------------------------------------------------------


@pins("STILL_SPEED", "STILL_STEPS")
def test_a_body_sleeps_after_a_hundred_steps_below_a_thousandth_of_what_gravity_gives() -> None:
    for part, sleeps in ((0.9, True), (1.1, False)):
        scene = ball(v=(part * 1e-3 * G * H, 0, 0))
        simulator = sg.Simulator(scene, h=H, formulation=sg.MoreauJean(sleeping=True))
        asleep = [simulator.step().certificate.asleep for _ in range(102)]
        assert asleep == [0] * 100 + ([1, 1] if sleeps else [0, 0])


# --- flight ----------------------------------------------------------------------

UNEVEN: Array = np.diag([1.0, 2.0, 3.0])[None]


def flight(spin: tuple[float, float, float], h: float = 1.0) -> tuple[Array, Array]:
    """Return what a body of three moments turns by and its spin then, and by how much that veers."""
    q, v = np.zeros((1, 7)), np.zeros((1, 6))
    q[0, 3], v[0, 3:] = 1.0, spin
    flown, veer = np.zeros((1, 7)), np.zeros((1, 3))
    fly_bodies(np.array([CONSERVING]), UNEVEN, q, v, h, flown)
    veer_bodies(np.array([CONSERVING]), UNEVEN, q, v, h, veer)
    return flown[0], veer[0]


@pins("TURN_AT_ONCE", "MOST_LEGS")
def test_a_turn_of_more_than_half_a_radian_is_made_in_parts_and_of_500_about_the_momentum() -> None:
    """Flights in parts veer by nothing that could be told in one number; the last keeps its spin in body axes."""
    direction = np.array([0.6, 0.48, 0.64])
    assert np.any(flight(tuple(0.49 * direction))[1] != 0.0)
    assert np.all(flight(tuple(0.51 * direction))[1] == 0.0)
    for turn, kept in ((490.0, False), (510.0, True)):
        flown, _ = flight(tuple(turn * direction))
        w, x, y, z = flown[:4]
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        assert (np.abs(R.T @ flown[4:] - turn * direction).max() < 1e-9 * turn) == kept


@pins("NO_TURN")
def test_a_turn_by_less_than_a_rounding_is_none() -> None:
    assert np.all(flight((0.8e-17, 0.0, 0.0))[0] == 0.0)
    assert np.any(flight((1.5e-17, 0.0, 0.0))[0] != 0.0)


@pins("EVENLY")
def test_a_spin_that_veers_by_rounding_does_not() -> None:
    """About x, off by e: the mean spin differs by h w e (I_z - I_x)/(2 I_y) of itself, here e/20."""
    assert np.all(flight((0.1, 0.0, 1.4e-13))[1] == 0.0)
    assert np.any(flight((0.1, 0.0, 2.8e-13))[1] != 0.0)


# --- joints ----------------------------------------------------------------------


def wheel(turn: float, *, box: tuple[float, float, float] = (0.2, 0.1, 0.3), friction: float | None = None) -> sg.Scene:
    """Return a box on a hinge half a metre away, which turns by so much in a step."""
    scene, spin = sg.Scene(gravity=(0, 0, 0)), turn / H
    start: Any = {"velocity": (0, 0, -0.5 * spin), "angular_velocity": (0, spin, 0)}
    scene.add_body(sg.Box(box), mass=1.0, position=(0.5, 0, 0), name="box", **start)
    more: Any = {} if friction is None else {"friction": friction}
    scene.add_joint("revolute", None, "box", anchor=(0, 0, 0), axis=(0, 1, 0), **more)
    return scene


@pins("MOST_TURN")
def test_joints_close_where_a_step_ends_up_to_nine_tenths_of_a_radian() -> None:
    for turn, closed in ((0.85, True), (0.95, False)):
        assert (stepped(wheel(turn))[1].certificate.joint_drift < 1e-10) == closed


@pins("TORN")
def test_bodies_are_moved_onto_a_joint_that_drifts_by_a_twentieth_of_its_size() -> None:
    """With friction rows are linear, and leave |(1 - cos, turn - sin)| of the arm open: 0.045 or 0.054."""
    for turn, moved in ((0.30, 0), (0.33, 1)):
        assert stepped(wheel(turn, friction=1e-9))[1].certificate.moved_onto == moved


@pins("SOME_PUSH", "MOST_PUSH")
def test_bodies_get_onto_a_joint_by_the_rows_of_the_start_if_that_turns_them_little() -> None:
    """A wide box is turned by less than a tenth of a radian and keeps its spin; a narrow one loses some of it."""
    for box, turn, keeps in (((1.0, 0.1, 1.0), 0.89, True), ((0.2, 0.1, 0.3), 0.89, False)):
        simulator, report = stepped(wheel(turn, box=box, friction=1e-9))
        assert report.status == sg.Status.SOLVED
        assert report.certificate.moved_onto == 1
        assert (simulator.state.v[0, 4] == pytest.approx(turn / H, rel=1e-4)) == keeps


@pins("ASKED")
def test_drives_contradict_each_other_that_part_by_a_thousandth_of_a_joint_in_a_step() -> None:
    """Of a cube of 1 m, half its diagonal being 0.866 m."""
    for apart, status in ((0.8, sg.Status.SOLVED), (1.2, sg.Status.NO_SOLUTION)):
        scene = sg.Scene(gravity=(0, 0, 0))
        scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0), name="box")
        for k in range(2):
            rate = 1.0 + k * apart * 1e-3 * math.sqrt(0.75) / H
            guide: Any = {"anchor": (0, 0.1 * k, 0), "axis": (1, 0, 0), "motion": lambda t, rate=rate: rate * t}
            scene.add_joint("prismatic", None, "box", **guide)
        assert stepped(scene)[1].status == status


@pins("DEPENDENT")
def test_two_hinges_in_line_but_for_a_hundred_thousandth_say_the_same() -> None:
    """Tilted by d, two of their axes leave the mobility d^2 to a rotation: less than 1e-10 is none."""
    for tilt, redundant in ((0.8e-5, 5), (1.2e-5, 4)):
        scene = sg.Scene(gravity=(0, 0, -G))
        scene.add_body(sg.Box((1, 1, 1)), mass=1.0, position=(0, 0, 0), name="box")
        for k in range(2):
            scene.add_joint("revolute", None, "box", anchor=(0, k - 0.5, 0), axis=(k * tilt, 1, 0))
        assert stepped(scene, 1e-3)[1].certificate.redundant_rows == redundant


@pins("HELD_MOBILITY")
def test_a_wall_along_a_guide_does_not_stop_what_it_cannot_push() -> None:
    """Tilted by d against the guide, a wall moves the ball by d^2 of what it would if it were free: 1e-13 is none."""
    for tilt, stops in ((2.7e-7, False), (3.7e-7, True)):
        scene = sg.Scene(gravity=(0, 0, 0))
        wall: Any = {"position": (0, 0, -0.5), "orientation": (math.cos(tilt / 2), 0, math.sin(tilt / 2), 0)}
        scene.add_fixed(sg.HalfSpace(), name="wall", **wall)
        scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0), velocity=(-1, 0, 0), name="ball")
        scene.add_joint("prismatic", None, "ball", anchor=(0, 0, 0), axis=(1, 0, 0))
        scene.set_contact(friction=0.0)
        assert stepped(scene)[0].state.v[1, 0] == pytest.approx(0.0 if stops else -1.0, abs=1e-6)


@pins("HELD_SPEED")
def test_what_joints_hold_moves_by_rounding() -> None:
    held = _rounded(np.array([1.0, 0.8e-13, 1.5e-13]), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_array_equal(held, [1.0, 0.0, 1.5e-13])


@pins("CLOSED_TO")
def test_joints_are_closed_to_a_hundred_thousand_millionth() -> None:
    assert closing(0.8e-11, math.inf, 0) == CLOSES
    assert closing(1.5e-11, math.inf, 40) == FAILS


@pins("BRAKING_SHARE")
def test_a_motor_comes_at_the_speed_from_which_half_its_effort_stops_it() -> None:
    """4 N on 1 kg, 0.25 m to go: sqrt(2 (4/2) 0.25) = 1 m/s."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), velocity=(1, 0, 0), name="slider")
    guide: Any = {"anchor": (0, 0, 0), "axis": (1, 0, 0), "effort_limit": 4.0}
    scene.add_joint("prismatic", None, "slider", motion=lambda t: 0.25, **guide)
    assert stepped(scene, 1e-3)[0].state.v[0, 0] == pytest.approx(1.0, rel=1e-12)


@pins("LIMIT_MARGIN", "NEAR_LIMIT")
def test_limits_count_within_a_centimetre_and_two_steps() -> None:
    far = np.array([np.inf, np.inf])
    margin = limit_margin(np.array([0.0, -3.0]), far, 1.0, H)
    np.testing.assert_allclose(margin, [0.01, 0.01 + 2.0 * H * 3.0], rtol=1e-15)


@pins("STIFF")
def test_springs_of_a_radian_a_step_keep_their_energy() -> None:
    np.testing.assert_array_equal(midpoint_shares(np.array([0.5, 1.0, 2.0, 4.0])), [1.0, 1.0, 0.5, 0.25])


# --- all of them -----------------------------------------------------------------


def test_every_constant_of_the_law_is_pinned() -> None:
    law = {constant.name for constant in table() if constant.is_law}
    assert law == PINNED
