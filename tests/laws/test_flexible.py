"""Flexible bodies under `Recursive`: conserved energy, static bending, rigid limits, contacts, and what is refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.errors import FileError, InputError
from signorini.scene import compile_scene, scene_from_dict, scene_to_dict

SHAPES: dict[str, Any] = {"axial": [[0, 0, 1]], "bending": [[0, 0, 1.5, -0.5]]}
SOFT: dict[str, Any] = {"length": 0.8, "E": 2e7, "I": 2e-8, "A": 4e-4, "density": 1000.0}
"""A rubber rod: its modes are slow enough for few steps."""


def thrown(hold: str) -> sg.Scene:
    """Return a rubber rod hung in space by one of its points, bent and turning, with a rigid body on its other end."""
    scene = sg.Scene()
    beam = sg.Beam(**{**SOFT, "I": (2e-8, 3e-8)}, shapes={"axial": SHAPES["axial"], "bending_y": SHAPES["bending"]})
    e = np.array([0.9, 0.1, -0.3, 0.2])
    e /= np.linalg.norm(e)
    w = np.array([0.4, -1.0, 2.0])
    start: dict[str, Any] = {"modal": (1e-4, 0.03), "modal_rate": (0.0, 0.4)}
    # The body stands where its point is to be held, and moves so that this point rests.
    loose = sg.Scene().add_flexible(beam, position=(0, 0, 0), orientation=e, angular_velocity=w, **start)
    k = loose.point_names.index(f"{loose.name}.{hold}")
    rod = scene.add_flexible(
        beam,
        position=-loose.places()[0][k],
        orientation=e,
        velocity=-loose.rates()[k, :3],
        angular_velocity=w,
        points={"middle": 0.3},
        name="rod",
        **start,
    )
    scene.add_joint("spherical", None, f"rod.{hold}", anchor=(0, 0, 0))
    far = "start" if hold == "end" else "end"
    j = rod.point_names.index(f"rod.{far}")
    (x, turn), rates = (part[j] for part in rod.places()), rod.rates()[j]
    scene.add_body(
        sg.Sphere(0.1), mass=0.2, position=x, orientation=turn, velocity=rates[:3], angular_velocity=rates[3:], name="b"
    )
    scene.add_joint("fixed", "b", rod, anchor=x)
    return scene


@pytest.mark.compiled_only
@pytest.mark.parametrize("hold", ["start", "end"])
def test_a_thrown_rod_keeps_its_energy_and_its_joints(hold: str) -> None:
    """By RK4 to the fourth order: at least 10 times less with half the step; points stay where joints hold them."""
    errors = []
    for steps in (20, 40):
        scene = thrown(hold)
        run = sg.simulate(scene, duration=0.04, h=0.04 / steps, formulation=sg.Recursive(integrator=sg.RK4()))
        energy = run.energy()
        errors.append(float(np.abs(energy.total - energy.total[0]).max()))
        assert run.certificate.joint_drift.max() < 1e-12
        assert np.abs(energy.error).max() < 1e-12 * np.abs(energy.total).max()
        assert np.ptp(energy.elastic) > 0.3 * energy.elastic[0]
    assert errors[1] < errors[0] / 10.0


def cantilever(load: float, **words: Any) -> sg.Scene:
    """Return a light beam along x, held at its start, with a point mass on its end."""
    scene = sg.Scene(planar=True)
    beam = sg.Beam(0.5, 2e9, 1e-9, 1e-4, 0.01, shapes={"bending": SHAPES["bending"]})
    scene.add_flexible(beam, position=(0, 0), masses={"end": load / 9.81}, name="arm", **words)
    scene.add_joint("fixed", None, "arm", anchor=(0, 0), name="root")
    return scene


@pytest.mark.compiled_only
def test_a_damped_cantilever_comes_to_rest_where_statics_says() -> None:
    """P L^3 / (3 E I), to the second order in the deflection; half of what the load loses is stored, half damped."""
    P, L, EI = 0.2, 0.5, 2.0
    drop = P * L**3 / (3.0 * EI)
    run = sg.simulate(cantilever(P, damping=0.7), duration=1.0, h=5e-4, formulation=sg.Recursive(), progress=False)
    assert run.position("arm.end")[-1, 1] == pytest.approx(-drop, rel=2.0 * (drop / L) ** 2)
    assert run.modes("arm").coordinate[-1, 0] == pytest.approx(-drop, rel=2.0 * (drop / L) ** 2)
    # The end comes nearer by int S'^2 / 2 = 0.6 d^2 / L.
    assert L - run.position("arm.end")[-1, 0] == pytest.approx(0.6 * drop**2 / L, rel=1e-2)
    energy = run.energy()
    assert np.abs(energy.error).max() < 1e-14
    assert energy.elastic[-1] == pytest.approx(0.5 * P * drop, rel=1e-2)
    # What the scheme loses falls with the step.
    assert energy.damping[-1] + energy.integration[-1] == pytest.approx(0.5 * P * drop, rel=1e-2)
    assert energy.damping[-1] > 0.9 * 0.5 * P * drop
    x = run.deformed("arm", -1, points=11)
    np.testing.assert_allclose(x[-1], run.position("arm.end")[-1], rtol=0.0, atol=1e-14)
    xi = np.linspace(0.0, 1.0, 11)
    np.testing.assert_allclose(x[:, 1], -drop * (1.5 * xi**2 - 0.5 * xi**3), rtol=0.0, atol=2e-2 * drop)


@pytest.mark.compiled_only
def test_a_beam_without_modes_is_the_rigid_body() -> None:
    """A free rod thrown in space, by both descriptions, to rounding."""
    L, m = 0.8, 1000.0 * 4e-4 * 0.8
    words: dict[str, Any] = {"orientation": (1, 0, 0, 0), "angular_velocity": (0.3, -1.0, 2.0)}
    moments = (1000.0 * 5e-8 * L, m * L**2 / 12.0, m * L**2 / 12.0)
    rigid, bent = sg.Scene(), sg.Scene()
    v = np.cross(words["angular_velocity"], (L / 2, 0, 0))
    rigid.add_body(
        sg.Sphere(0.1),
        mass=m,
        inertia=moments,
        mass_centre=(L / 2, 0, 0),
        position=(0, 0, 0),
        velocity=v,
        name="rod",
        **words,
    )
    bent.add_flexible(sg.Beam(**{**SOFT, "I": (2e-8, 3e-8)}, shapes={}), position=(0, 0, 0), name="rod", **words)
    ends = []
    for scene in (rigid, bent):
        scene.add_joint("spherical", None, "rod", anchor=(0, 0, 0))
        run = sg.simulate(scene, duration=0.1, h=0.01, formulation=sg.Recursive(integrator=sg.RK4()), progress=False)
        ends.append((run.position("rod")[-1], run.orientation("rod")[-1], run.energy().kinetic[-1]))
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-11)


def landing() -> sg.Scene:
    """Return a rubber rod that falls flat on a rough floor, on points at both of its ends."""
    scene = sg.Scene(planar=True)
    scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="floor")
    scene.add_flexible(
        sg.Beam(**SOFT, shapes=SHAPES),
        position=(0, 0.05),
        velocity=(0.3, -1.0),
        angular_velocity=0.2,
        masses={"end": 0.1},
        contacts={"start": sg.Point(), "end": sg.Point()},
        damping={"rayleigh": (0.1, 1e-4)},
        name="rod",
    )
    scene.set_contact(friction=0.3)
    return scene


@pytest.mark.compiled_only
def test_points_of_a_rod_land_and_the_balance_closes() -> None:
    run = sg.simulate(landing(), duration=0.2, h=5e-4, formulation=sg.Recursive(), progress=False)
    assert run.verdict != "not trusted"
    energy = run.energy()
    scale = float(energy.total[0])
    assert np.abs(energy.error).max() < 1e-12 * scale
    assert energy.impact[-1] > 0.1 * scale
    assert energy.friction[-1] > 0.0
    assert energy.damping[-1] > 0.0
    # A contact that closes within a step closes at its end: nothing is left below the floor but what turning moves.
    for point in ("rod.start", "rod.end"):
        assert run.position(point)[:, 1].min() > -1e-5
        assert run.contact_log.body_impulse(run.names.index(point), run.step_count)[:, 1].max() > 0.0


@pytest.mark.compiled_only
def test_saved_and_resumed_runs_have_the_same_bits(tmp_path: Path) -> None:
    words: dict[str, Any] = {"h": 1e-3, "formulation": sg.Recursive(), "progress": False}
    whole = sg.simulate(landing(), duration=0.12, **words)
    whole.save(tmp_path / "whole.h5")
    again = sg.Trajectory.load(tmp_path / "whole.h5")
    for name in ("q", "v", "modal", "modal_rate"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))
    np.testing.assert_array_equal(again.deformed("rod", 60), whole.deformed("rod", 60))
    np.testing.assert_array_equal(again.modes("rod").rate, whole.modal_rate)

    class Stop(Exception):
        pass

    def stop(t: float, _: sg.State) -> None:
        if t > 0.07:
            raise Stop

    with pytest.raises(Stop):
        sg.simulate(
            landing(), duration=0.12, checkpoint=tmp_path / "c.h5", checkpoint_every=1e-9, callback=stop, **words
        )
    resumed = sg.resume(tmp_path / "c.h5", progress=False)
    sim = sg.Simulator(landing(), h=1e-3, formulation=sg.Recursive())
    for _ in range(50):
        sim.step()
    kept = sim.snapshot()
    for _ in range(5):
        sim.step()
    sim.restore(kept)
    for _ in range(70):
        sim.step()
    for name in ("q", "v", "modal", "modal_rate"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))
        np.testing.assert_array_equal(getattr(sim.state, name), getattr(whole, name)[-1])


def nodes() -> sg.Modes:
    """Return masses on a line in the plane: one at the frame, one behind it, and two in front on a mode each."""
    shapes = np.zeros((4, 2, 2))
    shapes[1, 1, 0] = shapes[2, 1, 1] = 1.0
    return sg.Modes(
        (1.0, 1.0, 2.0, 0.5), [(0, 0), (0.5, 0), (1, 0), (-0.3, 0)], shapes, [[300.0, -100.0], [-100.0, 100.0]]
    )


def lumped(**words: Any) -> sg.Scene:
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_flexible(nodes(), position=(0, 0), points={"root": 0, "tip": 2}, name="rod", **words)
    scene.add_joint("fixed", None, "rod", anchor=(0, 0))
    return scene


@pytest.mark.compiled_only
def test_modes_of_lumped_nodes_vibrate_as_their_matrices_say() -> None:
    """M = diag(1, 2), K = ((300, -100), (-100, 100)): the eigenvector of the lower frequency stays one."""
    M, K = np.diag([1.0, 2.0]), np.array([[300.0, -100.0], [-100.0, 100.0]])
    squares, vectors = np.linalg.eig(np.linalg.inv(M) @ K)
    k = int(np.argmin(squares))
    w, start = float(np.sqrt(squares[k])), 1e-2 * vectors[:, k]
    run = sg.simulate(
        lumped(modal=start), duration=0.5, h=2e-3, formulation=sg.Recursive(integrator=sg.RK4()), progress=False
    )
    want = np.cos(w * run.time)[:, None] * start
    np.testing.assert_allclose(run.modes("rod").coordinate, want, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(run.position("rod.tip")[:, 1], want[:, 1], rtol=0.0, atol=1e-8)
    assert run.deformed("rod", 10).shape == (4, 2)


def test_a_flexible_scene_comes_back_from_its_file(tmp_path: Path) -> None:
    for scene in (landing(), lumped(damping=[0.1, 0.2]), thrown("start")):
        scene.save(tmp_path / "scene.yaml")
        first, again = compile_scene(scene), compile_scene(sg.Scene.load(tmp_path / "scene.yaml"))
        assert first.names == again.names
        for name in ("q", "v", "modal", "modal_rate"):
            np.testing.assert_array_equal(getattr(again.initial_state, name), getattr(first.initial_state, name))
        for one, other in zip(first.flexible, again.flexible, strict=True):
            for a, b in zip((*one.body[2:], *one.points), (*other.body[2:], *other.points), strict=True):
                np.testing.assert_array_equal(a, b)
        assert scene_to_dict(scene_from_dict(scene_to_dict(scene))) == scene_to_dict(scene)


@pytest.mark.parametrize("formulation", [sg.MoreauJean(), sg.StewartTrinkle(), sg.QuasiRigid()])
def test_other_formulations_name_recursive(formulation: Any) -> None:
    with pytest.raises(InputError, match=r"^body 'arm': is flexible, must be rigid for .*; Recursive knows flexible"):
        sg.Simulator(cantilever(1.0), h=1e-3, formulation=formulation)


def test_accelerations_and_validity_name_recursive() -> None:
    from signorini.analysis import check_state

    for ask in (sg.accelerations, lambda scene: check_state(compile_scene(scene))):
        with pytest.raises(InputError, match=r"^body 'arm': is flexible, .*; Recursive knows flexible bodies$"):
            ask(cantilever(1.0))


def beam(**words: Any) -> sg.Beam:
    return sg.Beam(**{**SOFT, "shapes": SHAPES, **words})


@pytest.mark.parametrize(
    ("make", "words", "what"),
    [
        (lambda: beam(length=0.0), {}, "beam: length is 0.0, must be > 0"),
        (lambda: beam(E=-1.0), {}, "beam: E is -1.0, must be > 0"),
        (lambda: beam(shapes={"bending": [[0, 1.0]]}), {}, "first 2 must be 0: clamped at the frame"),
        (lambda: beam(shapes={"axial": [[1.0]]}), {}, "first 1 must be 0: clamped at the frame"),
        (lambda: beam(shapes={"bending": [[0, 0, 0]]}), {}, "must not vanish"),
        (lambda: beam(shapes={"bending": [[0, 0, 1], [0, 0, 2]]}), {}, "its inertia is singular"),
        (lambda: beam(shapes={"bendin": [[0, 0, 1]]}), {}, "unknown direction of shapes 'bendin'"),
        (lambda: beam(I=(1e-8, 1e-8)), {}, "must be a number in a planar scene"),
        (beam, {"modal": [0.0]}, "modal has shape (1,), must be (2)"),
        (beam, {"geometric": "linear"}, "geometric is 'linear', is not part of this version"),
        (beam, {"geometric": "none at all"}, "geometric is 'none at all', must be one of"),
        (beam, {"masses": {"tip": 1.0}}, "masses: no point is called 'tip'"),
        (beam, {"masses": {"end": 0.0}}, "mass at 'end' is 0.0, must be > 0"),
        (beam, {"points": {"tip": 2.0}}, "point 'tip' is 2.0, must be <= 0.8"),
        (beam, {"damping": [0.1, -0.1]}, "damping is [0.1, -0.1], must be >= 0"),
        (beam, {"damping": [[1.0, 2.0], [2.0, 1.0]]}, "damping has the eigenvalue -1, must have none below 0"),
        (beam, {"contacts": {"end": sg.Sphere(0.1)}}, "Sphere is a spatial shape, must be planar"),
        (
            lambda: sg.Modes([1.0, -1.0], [(0, 0), (1, 0)], np.zeros((2, 2, 0)), np.zeros((0, 0))),
            {},
            "mass is [1.0, -1",
        ),
        (lambda: sg.Modes([1.0], [(0, 0)], np.ones((1, 2, 1)), [[1.0]]), {}, "node 0 at the frame moves by the modes"),
        (lambda: sg.Modes([1.0], [(1, 0)], np.ones((1, 2, 1)), [[-1.0]]), {}, "stiffness has the eigenvalue -1"),
        (nodes, {"points": {"tip": 4}}, "point 'tip' is 4, must be the number of a node, 0 to 3"),
        (lambda: 3.0, {}, "is 3.0, must be a Beam or Modes"),
    ],
)
def test_bad_input_is_told_in_one_line(make: Any, words: dict[str, Any], what: str) -> None:
    with pytest.raises(InputError) as error:
        sg.Scene(planar=True).add_flexible(make(), position=(0, 0), name="arm", **words)
    assert what in str(error.value)
    assert "\n" not in str(error.value)


def test_joints_must_meet_points() -> None:
    scene = sg.Scene(planar=True)
    scene.add_flexible(beam(), position=(0, 0), name="arm")
    scene.add_flexible(nodes(), position=(2, 0), points={"root": 0}, name="rod")
    with pytest.raises(
        InputError, match=r"^joint 'a': anchor \[0\.4, 0\.1\] is not on the axis of 'arm', must meet it$"
    ):
        scene.add_joint("revolute", None, "arm", anchor=(0.4, 0.1), name="a")
    with pytest.raises(InputError, match=r"^joint 'b': anchor \[2\.5, 0\.0\] meets no point of 'rod', must be at one"):
        scene.add_joint("revolute", None, "rod", anchor=(2.5, 0), name="b")
    with pytest.raises(InputError, match=r"^joint 'c': joins 'arm' to itself"):
        scene.add_joint("revolute", "arm.start", "arm", anchor=(0.8, 0), name="c")
    assert scene.joints == {}
    scene.add_joint("revolute", None, "arm", anchor=(0.4, 0), name="d")
    assert "arm.d" in compile_scene(scene).names


def test_bad_files_name_the_place() -> None:
    data = scene_to_dict(landing())
    for change, what in (
        ({"beam": {**data["flexible"][0]["beam"], "shapes": {"axial": 3}}}, "shapes: axial is 3, must be a list"),
        ({"geometri": "none"}, "unknown key 'geometri'"),
        ({"masses": 3}, "masses is 3, must be a mapping from names"),
        ({"modes": {}}, "must have either beam or modes"),
    ):
        with pytest.raises(FileError, match="scene: flexible") as error:
            scene_from_dict({**data, "flexible": [{**data["flexible"][0], **change}]})
        assert what in str(error.value)


def test_angles_of_a_turning_body_are_unwrapped() -> None:
    """Constant spin about x: the first angle grows through full turns, the others stay zero."""
    scene = sg.Scene(gravity=(0, 0, 0))
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), angular_velocity=(20.0, 0, 0), name="top")
    run = sg.simulate(scene, duration=1.0, h=0.05, progress=False)
    angles = run.angles("top")
    np.testing.assert_allclose(angles[:, 0], 20.0 * run.time, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(angles[:, 1:], 0.0, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.angles("top", "zyx")[:, 2], 20.0 * run.time, rtol=0.0, atol=1e-9)
    with pytest.raises(InputError, match="order is 'xyx', must be one of"):
        run.angles("top", "xyx")


# --- shapes found by themselves, stiffness at the end of a step -----------------


def natural(modes: tuple[int, int], **words: Any) -> sg.Scene:
    """Return a cantilever of unit stiffness and mass without weight that finds its shapes by itself."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_flexible(sg.Beam(1.0, 1e4, 1e-4, 1e-2, 100.0, modes=modes), position=(0, 0), name="arm", **words)
    scene.add_joint("fixed", None, "arm", anchor=(0, 0))
    return scene


