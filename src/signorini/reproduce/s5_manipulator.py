r"""The flexible manipulator of S5, section 5.2: two driven links that bend, and a plane that the tip runs into.

Joints are driven by (27) from -45 degrees to 45 degrees within half a second and then locked; 1 and 3 kg sit at
elbow and tip. Each link has one transverse mode, and with "all modes" one along it. A joint counts from its initial
pose, so that its motion is that of (27) less its first value. The numbers are those of an event-driven reference
(specification 8.2).

References
----------
.. [S5] Bhalerao & Anderson (2010), section 5.2, eq. (27), figures 13 and 14; section 8.2 of the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import load_impulse
from signorini.dynamics.response.mechanism import Mechanism
from signorini.formulations import Recursive
from signorini.integrators import RK4
from signorini.reproduce.reproduction import Check, Example, Reproduction, printed
from signorini.scene import Beam, HalfSpace, Point, Scene, compile_scene
from signorini.simulation import Trajectory, simulate
from signorini.visual import Curve, plot_against_exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

H = 1e-4
LENGTHS = (0.545, 0.675)
_SECTIONS = ((1.69e-8, 9e-4), (3.33e-9, 4e-4))
_WALL = 0.5
_CUBICS = ((0.0, (-1.0, 0.0, 0.0, 72.0)), (1 / 6, (0.0, -18.0, 108.0, -144.0)), (1 / 3, (-8.0, 54.0, -108.0, 72.0)))
"""Eq. (27) in units of pi/4, by its beginnings."""
FREE = np.array(
    [
        (0.1, -0.0112106585, -0.0292662599, 2.2185e-7, -6.6249e-7, -0.421299614),
        (0.2, -0.0261219831, -0.0810797909, 7.8257e-7, 5.0170e-7, -0.334707860),
        (0.3, -0.00125844255, -0.0011725369, 7.8515e-7, 1.6950e-6, 0.176689174),
        (0.4, 0.0370484944, 0.119795500, 2.9179e-7, -2.1442e-6, 0.576190189),
        (0.5, -0.0205897072, -0.0622310716, -6.0316e-7, 1.1250e-6, 0.270316312),
        (1.0, 0.0320268368, 0.102255034, 4.4816e-7, -1.6151e-6, 0.567683481),
        (2.0, 0.000680946, 0.00804589, 2.5849e-7, 8.6113e-7, 0.395165349),
    ]
)
"""Without the plane: t, bending of both links, their stretch, height of the tip."""
_STIFFNESS = (1.60733945e8, 22863.4262, 5.76790123e7, 2371.24829)
_FREQUENCIES = ("20.648", "106.09", "5195.9", "11233")
HIT = np.array([(0.4, 0.459886695), (0.5, 0.21064308), (0.75, 0.271719467)])
"""With the plane and bending alone: t and height of the tip; the reference trusts later ones less."""
_HIT_ALL = np.array([(0.4, 0.457168836), (0.5, 0.210433417), (0.75, 0.265760539)])
IMPACT, IMPULSE = 0.360150508, 16.60


def phi(t: float, order: int) -> float:
    """Return the first angle of (27), or its rate, or its acceleration."""
    if t >= 0.5:
        return float(np.pi / 4) if order == 0 else 0.0
    a, b, c, d = [cubic for begin, cubic in _CUBICS if t >= begin or begin == 0.0][-1]
    values = (a + t * (b + t * (c + t * d)), b + t * (2.0 * c + 3.0 * t * d), 2.0 * c + 6.0 * t * d)
    return float(np.pi / 4 * values[order])


def manipulator(*, axial: bool, wall: bool = False, geometric: str = "foreshortening", driven: bool = True) -> Scene:
    """Return the manipulator at its start, undeformed; locked there and without weight if not `driven`."""
    scene = Scene(planar=True, gravity=None if driven else (0.0, 0.0))
    angle = -np.pi / 4 if driven else np.pi / 4  # the locked one is as it ends
    elbow = LENGTHS[0] * np.array([np.cos(angle), np.sin(angle)])
    shapes: dict[str, Any] = {"axial": [[0, 0, 1]] if axial else [], "bending": [[0, 0, 1.5, -0.5]]}
    links: list[tuple[Any, float, float]] = [((0.0, 0.0), angle, 1.0), (elbow, 0.0, 3.0)]
    for k, (position, turn, mass) in enumerate(links):
        I, A = _SECTIONS[k]
        scene.add_flexible(
            Beam(LENGTHS[k], 7.3e10, I, A, 2700.0, shapes=shapes),
            position=position,
            orientation=turn,
            masses={"end": mass},
            contacts={"end": Point()} if wall and k else None,
            geometric=geometric,
            name=f"link {k + 1}",
        )
    ends: list[tuple[str | None, str, Any, float]] = [
        (None, "link 1", (0.0, 0.0), 1.0),
        ("link 1", "link 2", elbow, -1.0),
    ]
    for a, b, anchor, sign in ends:
        words: dict[str, Any] = {"motion": tuple(_motion(sign, order) for order in range(3))} if driven else {}
        scene.add_joint("revolute" if driven else "fixed", a, b, anchor=anchor, **words)
    if wall:
        scene.add_fixed(HalfSpace(normal=(0, -1), offset=-_WALL), name="wall")
        scene.set_contact(friction=0.0)
    return scene


def _motion(sign: float, order: int) -> Callable[[float], float]:
    return lambda t: sign * (phi(t, order) - (phi(0.0, 0) if order == 0 else 0.0))


def run(scene: Scene, duration: float, *, h: float = H, rk4: bool = False) -> Trajectory:
    """Simulate quietly."""
    formulation = Recursive(integrator=RK4()) if rk4 else Recursive()
    return simulate(scene, duration=duration, h=h, formulation=formulation, progress=False)


def bending(trajectory: Trajectory) -> Array:
    """Return the bending coordinates of both links, the last of each, (n+1, 2)."""
    return np.stack([trajectory.modes(f"link {k}").coordinate[:, -1] for k in (1, 2)], axis=1)


def tip(trajectory: Trajectory) -> Array:
    """Return the height of the tip (n+1,) [m]."""
    y: Array = trajectory.position("link 2.end")[:, 1]
    return y


def pushes(trajectory: Trajectory) -> Array:
    """Return the impulse of the plane in every step, (n,) [N s]."""
    row = trajectory.names.index("link 2.end")
    return -trajectory.contact_log.body_impulse(row, trajectory.step_count)[:, 1]


def at(trajectory: Trajectory, times: Array) -> Any:
    """Return the steps of these times."""
    return np.rint(times / trajectory.time[1]).astype(int)


def frequencies() -> Array:
    """Return the natural angular frequencies of the locked manipulator [rad/s], by small deflections."""
    model, e = compile_scene(manipulator(axial=True, driven=False)), 1e-7
    mechanism, state = Mechanism(model), model.initial_state
    n, force = mechanism.speed_count, load_impulse(model, state, 1.0)
    none, soft = np.zeros(n), np.zeros(model.joints.count)
    rows: list[list[tuple[int, Array, Array]]] = [[] for _ in mechanism.limbs]
    columns = []
    for one in e * np.eye(n):
        posture = mechanism.posture(one, none, state)
        solved = mechanism.assembled(posture, force, rows, none, soft).solve()
        columns.append(mechanism.rates(posture, solved) / e)
    return np.sort(np.sqrt(-np.linalg.eigvals(np.array(columns).T).real))


def example() -> Reproduction:
    """Reproduce the motion without the plane and with it."""
    free = run(manipulator(axial=True), 2.0, rk4=True)
    soft = run(manipulator(axial=False), 2.0, rk4=True)
    slack = run(manipulator(axial=True, geometric="none"), 0.4, rk4=True)
    bent = run(manipulator(axial=False, wall=True), 1.0)
    full = run(manipulator(axial=True, wall=True), 2.0)
    stiffness = [K for one in compile_scene(manipulator(axial=True)).flexible for K in np.diag(one.body.stiffness)]
    first = float(bent.time[int(np.argmax(pushes(bent) > 0.0)) + 1])
    checks = [
        *(
            Check(f"stiffness {k + 1} [N/m]", want, float(found), 5e-9 * want)
            for k, (want, found) in enumerate(zip(_STIFFNESS, stiffness, strict=True))
        ),
        *(
            printed(f"frequency {k + 1} [rad/s]", text, w)
            for k, (text, w) in enumerate(zip(_FREQUENCIES, frequencies(), strict=True))
        ),
        Check("error of bending to 2 s [m]", 0.0, bending_error(free), 1e-6),
        # Between milliseconds, at 0.40215 s, the tip is a micrometre higher, by steps of half the length as well.
        printed(
            "height of the tip, largest at full milliseconds [m]",
            "0.576391",
            float(tip(free)[:: round(1e-3 / H)].max()),
        ),
        Check("energy after 0.5 s, bending alone, relative", 0.0, energy_change(soft), 1e-11),
        # Stretching vibrates at 0.5 and 1.1 radians a step, where RK4 damps.
        Check("energy after 0.5 s, all modes, relative", 0.0, energy_change(free), 5e-8),
        Check("second bending at 0.4 s without foreshortening [m]", 0.115622, float(bending(slack)[-1, 1]), 1e-6),
        Check("total impulse, bending alone [N s]", IMPULSE, float(pushes(bent).sum()), 0.3),
        Check("first impact, bending alone [s]", IMPACT, first, H),
        Check("error of the tip to 0.9 s, bending alone [m]", 0.0, tip_error(bent, HIT), 2e-3),
        Check("error of the tip to 0.9 s, all modes [m]", 0.0, tip_error(full, _HIT_ALL), 1.5 * 3.7e-4),
        Check("all modes: steps to the end", 2.0 / H, full.step_count, 0.0),
    ]
    data = {
        "total impulse, all modes [N s]": float(pushes(full).sum()),
        "verdicts": [one.verdict for one in (free, soft, slack, bent, full)],
    }
    return Reproduction(
        checks, data, {"manipulator-modes": _modes_figure(free), "manipulator-contact": _contact_figure(bent, full)}
    )


def bending_error(trajectory: Trajectory) -> float:
    """Return the largest error of the bending coordinates at the times of the table that the run reaches [m]."""
    table = FREE[trajectory.time[-1] + 1e-9 >= FREE[:, 0]]
    return float(np.abs(bending(trajectory)[at(trajectory, table[:, 0])] - table[:, 1:3]).max())


def energy_change(trajectory: Trajectory) -> float:
    """Return by how much the energy varies once the joints are locked, of its size."""
    total = trajectory.energy().total[int(at(trajectory, np.array(0.5))) :]
    return float(np.ptp(total) / np.abs(total).max())


def tip_error(trajectory: Trajectory, table: Array) -> float:
    """Return the largest error of the height of the tip at the times of a table [m]."""
    return float(np.abs(tip(trajectory)[at(trajectory, table[:, 0])] - table[:, 1]).max())


def _modes_figure(free: Trajectory) -> Figure:
    """Figure 13: all modal coordinates."""
    panels = []
    for name, mode, columns in (("bending", 1, (1, 2)), ("stretch", 0, (3, 4))):
        curves = [
            Curve(f"link {k}", free.time, free.modes(f"link {k}").coordinate[:, mode], FREE[:, 0], FREE[:, column])
            for k, column in zip((1, 2), columns, strict=True)
        ]
        panels.append((f"{name} of both links", "modal coordinate [m]", curves))
    panels.append(("height of the tip", "y [m]", [Curve("tip", free.time, tip(free), FREE[:, 0], FREE[:, 5])]))
    title = "Flexible manipulator without the plane: h = 0.1 ms; reference as points"
    return plot_against_exact(panels, title, few_exact=True)


def _contact_figure(bent: Trajectory, full: Trajectory) -> Figure:
    """Figure 14: the tip against the plane."""
    panels = [
        (name, "y of the tip [m]", [Curve("tip", one.time, tip(one), table[:, 0], table[:, 1])])
        for name, one, table in (("bending alone", bent, HIT), ("all modes", full, _HIT_ALL))
    ]
    title = "Flexible manipulator against the plane y = 0.5 m: h = 0.1 ms; reference as points"
    return plot_against_exact(panels, title, few_exact=True)


EXAMPLES = (Example("manipulator", "S5", "flexible manipulator in the plane, driven against a wall", example),)
