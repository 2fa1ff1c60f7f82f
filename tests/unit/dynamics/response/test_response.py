"""Divide and conquer against the dense equations of the same systems (S5 spec 11, checks 1 to 3)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from signorini._arrays import Array, IntArray
from signorini.dynamics.response import GROUND, Assembly, Bodies, Links, Plan, make_plan


class System(NamedTuple):
    """Joints, numbers of contact rows, and equations of motion."""

    ends: list[tuple[int, int]]
    contacts: list[int]
    bodies: Bodies
    links: Links
    sizes: list[int]


def random_system(r: np.random.Generator, ends: list[tuple[int, int]], contacts: list[int]) -> System:
    """Return bodies of random inertia, rigid and with modes, under random joints; one frame for all, none singular."""
    n_b = len(contacts)
    handles = [sum(body in pair for pair in ends) for body in range(n_b)]
    sizes = [6 + int(r.integers(0, 4)) for _ in range(n_b)]
    inertia, bias, jacobian, drift = [], [], [], []
    for body, n in enumerate(sizes):
        root = r.normal(size=(n, n))
        inertia.append(root @ root.T + 0.5 * n * np.eye(n))
        bias.append(r.normal(size=n))
        rows = 6 * handles[body] + contacts[body]
        T = r.normal(size=(rows, n))
        for k in range(handles[body]):  # shifts of the frame, as handles have them
            T[6 * k : 6 * k + 6, :6] = np.eye(6)
            x, y, z = r.normal(size=3)
            T[6 * k + 3 : 6 * k + 6, :3] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
        jacobian.append(T)
        drift.append(r.normal(size=rows))
    held = r.integers(1, 6, size=len(ends))
    D = np.zeros((len(ends), 6, 6))
    for g, count in enumerate(held):
        D[g, :, :count] = np.linalg.qr(r.normal(size=(6, 6)))[0][:, :count]
    d, applied = r.normal(size=(len(ends), 6)), r.normal(size=(len(ends), 6))
    links = Links(held, D, d, applied)
    return System(ends, contacts, Bodies(inertia, bias, jacobian, drift), links, sizes)


def random_ends(r: np.random.Generator) -> tuple[list[tuple[int, int]], list[int]]:
    """Return a chain or a tree of 2 to 11 bodies, most of them held, with up to two loops."""
    n = int(r.integers(2, 12))
    chain = r.random() < 0.4
    ends = [(k - 1 if chain else int(r.integers(0, k)), k) for k in range(1, n)]
    if r.random() < 0.7:
        ends.insert(0, (GROUND, 0))
    for _ in range(int(r.integers(0, 3))):
        a, b = (int(k) for k in r.choice(np.arange(-1, n), size=2, replace=False))
        ends.append((a, b))
    ends = [(b, a) if r.random() < 0.3 else (a, b) for a, b in ends]
    order = r.permutation(len(ends))
    return [ends[k] for k in order], [int(k) for k in r.choice([0, 0, 0, 3, 4], size=n)]


class Dense(NamedTuple):
    """What elimination of all bodies at once finds."""

    x: Array
    wrench: Array
    W: Array
    a0: Array
    redundant: int


def solve_dense(system: System, forces: Array | None = None) -> Dense:
    """Solve ``[Gamma -J^T; J 0] [x; mu] = [...]`` for all bodies at once, and for unit forces in every contact row."""
    ends, contacts, bodies, links, sizes = system
    start = np.concatenate([[0], np.cumsum(sizes)])
    n, held = int(start[-1]), links.held
    rows = np.concatenate([[0], np.cumsum(held)])
    Gamma, J, rhs = np.zeros((n, n)), np.zeros((rows[-1], n)), np.zeros(rows[-1])
    f = np.zeros(n)
    t = np.zeros((sum(contacts), n))
    drift = np.zeros(sum(contacts))
    used = [0] * len(contacts)
    for body in range(len(contacts)):
        own = slice(start[body], start[body + 1])
        Gamma[own, own] = bodies.inertia[body]
        f[own] -= bodies.bias[body]
    for g, pair in enumerate(ends):
        D, own = links.D[g, :, : held[g]], slice(rows[g], rows[g + 1])
        rhs[own] = links.d[g, : held[g]]
        for side, body in enumerate(pair):
            if body != GROUND:
                sign, k = (-1.0, 1.0)[side], 6 * used[body]
                T = bodies.jacobian[body][k : k + 6]
                J[own, start[body] : start[body + 1]] = sign * D.T @ T
                rhs[own] -= sign * D.T @ bodies.drift[body][k : k + 6]
                f[start[body] : start[body + 1]] += sign * T.T @ links.applied[g]
                used[body] += 1
    row = 0
    for body, count in enumerate(contacts):
        k = 6 * used[body]
        t[row : row + count, start[body] : start[body + 1]] = bodies.jacobian[body][k:]
        drift[row : row + count] = bodies.drift[body][k:]
        row += count
    m = int(rows[-1])
    redundant = m - int(np.linalg.matrix_rank(J, tol=1e-9)) if m else 0
    if redundant:  # by chance; nothing to compare with
        return Dense(f, links.d, t, drift, redundant)
    K = np.block([[Gamma, -J.T], [J, np.zeros((m, m))]])
    lam = np.zeros(len(drift)) if forces is None else forces
    free = np.linalg.solve(K, np.concatenate([f, rhs]))
    unit = np.linalg.solve(K, np.vstack([t.T, np.zeros((m, len(drift)))]))
    all_of_it = free + unit @ lam
    wrench = np.array(
        [
            links.D[g, :, : held[g]] @ all_of_it[n + rows[g] : n + rows[g + 1]] + links.applied[g]
            for g in range(len(ends))
        ]
    ).reshape(-1, 6)
    return Dense(all_of_it[:n], wrench, t @ unit[:n], t @ free[:n] + drift, 0)


def assembled(system: System, plan: Plan) -> Assembly:
    assembly = Assembly(plan, np.array(system.sizes), system.links.held)
    assert assembly.assemble(system.bodies, system.links)
    return assembly


def contact_order(assembly: Assembly, contacts: list[int], ends: list[tuple[int, int]]) -> IntArray:
    """Return which row of the roots, one root after another, is which contact row of the bodies, in order."""
    plan = assembly.plan
    start = np.concatenate([[0], np.cumsum(contacts)])

    def rows_of(node: int) -> list[int]:
        """Return for each row of a node its contact row, -1 for handles."""
        if node < plan.body_count:
            handles = sum(node in pair for pair in ends)
            return [-1] * (6 * handles) + list(range(start[node], start[node + 1]))
        stacked = [k for kid in plan.kid[plan.kid_start[node] : plan.kid_start[node + 1]] for k in rows_of(int(kid))]
        return [stacked[k] for k in plan.keep[plan.row_start[node] : plan.row_start[node + 1]]]

    order = np.array([k for root in plan.root for k in rows_of(int(root))], dtype=np.int64)
    np.testing.assert_array_equal(plan.contact, order)
    return order


def close(got: Array, want: Array, rtol: float) -> None:
    np.testing.assert_allclose(got, want, rtol=0.0, atol=rtol * max(1.0, float(np.abs(want).max(initial=0.0))))


@pytest.mark.parametrize("late", [False, True])
def test_200_random_systems_against_dense_elimination(late: bool) -> None:
    r = np.random.default_rng(7)
    redundant = 0
    for _ in range(200):
        ends, contacts = random_ends(r)
        system = random_system(r, ends, contacts)
        assembly = assembled(system, make_plan(ends, contacts, late=late))
        order = contact_order(assembly, contacts, ends)
        assert sorted(order) == list(range(sum(contacts)))
        forces = r.normal(size=sum(contacts))
        dense, found = solve_dense(system, forces), assembly.solve(forces[order])
        assert assembly.redundant == dense.redundant
        if dense.redundant:
            redundant += 1
            continue
        close(found.acceleration, dense.x, 1e-10)
        close(found.wrench, dense.wrench, 1e-10)
        W, a0 = np.zeros((order.size, order.size)), np.zeros(order.size)
        first = 0
        for root in assembly.plan.root:
            Z, b = assembly.response(int(root))
            own = order[first : first + b.size]
            W[np.ix_(own, own)], a0[own] = Z, b
            first += b.size
        close(W, dense.W, 1e-10)
        close(a0, dense.a0, 1e-10)
        for node in range(assembly.plan.rows.size):
            Z, _ = assembly.response(node)
            assert (Z == Z.T).all()
            if Z.size:
                assert np.linalg.eigvalsh(Z)[0] >= -1e-12 * np.abs(assembly.Z).max()
    assert redundant < 10


def test_any_order_of_assembly_gives_the_same_numbers() -> None:
    """Rows of contacts steer the order; forces that are zero there change nothing."""
    r = np.random.default_rng(3)
    for _ in range(20):
        ends, contacts = random_ends(r)
        system = random_system(r, ends, contacts)
        if solve_dense(system).redundant:
            continue
        orders = [make_plan(ends, contacts), make_plan(ends, contacts, late=True)]
        first, second = (assembled(system, plan).solve() for plan in orders)
        close(second.acceleration, first.acceleration, 1e-12)
        close(second.wrench, first.wrench, 1e-12)


def test_depth_of_chains() -> None:
    for n in (1, 2, 3, 5, 8, 13, 64, 100):
        plan = make_plan([(k - 1, k) for k in range(n)], [0] * n)
        assert plan.depth == max(1, math.ceil(math.log2(n)))


def test_parts_without_contacts_first_carry_fewer_columns() -> None:
    """Figure 4: eight bodies in a chain, contacts on the third and the seventh."""
    ends, contacts = [(k - 1, k) for k in range(1, 8)], [0, 0, 3, 0, 0, 0, 3, 0]
    balanced, late = make_plan(ends, contacts), make_plan(ends, contacts, late=True)
    assert late.carried < balanced.carried
    system = random_system(np.random.default_rng(1), ends, contacts)
    roots = [assembled(system, plan) for plan in (balanced, late)]
    responses = [(one.response(int(one.plan.root[0])), contact_order(one, contacts, ends)) for one in roots]
    (first, own), (second, other) = responses
    close(
        first[0][np.ix_(np.argsort(own), np.argsort(own))],
        second[0][np.ix_(np.argsort(other), np.argsort(other))],
        1e-12,
    )
    close(first[1][np.argsort(own)], second[1][np.argsort(other)], 1e-12)


def test_redundant_loops_are_counted_and_harmless() -> None:
    """The same joint twice between two bodies: accelerations are those of one."""
    r = np.random.default_rng(5)
    system = random_system(r, [(GROUND, 0), (0, 1), (0, 1)], [0, 0])
    bodies, links = system.bodies, system.links
    links.held[:] = [3, 2, 2]
    links.D[2], links.d[2], links.applied[2] = links.D[1], links.d[1], 0.0
    for body in (0, 1):
        k = 6 if body == 0 else 0
        bodies.jacobian[body][k + 6 : k + 12] = bodies.jacobian[body][k : k + 6]
        bodies.drift[body][k + 6 : k + 12] = bodies.drift[body][k : k + 6]
    twice = assembled(system, make_plan(system.ends, [0, 0]))
    assert twice.redundant == 2
    single = System(
        system.ends[:2],
        [0, 0],
        Bodies(
            bodies.inertia,
            bodies.bias,
            [bodies.jacobian[0][:12], bodies.jacobian[1][:6]],
            [bodies.drift[0][:12], bodies.drift[1][:6]],
        ),
        Links(links.held[:2], links.D[:2], links.d[:2], links.applied[:2]),
        system.sizes,
    )
    dense, found = solve_dense(single), twice.solve()
    close(found.acceleration, dense.x, 1e-10)
    close(found.wrench[1] + found.wrench[2], dense.wrench[1], 1e-10)
    held = found.wrench[1] - links.applied[1]
    close(held, found.wrench[2], 1e-10)  # least norm: both carry the same


def test_impulses_alone() -> None:
    """Without loads, what forces at the root do is what they add under loads."""
    r = np.random.default_rng(11)
    ends, contacts = [(GROUND, 0), (0, 1), (1, 2)], [0, 3, 3]
    system = random_system(r, ends, contacts)
    system.links.held[:] = [3, 3, 3]
    assembly = assembled(system, make_plan(ends, contacts))
    p = r.normal(size=6)
    under_loads = assembly.solve(p).acceleration - assembly.solve().acceleration
    close(assembly.solve(p, known=False).acceleration, under_loads, 1e-12)


def test_a_singular_inertia_is_told() -> None:
    system = random_system(np.random.default_rng(0), [(GROUND, 0)], [0])
    system.bodies.inertia[0][:] = 0.0
    assembly = Assembly(make_plan(system.ends, [0]), np.array(system.sizes), system.links.held)
    assert not assembly.assemble(system.bodies, system.links)
