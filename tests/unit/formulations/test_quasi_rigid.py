"""QuasiRigid: options, what it refuses, memory in snapshots and files, relaxing layers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arrays import Array
from signorini.audit import audit_tree
from signorini.formulations import Formulation
from signorini.formulations.layered.memory import LayerMemory
from signorini.formulations.layered.step import ImplicitStep
from signorini.geometry.moving_touch import PlanePair

H = 1e-3


def scene(**layer: Any) -> sg.Scene:
    """An egg that has hit a soft floor askew: it will fly off while the layer relaxes slowly."""
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(
        sg.Ellipsoid((0.2, 0.15, 0.1)),
        mass=1.0,
        position=(0, 0, 0.14),
        orientation=(np.cos(0.2), 0, np.sin(0.2), 0),
        velocity=(0.3, 0, -2),
        angular_velocity=(1, 2, 3),
        name="egg",
    )
    made.set_contact(friction=0.4, ellipsoid=(1.0, 0.7, 0.02))
    if layer:
        made.set_layer("floor", **layer)
    return made


SOFT = {"stiffness": (8e3, 5e3, 4e3), "damping": (60.0, 50.0, 40.0), "max_deflection": 0.05}


def fits(formulation: sg.QuasiRigid, memory: LayerMemory) -> tuple[Formulation, Any]:
    """Let the type checker see that the formulation is one."""
    return formulation, memory


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"tangential": "both"}, "tangential is 'both', must be 'active' or 'passive'"),
        ({"deflection": "deep"}, "deflection is 'deep', must be 'euclidean' or 'level_set'"),
        ({"gyroscopic": "conserving"}, "gyroscopic is 'conserving', must be 'implicit' or 'explicit'"),
    ],
)
def test_options_are_checked(words: dict[str, str], message: str) -> None:
    with pytest.raises(sg.InputError, match=message):
        sg.QuasiRigid(**words)


@pytest.mark.parametrize("word", ["torsional", "rolling", "restitution"])
def test_laws_of_others_are_refused(word: str) -> None:
    made = scene(**SOFT)
    words: dict[str, Any] = {word: 0.1}
    made.set_contact(friction=0.3, **words)
    with pytest.raises(sg.InputError, match=f"contact: {word} is 0.1, must be 0 for QuasiRigid"):
        sg.Simulator(made, h=H, formulation=sg.QuasiRigid())


def test_an_overlap_beyond_the_layer_is_refused() -> None:
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.08), name="ball")
    made.set_layer("floor", stiffness=1e4, max_deflection=0.01)
    with pytest.raises(sg.InputError, match=r"'floor' and 'ball' overlap by 0\.02 m .* at most 0\.01 m"):
        sg.Simulator(made, h=H, formulation=sg.QuasiRigid())


def test_a_coupled_layer_cannot_be_passive() -> None:
    K = [[8e3, 1e3, 0.0], [1e3, 5e3, 0.0], [0.0, 0.0, 5e3]]
    with pytest.raises(sg.InputError, match="tangential is 'passive', must be 'active' for the layer of 'floor'"):
        sg.Simulator(scene(stiffness=K), h=H, formulation=sg.QuasiRigid(tangential="passive"))


def test_a_layer_in_flight_is_state(tmp_path: Path) -> None:
    """It relaxes by C/(C + h K) a step; snapshot and file taken then go on bit for bit."""
    one = sg.Simulator(scene(**SOFT), h=H, formulation=sg.QuasiRigid())
    for _ in range(60):
        one.step()
        memory = one.memory
        if memory.feature.size and not memory.impulse.any():
            break
    assert memory.deflection[0, 0, 0] > 1e-4
    snapshot = one.snapshot()
    report = one.step()
    factor = np.array([60.0, 50.0, 40.0]) / (np.array([60.0, 50.0, 40.0]) + H * np.array([8e3, 5e3, 4e3]))
    np.testing.assert_allclose(one.memory.deflection[0, 0], factor * snapshot.memory.deflection[0, 0], rtol=1e-12)
    assert report.certificate.energy_error < 1e-12
    one.run(20)
    other = sg.Simulator(scene(**SOFT), h=H, formulation=sg.QuasiRigid())
    other.restore(snapshot)
    other.run(21)
    np.testing.assert_array_equal(one.state.q, other.state.q)
    np.testing.assert_equal(one.memory.to_arrays(), other.memory.to_arrays())

    whole = sg.simulate(scene(**SOFT), duration=60 * H, h=H, formulation=sg.QuasiRigid())
    half = sg.simulate(
        scene(**SOFT),
        duration=snapshot.step_count * H,
        h=H,
        formulation=sg.QuasiRigid(),
        checkpoint=tmp_path / "run.h5",
    )
    assert half.memory["kind"] == "layers"
    assert half.settings["formulation"]["quasi_rigid"]["tangential"] == "active"
    settings = {**half.settings, "duration": 60 * H}
    replace(half, settings=settings).save(tmp_path / "half.h5")
    resumed = sg.resume(tmp_path / "half.h5")
    np.testing.assert_array_equal(resumed.q, whole.q)
    layers = [run.layer("floor", "egg") for run in (resumed, whole, sg.Trajectory.load(tmp_path / "half.h5"))]
    np.testing.assert_array_equal(layers[0].deflection, layers[1].deflection)
    np.testing.assert_array_equal(layers[2].deflection, layers[1].deflection)
    assert layers[1].deflection.shape == (61, 3)
    assert layers[1].spring.shape == (60, 3)


def test_the_table_tells_the_layer() -> None:
    """The deflection that it shows is that of the layer, turned into the frame that the table reads from."""
    simulator = sg.Simulator(scene(**SOFT), h=H, formulation=sg.QuasiRigid())
    for _ in range(30):
        report = simulator.step()
        table = report.contacts
        if len(table) and table.normal_impulse[0] > 0.0:
            memory = simulator.memory
            assert table.deflection[0, 0] == memory.deflection[0, 0, 0]
            size = np.linalg.norm(memory.deflection[0, 0, 1:])
            assert np.linalg.norm(table.deflection[0, 1:]) == pytest.approx(size, rel=1e-12)
            n, t = np.array([0.0, 0.0, 1.0]), memory.tangent[0, 0]
            p = table.friction_impulse[0]
            local = [p @ t, p @ np.cross(n, t)]
            np.testing.assert_allclose(local, memory.impulse[0, 1:3], atol=1e-15)
            assert table.core_impulse[0] == 0.0
    assert simulator.memory.feature.size


@pytest.mark.parametrize("gyroscopic", ["implicit", "explicit"])
@pytest.mark.parametrize("deflection", ["euclidean", "level_set"])
def test_off_diagonal_layers_turn_with_the_scene(deflection: str, gyroscopic: str) -> None:
    """Turning K, C and the scene by a quarter about the normal changes nothing; the energy balance closes."""
    K = np.array([[8e3, 1e3, -5e2], [1e3, 5e3, 7e2], [-5e2, 7e2, 4e3]])
    C = np.array([[60.0, 5.0, 0.0], [5.0, 50.0, 4.0], [0.0, 4.0, 40.0]])
    # The frame begins along world x; a scene turned by +90 degrees sees there what it saw along -y.
    Q = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    runs = []
    for turned in (False, True):
        made = scene(stiffness=Q @ K @ Q.T if turned else K, damping=Q @ C @ Q.T if turned else C, max_deflection=0.008)
        made.set_contact(friction=0.4)
        if turned:
            egg = made.bodies.pop("egg")
            s = np.sqrt(0.5)
            w, x, y, z = egg.orientation
            made.add_body(
                egg.shapes,
                mass=egg.mass,
                inertia=egg.inertia,
                mass_centre=egg.mass_centre,
                position=(0, 0, 0.14),
                orientation=(s * (w - z), s * (x - y), s * (y + x), s * (z + w)),
                velocity=(0, 0.3, -2),
                angular_velocity=(-2, 1, 3),
                name="egg",
            )
        formulation = sg.QuasiRigid(deflection=deflection, gyroscopic=gyroscopic)
        run = sg.simulate(made, duration=0.04, h=H, formulation=formulation, tolerance=1e-10)
        assert run.certificate.energy_error.max() < 1e-12
        assert run.layer("floor", "egg").core.max() > 0.0
        runs.append(run)
    x, y = (run.position("egg") for run in runs)
    np.testing.assert_allclose(np.column_stack([-x[:, 1], x[:, 0], x[:, 2]]), y, atol=1e-9)


def test_a_box_slides_and_rests_on_its_corners() -> None:
    """``v = v_0 - mu g t`` until it stops; then it stays, hyperstatic as it is."""
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), velocity=(0.2, 0, 0), name="box")
    made.set_contact(friction=0.3)
    run = sg.simulate(made, duration=0.1, h=2e-3, formulation=sg.QuasiRigid(), tolerance=1e-10)
    assert not run.certificate.failed().any()
    assert run.certificate.energy_error.max() < 1e-12
    speed = np.maximum(0.0, 0.2 - 0.3 * 9.81 * run.time)
    np.testing.assert_allclose(run.linear_velocity("box")[:, 0], speed, atol=1e-12)
    np.testing.assert_allclose(run.linear_velocity("box")[:, 1:], 0.0, atol=1e-12)


def test_boxes_meet_by_corners_edges_and_faces() -> None:
    """A box is dropped askew on another, which lies on a soft floor: every step solved, nothing goes through."""
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(sg.Box((0.4, 0.4, 0.2)), mass=4.0, position=(0, 0, 0.1), name="below")
    turn = np.array([0.9, 0.3, 0.2, 0.1])
    made.add_body(
        sg.Box((0.2, 0.2, 0.2)),
        mass=1.0,
        position=(0.12, 0.1, 0.38),
        orientation=turn / np.linalg.norm(turn),
        velocity=(0, 0, -1),
        name="above",
    )
    made.set_contact(friction=0.4)
    made.set_layer("floor", stiffness=1e5, damping=100.0)
    run = sg.simulate(made, duration=0.1, h=1e-3, formulation=sg.QuasiRigid(), tolerance=1e-8)
    assert not run.certificate.failed().any()
    assert run.certificate.residual.max() <= 1e-8
    assert run.certificate.energy_error.max() < 1e-12
    assert run.certificate.min_gap.min() > -1e-3  # features are those of the start of a step


@pytest.mark.parametrize("layered", [False, True])
def test_a_pendulum_swings_into_a_wall(layered: bool) -> None:
    """Joints are rows of the same problem and do not drift."""
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(normal=(-1, 0, 0), offset=-0.25), name="wall")
    made.add_body(
        sg.Sphere(0.1), mass=1, position=(0, 0, -1), velocity=(1.5, 0, 0), angular_velocity=(0, -1.5, 0), name="bob"
    )
    made.add_joint("revolute", None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0))
    made.set_contact(friction=0.2)
    if layered:
        made.set_layer("wall", stiffness=1e4, damping=10.0)
    run = sg.simulate(made, duration=0.2, h=1e-3, formulation=sg.QuasiRigid(), tolerance=1e-10)
    assert not run.certificate.failed().any()
    assert run.certificate.joint_drift.max() <= 1e-12
    assert run.certificate.energy_error.max() < 1e-12
    assert run.contact_log.impulse[:, 0].max() > 0.0
    assert (run.linear_velocity("bob")[:, 0].min() < -0.5) == layered  # a layer throws it back


def test_hertz() -> None:
    """Deflection (5 m v^2/4k)^(2/5) and contact time 2.94319 dn/v, approached at first order."""
    exact = (5.0 / 4e6) ** 0.4
    assert exact == pytest.approx(4.35275e-3, abs=5e-9)
    errors = []
    for h in (2e-4, 1e-4):
        made = sg.Scene(gravity=(0, 0, 0))
        made.add_fixed(sg.HalfSpace(), name="floor")
        made.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0.1), velocity=(0, 0, -1), name="ball")
        made.set_layer("floor", law=sg.HuntCrossley(1e6, 1.5, 0.0))
        made.set_contact(friction=0.0)
        run = sg.simulate(made, duration=0.015, h=h, formulation=sg.QuasiRigid(), tolerance=1e-10)
        layer = run.layer("floor", "ball")
        errors.append(exact - layer.deflection[:, 0].max())
        assert np.count_nonzero(layer.spring[:, 0]) * h == pytest.approx(2.94319 * exact, abs=2.0 * h)
        assert run.certificate.energy_error.max() < 1e-12
    assert 0.8 < np.log2(errors[0] / errors[1]) < 1.2


def test_the_audit_repeats_the_law_of_layers() -> None:
    """It finds a deflection that springs, dampers and core do not explain, and energy that layers do not hold."""
    run = sg.simulate(scene(**{**SOFT, "max_deflection": 0.01}), duration=30 * H, h=H, formulation=sg.QuasiRigid())
    assert run.layer("floor", "egg").core.max() > 0.0
    report = audit_tree(run.tree())
    assert report.verdict == "trusted with remarks"
    assert report.of("law of layers").grade == report.of("energy of layers").grade == "trusted"
    assert report.of("law of layers").checked == 31
    assert any(line.startswith("overlaps and gaps, except as told") for line in report.unchecked)
    for word, what in (("deflection", "energy of layers"), ("spring", "law of layers"), ("core", "impulses of layers")):
        tree = run.tree()
        tree["layers"][word] = tree["layers"][word] * (1.0 + 1e-6)
        assert audit_tree(tree).of(what).grade == "not trusted"
    tree = run.tree()
    del tree["layers"]
    assert any("law of compliant layers: what they did is not recorded" in x for x in audit_tree(tree).unchecked)


def test_what_is_not_unique_is_said() -> None:
    """Four corners carry a box: their forces are not unique, and the least change of them is taken."""
    made = sg.Scene()
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(sg.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1), name="box")
    made.set_contact(friction=0.3)
    rigid = sg.Simulator(made, h=H, formulation=sg.QuasiRigid()).step()
    assert rigid.result.solution.info["degenerate"]
    assert rigid.status == sg.Status.SOLVED
    assert not sg.Simulator(scene(**SOFT), h=H, formulation=sg.QuasiRigid()).step().result.solution.info["degenerate"]


def test_surfaces_that_face_nowhere_are_a_failure_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlanePair, "row", None)  # not for kernels
    monkeypatch.setattr(PlanePair, "facing", lambda *_: None)
    with pytest.raises(sg.SolverFailure, match=r"step \d+ .*not solved: stalled"):
        sg.simulate(scene(**SOFT), duration=0.05, h=H, formulation=sg.QuasiRigid())


def stone(tilt: tuple[float, float]) -> sg.Scene:
    """A flat stone that presses into a soft floor while it slides and turns."""
    made, turn = sg.Scene(), np.array([1.0, *tilt, 0.3])
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(
        sg.Superellipsoid((0.05, 0.03, 0.01), exponent=4.4),
        mass=1.0,
        position=(0, 0, 0.0099),
        orientation=turn / np.linalg.norm(turn),
        velocity=(0.1, 0.2, -0.3),
        angular_velocity=(0.3, -0.4, 0.5),
        name="stone",
    )
    made.set_contact(friction=0.5, ellipsoid=(1.0, 0.8, 0.002))
    made.set_layer("floor", stiffness=(5e3, 2e3, 3e3), damping=(50.0, 60.0, 70.0), max_deflection=0.002)
    return made


@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("gyroscopic", ["implicit", "explicit"])
@pytest.mark.filterwarnings("ignore:bodies 'floor' and 'stone' overlap")
def test_the_jacobian_is_exact(gyroscopic: str, bent: bool) -> None:
    """Dense and sparse, against differences; with the point of the contact eliminated, and as two unknowns."""
    formulation = sg.QuasiRigid(gyroscopic=gyroscopic)
    sim = sg.Simulator(stone((1e-3, -2e-3)), h=H, formulation=formulation)
    contacts = formulation.detect(sim.model, sim.state, H)
    posed = [formulation._posed(sim.model, sim.state, contacts, 0, sim.memory.rows())]
    points = np.array([bent])
    step = ImplicitStep(sim.model, sim.state, posed, sim.memory.coordinate, H, formulation._options, bent=points)
    assert step.size == (12 if bent else 10)
    z = step.pack(sim.state.v, np.array([[0.01, 0.002, -0.003, 1e-5]]), np.zeros(0))
    z[10:] += [0.01, -0.02] if bent else []
    problem = step.problem(z)

    def values(x: Array) -> Array:
        return np.array(problem.value(x))

    differences = np.zeros((step.size, step.size))
    for j in range(step.size):
        small = 1e-6 * max(1.0, abs(z[j])) * np.eye(step.size)[j]
        differences[:, j] = (values(z + small) - values(z - small)) / (2.0 * small[j])
    size = np.abs(differences).max(axis=1)[:, None]
    values(z)
    for J in (np.array(problem.jacobian(z)), step._sparse().toarray()):
        np.testing.assert_allclose(J / size, differences / size, atol=1e-6)


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (1e-9, 0.0), (3e-3, -2e-3)])
@pytest.mark.filterwarnings("ignore:bodies 'floor' and 'stone' overlap")
def test_a_flat_stone_comes_to_rest(tilt: tuple[float, float]) -> None:
    """Where a surface has no curvature rounding of a pose moves its nearest point; every step is solved all the same.

    At rest the layer carries the weight, m g / K, below the pole of the stone.
    """
    sim = sg.Simulator(stone(tilt), h=H, formulation=sg.QuasiRigid())
    for _ in range(3):
        for _ in range(10):  # one by one, then many at a time
            assert sim.step().status == sg.Status.SOLVED
        assert sim.run(190) == 0
    assert sim.memory.deflection[0, 0, 0] == pytest.approx(9.81 / 5e3, rel=1e-4)
    np.testing.assert_allclose(sim.memory.impulse[0, 0], 9.81 * H, rtol=1e-4)


def test_the_gap_of_a_level_set_is_that_of_the_deflected_surface() -> None:
    """Zero where it is pressed, to rounding; by the deflection along the normal it would be off at second order."""
    made = sg.Scene(gravity=(0, 0, 0))
    made.add_fixed(sg.HalfSpace(), name="floor")
    made.add_body(
        sg.Ellipsoid((0.2, 0.15, 0.1)),
        mass=1.0,
        position=(0, 0, 0.15),
        orientation=(np.cos(0.3), 0, np.sin(0.3), 0),
        velocity=(0, 0, -1),
        name="egg",
    )
    made.set_contact(friction=0.0)
    made.set_layer("egg", stiffness=2e4)
    sim, pressed = sg.Simulator(made, h=H, formulation=sg.QuasiRigid(deflection="level_set")), []
    for _ in range(40):
        report = sim.step()
        if len(report.contacts) and report.contacts.normal_impulse.max() > 1e-6:
            pressed.append((report.certificate.min_gap, float(report.contacts.deflection[0, 0])))
    gaps, depths = np.array(pressed).T
    assert depths.max() > 2e-3
    assert np.abs(gaps).max() < 1e-10


def test_level_sets_of_a_half_space_are_its_parallels() -> None:
    """Both ways of yielding agree there; on a curved layer they differ, at second order in the deflection."""
    runs = [
        sg.simulate(scene(**SOFT), duration=30 * H, h=H, formulation=sg.QuasiRigid(deflection=way), tolerance=1e-10)
        for way in ("euclidean", "level_set")
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)
    apart = []
    for speed in (0.5, 0.25):
        pushed = []
        for way in ("euclidean", "level_set"):
            made = sg.Scene(gravity=(0, 0, 0))
            made.add_fixed(sg.HalfSpace(), name="floor")
            turn = (np.cos(0.3), 0, np.sin(0.3), 0)
            made.add_body(
                sg.Ellipsoid((0.2, 0.15, 0.1)),
                mass=1.0,
                inertia=(1e9, 1e9, 1e9),  # it does not turn
                mass_centre=(0, 0, 0),
                position=(0, 0, np.sqrt((0.2 * np.sin(0.6)) ** 2 + (0.1 * np.cos(0.6)) ** 2)),
                orientation=turn,
                velocity=(0, 0, -speed),
                name="egg",
            )
            made.set_contact(friction=0.0)
            made.set_layer("egg", stiffness=2e4)
            run = sg.simulate(made, duration=0.01, h=1e-4, formulation=sg.QuasiRigid(deflection=way), tolerance=1e-10)
            pushed.append(run.position("egg")[:, 2].min())
        apart.append(abs(pushed[0] - pushed[1]))
    assert apart[0] > 1e-6
    assert np.log2(apart[0] / apart[1]) == pytest.approx(2.0, abs=0.3)