def frequencies(scene: sg.Scene) -> Any:
    """Return the natural frequencies of a body that is held by its frame [rad/s]."""
    body = compile_scene(scene).flexible[0].body
    M = np.einsum("n,nik,nil->kl", body.mass, body.points.Phi, body.points.Phi)
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, body.stiffness)).real))


def test_a_cantilever_finds_its_modes() -> None:
    """b^2 with b the roots of cos b cosh b = -1, and odd multiples of half pi along it; Ritz errs on the high side."""
    want = np.array([1.875104069, 4.694091133, 7.854757438]) ** 2
    found = frequencies(natural((0, 6)))[:3]
    assert (found > want).all()
    np.testing.assert_allclose(found, want, rtol=1e-3)
    first = [frequencies(natural((0, n)))[0] - want[0] for n in (2, 3, 4, 5, 6)]
    assert all(more > less > 0.0 for more, less in pairwise(first))
    along = frequencies(natural((5, 0))) / np.sqrt(1e4 / 100.0)
    np.testing.assert_allclose(along[:2], [0.5 * np.pi, 1.5 * np.pi], rtol=5e-3)


def test_static_shapes_come_first() -> None:
    """An end force bends by F L^3 / 3 E I and an end moment by M L^2 / 2 E I, exactly, and nothing else is there."""
    one = compile_scene(natural((0, 4))).flexible[0]
    end = one.points
    for load, rows, want in ((2.0, end.Phi[-1, 1], 2.0 / 3.0), (3.0, end.Psi[-1, 2], 3.0 / 2.0)):
        q = np.linalg.solve(one.body.stiffness, load * rows)
        assert end.Phi[-1, 1] @ q == pytest.approx(want, rel=1e-12)
        np.testing.assert_allclose(q[2:], 0.0, rtol=0.0, atol=1e-10)


