"""Joints of the compiled step: trees as one body, and the names of their laws."""

from __future__ import annotations

import numpy as np
import pytest

import signorini as sg
from signorini.engine import arrays as ea
from signorini.engine.joints import arrays as ja
from signorini.engine.joints.tables import JointTables
from signorini.scene import compile_scene
from tests.joint_scenes import wheel


def standing() -> sg.Scene:
    """Two links and a free ball on a floor: a hinge with a stop and friction, a guide with a spring."""
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.set_contact(friction=0.5)
    for k, name in enumerate(("a", "b", "c")):
        scene.add_body(sg.Sphere(0.2), mass=1.0 + k, position=(0.4 * k, 0.01 * k, 0.2 + 0.001 * k), name=name)
    scene.add_joint("revolute", "a", "b", anchor=(0.2, 0, 0.2), axis=(0, 1, 0), friction=0.1, limits=(-0.005, 1.0))
    scene.add_joint("prismatic", "b", "c", anchor=(0.6, 0, 0.2), axis=(1, 0, 0), spring=100.0, damping=1.0)
    scene.add_body(sg.Sphere(0.1), mass=0.5, position=(0.4, 0.05, 0.501), name="ball")
    return scene


def test_the_blocks_of_contacts_and_laws_make_the_matrix_of_the_functions() -> None:
    """``G G^T = W`` of S1 eqs. (40)-(47), whatever the basis: floor, ball, stop and friction in one island."""
    simulator = sg.Simulator(standing(), h=0.01)
    engine = simulator.engine
    assert engine is not None
    result, _ = simulator.advance()
    rows = int(engine.arena[ea.COUNTS][ea.ROWS])
    assert rows == result.contacts.contact_count + 2 and result.contacts.contact_count == 4
    start, block, gather, island = (engine.arena[k] for k in (ea.START, ea.BLOCK, ea.GATHER, ea.ISLAND))
    assert engine.arena[ea.COUNTS][ea.ISLANDS] == 1
    blocks = np.zeros((rows, 3, 2 * int(island[0, ea.N_BODIES]), 3))
    for k in range(rows):
        for g in range(start[k], start[k + 1]):
            blocks[k, :, block[g]] += gather[g]
    G = blocks.reshape(3 * rows, -1)
    place = (3 * engine.arena[ea.POSITION][:rows][:, None] + np.arange(3)).reshape(-1)
    W = np.asarray(result.problem.W)
    np.testing.assert_allclose((G @ G.T)[np.ix_(place, place)], W, atol=1e-12 * np.abs(W).max())


def test_a_step_is_posed_where_there_is_room_for_all_its_blocks() -> None:
    """Contacts met on the way of a step may need more than there was room for when it looked ahead."""
    engines = [sg.Simulator(standing(), h=0.01).engine for _ in range(2)]
    short, ample = engines
    assert short is not None and ample is not None
    assert short.run(5) == ample.run(5) == 5  # and all other arrays have grown
    used = int(short.arena[ea.START][short.arena[ea.COUNTS][ea.ROWS]])
    block, gather = np.full(2 * used, -1), np.full((2 * used, 3, 3), np.nan)
    short.arena.put(ea.BLOCK, block[: used - 1])
    short.arena.put(ea.GATHER, gather[: used - 1])
    assert short.run(1) == ample.run(1) == 1
    assert (block[used - 1 :] == -1).all() and np.isnan(gather[used - 1 :]).all()
    assert np.array_equal(short.state.v, ample.state.v)


def test_a_law_has_one_name_in_memory_and_another_after_all_contacts() -> None:
    tables = JointTables(compile_scene(standing()), 0.01)
    simulator = sg.Simulator(standing(), h=0.01)
    simulator.run(1)
    memory = simulator.memory
    assert memory.feature[:2].tolist() == [-3, -1]  # friction and the lower stop of the first joint
    inside = tables.renamed(memory)
    assert (np.diff(inside.feature) > 0).all() and inside.feature[0] >= 0
    back = tables.renamed(inside)
    assert np.array_equal(back.feature, memory.feature) and np.array_equal(back.impulse, memory.impulse)


@pytest.mark.parametrize(
    ("kind", "words", "freedom"),
    [("revolute", {"axis": (0, 1, 0)}, 1), ("spherical", {}, 3), ("fixed", {}, 0), ("planar", {"axis": (0, 0, 1)}, 3)],
)
def test_degrees_of_freedom_are_what_rigid_rows_leave(kind: str, words: dict[str, object], freedom: int) -> None:
    scene = sg.Scene()
    scene.add_body(sg.Sphere(0.1), mass=1.0, position=(0, 0, 0), name="b")
    scene.add_joint(kind, None, "b", anchor=(0, 0, 0.5), **words)  # type: ignore[arg-type]
    tables = JointTables(compile_scene(scene), 0.01)
    assert tables.arena[ja.TREE][0, ja.ALL_FREEDOMS] == freedom


def test_room_is_kept_for_the_laws_that_may_act() -> None:
    assert JointTables(compile_scene(wheel()), 0.01).law_capacity == 0
    assert JointTables(compile_scene(wheel(friction=1.0, limits=(-1.0, 1.0))), 0.01).law_capacity == 3
    driven = wheel(motion=lambda t: t, effort_limit=1.0)
    assert JointTables(compile_scene(driven), 0.01).law_capacity == 1
