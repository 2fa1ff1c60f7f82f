r"""The instantaneous model of S1: a sphere that begins to roll on an incline, and the rod of Painleve.

On the incline the sphere rolls if :math:`\mu \ge \tfrac27 \tan\varphi` and slips otherwise. The uniform rod (half
length l = 1, m = 1, J = 1/3) touches the ground with its lower end, which slides at the speed s; its mass centre is to
the right at the angle :math:`\theta = \arctan 2`. The normal force follows from ``0 <= c_n ⊥ A c_n + y >= 0`` with

.. math:: A = \frac1m + \frac{l^2}{J}(\cos^2\theta + \mu s \sin\theta\cos\theta), \qquad
          y = -g + l \sin\theta\, \dot\theta^2,

so that beyond :math:`\mu = 4/3`, sliding to the left, there is no force or there are two. One time step of
S1 always has an answer: an impulse that does not vanish with the step size.

References
----------
.. [S1] Trinkle (2003), section 2.2, eqs. (17)-(24); the numbers are sections 7.5 and 7.6 of the specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from signorini._arrays import Array
from signorini.analysis import Accelerations, ForceMode, accelerations
from signorini.formulations import StewartTrinkle
from signorini.reproduce.reproduction import Check, Example, Reproduction, printed
from signorini.scene import HalfSpace, Scene, Segment, Sphere
from signorini.simulation import Simulator, StepReport
from signorini.solvers import Status
from signorini.visual.histories import plot_histories
from signorini.visual.maps import plot_regions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAVITY = 9.81
THETA = float(np.arctan(2.0))
_ROUNDING = 1e-12
_CONES: tuple[dict[str, Any], ...] = ({"cone": "exact"}, {"cone": "polygon", "directions": 4})


# --- 7.5: a sphere on an incline -----------------------------------------------

# phi [deg], mu, c_n, c_t, a_x, lambda; None where the sphere rolls.
_INCLINE = (
    (20.0, 0.2, "9.2183846", "-0.9586336", "2.3965840", None),
    (20.0, 0.05, "9.2183846", "-0.4609192", "2.8942984", "1.7420003"),
    (30.0, 0.1, "8.4957092", "-0.8495709", "4.0554291", "1.9315018"),
)


def sphere_on_incline(phi: float, mu: float) -> Scene:
    """Return a unit sphere at rest on a plane that falls towards +x by `phi` [rad]."""
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    turn = (float(np.cos(phi / 2)), 0.0, float(np.sin(phi / 2)), 0.0)
    scene.add_fixed(HalfSpace(), orientation=turn, name="incline")
    scene.add_body(Sphere(radius=1.0), mass=1.0, position=(np.sin(phi), 0.0, np.cos(phi)), name="sphere")
    scene.set_contact(friction=mu)
    return scene


def downhill(found: Accelerations, phi: float) -> tuple[float, float, float, float]:
    """Return c_n, c_t and a_x, positive downhill, and lambda."""
    solution = found.only
    a = solution.linear_acceleration("sphere")
    a_x = float(a[0] * np.cos(phi) - a[2] * np.sin(phi))
    return float(solution.force[0, 0]), float(solution.force[0, 1]), a_x, float(solution.slip_rate[0])


def incline() -> Reproduction:
    """Reproduce section 7.5 with the exact cone and with four directions, one of which points downhill."""
    checks = []
    for degrees, mu, c_n, c_t, a_x, slip_rate in _INCLINE:
        phi = float(np.radians(degrees))
        for cone in _CONES:
            found = accelerations(sphere_on_incline(phi, mu), **cone)
            obtained = downhill(found, phi)
            at = f" at phi = {degrees:g} deg, mu = {mu:g}, {cone['cone']} cone"
            checks += [
                printed("c_n" + at, c_n, obtained[0]),
                printed("c_t" + at, c_t, obtained[1]),
                printed("a_x" + at, a_x, obtained[2]),
                Check("lambda" + at, 0.0, obtained[3], _ROUNDING)
                if slip_rate is None
                else printed("lambda" + at, slip_rate, obtained[3]),
            ]
            word = ForceMode.STICK if slip_rate is None else ForceMode.SLIP
            checks.append(Check("mode" + at, float(word), float(found.only.mode[0]), 0.0))
    for degrees in (20.0, 30.0):
        phi = float(np.radians(degrees))
        critical = 2.0 / 7.0 * float(np.tan(phi))
        for factor, word in ((1.0 - 1e-6, ForceMode.SLIP), (1.0 + 1e-6, ForceMode.STICK)):
            mode = accelerations(sphere_on_incline(phi, factor * critical)).only.mode[0]
            what = f"mode at phi = {degrees:g} deg, mu = (1 {factor - 1.0:+.0e}) (2/7) tan phi"
            checks.append(Check(what, float(word), float(mode), 0.0))
    return Reproduction(checks, {}, {"incline": _incline_figure()})


def _incline_figure() -> Figure:
    panels = []
    for degrees in (20.0, 30.0):
        phi = float(np.radians(degrees))
        mu = np.sort(np.append(np.linspace(0.01, 0.25, 25), 2.0 / 7.0 * np.tan(phi)))  # the kink and both sides
        rows = [downhill(accelerations(sphere_on_incline(phi, float(value))), phi) for value in mu]
        panels.append((f"incline of {degrees:g}°", mu, np.array(rows)[:, 1:]))
    labels = ("friction force [N]", "acceleration [m/s²]", "rate of slip λ [m/s²]")
    return plot_histories(panels, labels, "positive downhill", "friction coefficient μ")


# --- 7.6: Painleve's rod ---------------------------------------------------------

# mu, s, thetadot, A, y, c_n of every solution; then of one step of 1 ms: p_n, beta (None: mu p_n), sigma.
_ROD: tuple[tuple[float, float, float, str, str, tuple[str, ...], str, str | None, str], ...] = (
    (1.2, -1.0, 0.0, "0.16", "-9.81", ("61.3125",), "0.0613125", None, "0.82342"),
    (1.5, -1.0, 0.0, "-0.20", "-9.81", (), "0.3083385", "0.402943", "0.00000"),
    (1.5, -1.0, 4.0, "-0.20", "4.5008351", ("0.000000", "22.504175"), "0.3083385", "0.402943", "0.00000"),
    (1.5, 1.0, 0.0, "3.40", "-9.81", ("2.8852941",), "0.0028852941", None, "0.9818226"),
)
_H = 1e-3
_TURN_BORDER = float(np.sqrt(GRAVITY / np.sin(THETA)))  # y = 0
_WORD = {0: Status.NO_SOLUTION, 1: Status.SOLVED, 2: Status.SEVERAL_SOLUTIONS}


def rod_scene(mu: float, slip: float, turn: float, theta: float = THETA) -> Scene:
    """Return the rod on the ground, its lower end at the origin sliding at `slip` [m/s], turning at `turn` [rad/s]."""
    scene = Scene(planar=True, gravity=(0.0, -GRAVITY))
    scene.add_fixed(HalfSpace(normal=(0.0, 1.0)), name="ground")
    scene.add_body(
        Segment((-1.0, 0.0), (1.0, 0.0)),
        mass=1.0,
        inertia=1.0 / 3.0,
        mass_centre=(0.0, 0.0),
        position=(np.cos(theta), np.sin(theta)),
        orientation=theta,
        velocity=(slip - turn * np.sin(theta), turn * np.cos(theta)),
        angular_velocity=turn,
        name="rod",
    )
    scene.set_contact(friction=mu)
    return scene


def coefficients(mu: float, slip: float, turn: float, theta: float = THETA) -> tuple[float, float]:
    """Return A and y of the formulas above."""
    sine, cosine = np.sin(theta), np.cos(theta)
    A = 1.0 + 3.0 * (cosine**2 + mu * np.sign(slip) * sine * cosine)
    return float(A), float(-GRAVITY + sine * turn**2)


def expected_count(A: float, y: float) -> int:
    """Return how many normal forces satisfy ``0 <= c ⊥ A c + y >= 0``."""
    if A > 0.0:
        return 1
    return 0 if y < 0.0 else 2


def one_step(mu: float, slip: float, turn: float, h: float = _H) -> StepReport:
    """Advance the rod by one step."""
    return Simulator(rod_scene(mu, slip, turn), h=h, formulation=StewartTrinkle()).step()


def painleve() -> Reproduction:
    """Reproduce section 7.6: no force, one or two, and what a time step makes of it."""
    checks = []
    for mu, slip, turn, A, y, forces, p_n, beta, sigma in _ROD:
        at = f" at mu = {mu:g}, s = {slip:+g}, thetadot = {turn:g}"
        obtained = coefficients(mu, slip, turn)
        checks += [printed("A" + at, A, obtained[0]), printed("y" + at, y, obtained[1])]
        checks += _force_checks(accelerations(rod_scene(mu, slip, turn)), forces, at)
        step = one_step(mu, slip, turn).contacts
        friction = abs(float(step.friction_impulse[0, 0]))
        checks += [
            printed("p_n of one step" + at, p_n, step.normal_impulse[0]),
            Check("beta of one step" + at, mu * float(p_n), friction, 1e-7)
            if beta is None
            else printed("beta of one step" + at, beta, friction),
            printed("sigma of one step" + at, sigma, abs(float(step.slip[0, 0]))),
        ]
    # The impulse that stops the tip, W p = (1, g h), stays finite as h falls.
    W, h = np.array([[1.0 + 3.0 * 0.8, -3.0 * 0.4], [-3.0 * 0.4, 1.0 + 3.0 * 0.2]]), 1e-6
    stops = np.linalg.solve(W, [1.0, GRAVITY * h])
    small = one_step(1.5, -1.0, 0.0, h).contacts
    checks.append(Check("p_n of one step of 1e-6 s, mu = 1.5", float(stops[1]), float(small.normal_impulse[0]), 1e-9))
    mus, turns, count = solution_map()
    expected = [[expected_count(*coefficients(mu, -1.0, turn)) for mu in mus] for turn in turns]
    wrong = float(np.sum(count != expected))
    checks.append(Check("points of the map with another number of solutions", 0.0, wrong, 0.0))
    return Reproduction(checks, {"counts": count.tolist()}, {"painleve": _painleve_figure(mus, turns, count)})


def _force_checks(found: Accelerations, forces: tuple[str, ...], at: str) -> list[Check]:
    obtained = sorted(float(solution.force[0, 0]) for solution in found.solutions)
    checks = [
        Check("number of solutions" + at, len(forces), found.solution_count, 0.0),
        Check("status" + at, float(_WORD[len(forces)]), float(found.status), 0.0),
    ]
    return checks + [
        printed(f"c_n of solution {k + 1}{at}", text, c_n)
        for k, (text, c_n) in enumerate(zip(forces, obtained, strict=False))
    ]


def solution_map(points: int = 30) -> tuple[Array, Array, Array]:
    """Count the solutions for the tip sliding left: friction (n,), turns (n,), counts (n, n)."""
    middle = (np.arange(points) + 0.5) / points  # of cells that meet at both borders
    mus, turns = 2.5 * middle, 2.0 * _TURN_BORDER * middle
    count = [[accelerations(rod_scene(mu, -1.0, turn)).solution_count for mu in mus] for turn in turns]
    return mus, turns, np.array(count)


def _painleve_figure(mus: Array, turns: Array, count: Array) -> Figure:
    return plot_regions(
        mus,
        turns,
        np.asarray(count, dtype=np.int64),
        names={0: "no solution", 1: "one solution", 2: "two solutions"},
        lines=[("A = 0: μ = 4/3", (4.0 / 3.0, None)), ("y = 0", (None, _TURN_BORDER))],
        labels=("friction coefficient μ", "angular velocity of the rod [rad/s]"),
        title="Painleve's rod, tip sliding left: numbers of solutions",
    )


EXAMPLES = (
    Example("incline", "S1", "a sphere begins to roll or slip on an incline (instantaneous model)", incline),
    Example("painleve", "S1", "a sliding rod with no contact force, or two (instantaneous model)", painleve),
)