def test_a_beam_with_modes_of_its_own_comes_back_from_its_file(tmp_path: Path) -> None:
    scene = natural((1, 3), damping=0.1)
    scene.save(tmp_path / "arm.yaml")
    first, again = (compile_scene(one).flexible[0].body for one in (scene, sg.Scene.load(tmp_path / "arm.yaml")))
    for a, b in zip((*first.points, first.stiffness, first.damping), (*again.points, *again[2:4]), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("modes", [(0, 7), (-1, 2), (1,), "two", (1.5, 2), (True, 1)])
def test_bad_numbers_of_modes(modes: Any) -> None:
    with pytest.raises(InputError, match=r"^beam: modes is .*, must be two numbers \(axial, bending\) from 0 to 6$"):
        sg.Beam(1.0, 1e4, 1e-4, 1e-2, 100.0, modes=modes)
    with pytest.raises(InputError, match="beside shapes, must be one of the two"):
        sg.Beam(1.0, 1e4, 1e-4, 1e-2, 100.0, shapes=SHAPES, modes=(0, 2))


def test_implicit_stiffness_holds_what_no_explicit_step_can() -> None:
    """As stiffness grows, a beam moves as the rigid rod, though h w is 1e5 and more; its energy is accounted for."""

    def pendulum(E: float, shapes: dict[str, Any]) -> sg.Scene:
        scene = sg.Scene(planar=True)
        scene.add_flexible(
            sg.Beam(0.8, E, 2e-8, 4e-4, 1000.0, shapes=shapes), position=(0, 0), masses={"end": 0.3}, name="rod"
        )
        scene.add_joint("revolute", None, "rod", anchor=(0, 0), name="pin")
        return scene

    formulation = sg.Recursive(stiffness="implicit")
    rigid = sg.simulate(pendulum(1e9, {}), duration=0.5, h=0.01, formulation=formulation, progress=False)
    apart = []
    for E in (1e15, 1e17):
        run = sg.simulate(pendulum(E, SHAPES), duration=0.5, h=0.01, formulation=formulation, progress=False)
        apart.append(float(np.abs(run.position("rod.end") - rigid.position("rod.end")).max()))
        assert np.abs(run.energy().error).max() < 1e-9 * np.abs(run.energy().total).max()
    assert apart[1] < 1e-7
    assert apart[1] < apart[0] / 20.0
    with pytest.raises(InputError, match="stiffness is 'stiff', must be 'explicit' or 'implicit'"):
        sg.Recursive(stiffness="stiff")


def test_implicit_stiffness_is_of_the_first_order() -> None:
    """A slow mode: x = cos(w t), and the error halves with the step."""
    errors = []
    for h in (0.005, 0.0025):
        scene = natural((0, 1), modal=(0.01,))
        w = float(frequencies(scene)[0])
        run = sg.simulate(scene, duration=0.5, h=h, formulation=sg.Recursive(stiffness="implicit"), progress=False)
        errors.append(float(np.abs(run.modes("arm").coordinate[:, 0] - 0.01 * np.cos(w * run.time)).max()))
        assert np.abs(run.energy().error).max() < 1e-15
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2)


def swung(plane: int) -> sg.Scene:
    """Return a loaded rod on a hinge in the x-y plane: of the plane, or in space, bending along y or along z."""
    words: dict[str, Any] = {"masses": {"end": 0.2}, "modal": (1e-5, 0.02), "name": "rod"}
    if plane == 0:
        scene = sg.Scene(planar=True)
        scene.add_flexible(sg.Beam(**SOFT, shapes=SHAPES), position=(0, 0), **words)
        scene.add_joint("revolute", None, "rod", anchor=(0, 0), name="pin")
        return scene
    shapes = {"axial": SHAPES["axial"], ("bending_y", "bending_z")[plane - 1]: SHAPES["bending"]}
    scene = sg.Scene(gravity=(0, -9.81, 0))
    half = np.sqrt(0.5)
    turn = (1, 0, 0, 0) if plane == 1 else (half, -half, 0, 0)  # its z along the world's y
    beam = sg.Beam(**{**SOFT, "I": (2e-8, 2e-8)}, shapes=shapes)
    scene.add_flexible(beam, position=(0, 0, 0), orientation=turn, **words)
    scene.add_joint("revolute", None, "rod", anchor=(0, 0, 0), axis=(0, 0, 1), name="pin")
    return scene


@pytest.mark.parametrize("plane", [1, 2])
def test_beams_in_the_plane_and_turned_into_it_are_the_same(plane: int) -> None:
    flat, turned = (
        sg.simulate(swung(k), duration=0.05, h=1e-3, formulation=sg.Recursive(), progress=False) for k in (0, plane)
    )
    np.testing.assert_allclose(turned.position("rod.end")[:, :2], flat.position("rod.end"), rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(turned.modes("rod").coordinate, flat.modes("rod").coordinate, rtol=0.0, atol=1e-10)


def test_a_moving_wall_pushes_a_flexible_arm() -> None:
    """It bends the arm and works on it: what it gives is what the arm gains, less what the impact takes."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    scene.add_flexible(
        sg.Beam(**SOFT, shapes={"bending": SHAPES["bending"]}),
        position=(0, 0),
        masses={"end": 0.1},
        contacts={"end": sg.Point()},
        name="arm",
    )
    scene.add_joint("fixed", None, "arm", anchor=(0, 0))
    scene.add_fixed(
        sg.HalfSpace(normal=(0, 1)), motion=lambda t: ((0.0, -0.02 + 0.05 * (1.0 - np.cos(8.0 * t))), 0.0), name="wall"
    )
    run = sg.simulate(scene, duration=0.35, h=5e-4, formulation=sg.Recursive(), progress=False)
    height = -0.02 + 0.05 * (1.0 - np.cos(8.0 * run.time))
    tip = run.position("arm.end")[:, 1]
    assert tip[-1] > 0.05
    assert (tip - height).min() > -1e-5
    energy = run.energy()
    gained = energy.total[-1] - energy.total[0]
    assert np.abs(energy.error).max() < 1e-13
    assert energy.drives[-1] - energy.impact[-1] == pytest.approx(gained + energy.integration[-1], rel=1e-6)
    assert energy.drives[-1] > 0.9 * gained > 0.0


def cut_cantilever(n: int, load: float) -> sg.Scene:
    """Return a cantilever of unit length and stiffness, of n beams one behind the other, with a force on its end."""
    scene = sg.Scene(planar=True, gravity=(0, 0))
    for k in range(n):
        scene.add_flexible(
            sg.Beam(1.0 / n, 1e4, 1e-4, 1e-2, 100.0, shapes={"bending": [[0, 0, 1], [0, 0, 0, 1]]}),
            position=(k / n, 0),
            damping={"rayleigh": (0.0, 0.5)},
            name=f"b{k}",
        )
        scene.add_joint("fixed", f"b{k - 1}.end" if k else None, f"b{k}.start", anchor=(k / n, 0))
    scene.add_force(f"b{n - 1}.end", force=(0, -load))
    return scene


@pytest.mark.compiled_only
@pytest.mark.parametrize(("load", "drop", "retreat"), [(1.0, 0.30172, 0.05643), (5.0, 0.71379, 0.38763)])
def test_large_deflection_by_substructuring(load: float, drop: float, retreat: float) -> None:
    """The elastica under P L^2 / (E I) = 1 and 5: nearer with every doubling, within 1 % with eight beams."""
    errors = []
    for n in (1, 2, 4, 8):
        run = sg.simulate(
            cut_cantilever(n, load),
            duration=4.0,
            h=0.02,
            formulation=sg.Recursive(stiffness="implicit"),
            progress=False,
        )
        tip = run.position(f"b{n - 1}.end")
        if n > 1:
            assert np.abs(tip[-1] - tip[-20]).max() < 2e-4  # at rest
        errors.append(np.abs([-tip[-1, 1] / drop - 1.0, (1.0 - tip[-1, 0]) / retreat - 1.0]))
        assert np.abs(run.energy().error).max() < 1e-13
    table = np.array(errors)
    assert (table[1:] < table[:-1]).all()
    assert table[-1].max() < 1e-2
