r"""Stability of contact forces: the rod between two walls and the counterexamples of S4.

The two maps are over the signed friction :math:`u_i = \mu_i\,\mathrm{sgn}(\dot x_{ci})` in [-4, 4]; the paper's figures
carry no axes, and only there do all the regions that it describes appear.

References
----------
.. [S4] Dupont & Yamajako (1997), eqs. (35)-(41), figures 1 to 3; the numbers behind the figures are sections 5 and 6 of
   the specification.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from signorini._arrays import Array
from signorini.analysis import (
    Answer,
    Axis,
    Rod,
    Spectrum,
    Stability,
    StabilityMap,
    balancing_load,
    boundary_layer,
    compliant_rod,
    matrix_columns,
    p_matrix,
    rod_columns,
    sliding_matrices,
    stability_map,
)
from signorini.analysis.rod import CompliantRun
from signorini.model import State
from signorini.problems import LCP
from signorini.reproduce.reproduction import Check, Example, Reproduction, printed
from signorini.scene import HalfSpace, Scene, Segment, compile_scene
from signorini.solvers import Enumerate, solve
from signorini.visual.histories import plot_histories
from signorini.visual.maps import plot_minor_map, plot_stability_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LIMIT = 4.0
_CELLS, _DRAWN = 800, 400  # along an axis: for areas, and for the figures
_AREA = 1e-3

# u_1, u_2, D by rows, eigenvalues (real, imaginary parts), class, code of the minors, critical c^2/k (empty: infinite).
_GOLDEN: tuple[tuple[float, float, tuple[str, ...], tuple[tuple[str, str], ...], int, int, str], ...] = (
    (0.3, 0.3, ("1.303464", "-0.509287", "0.327963", "2.684857"), (("1.437353", "0"), ("2.550967", "0")), 0, 0, "0"),
    (0.8, 0.8, ("1.602264", "-1.030219", "1.202449", "1.996948"), (("1.799606", "1.095373"),), 1, 0, "0.1502166"),
    (1.0, 1.0, ("1.721785", "-1.238592", "1.552243", "1.721785"), (("1.721785", "1.386577"),), 1, 0, "0.2284834"),
    (2.0, 2.0, ("2.319386", "-2.280456", "3.301214", "0.345968"), (("1.332677", "2.560211"),), 1, 0, "0.5903977"),
    (1.0, 3.9, ("1.721785", "-4.259999", "1.552243", "-2.268084"), (("-0.273150", "1.622587"),), 2, 2, ""),
    (0.5, 3.0, ("1.422984", "-3.322321", "0.677758", "-1.029849"), (("0.196567", "0.864656"),), 1, 2, "4.8373156"),
    (-1.0, -1.0, ("0.526581", "0.845136", "-1.945699", "4.473419"), (("1.000000", "0"), ("4.000000", "0")), 0, 0, "0"),
    (-2.5, -1.0, ("-0.369821", "0.845136", "-4.569156", "4.473419"), (("0.636637", "0"), ("3.466961", "0")), 0, 1, "0"),
    (-3.5, -3.0, ("-0.967423", "2.928865", "-6.318127", "7.225052"), (("3.128815", "1.313688"),), 1, 1, "0.0478995"),
    (
        -2.0,
        1.0,
        ("-0.071020", "-1.238592", "-3.694670", "1.721785"),
        (("-1.494042", "0"), ("3.144806", "0")),
        3,
        5,
        "",
    ),
    (
        0.05,
        2.2,
        ("1.154063", "-2.488829", "-0.109279", "0.070804"),
        (("-0.139457", "0"), ("1.364325", "0")),
        3,
        4,
        "",
    ),
)
_STABLE_AREA = ((0.05, 0.50562), (0.1, 0.53322), (0.25, 0.57243), (0.5, 0.61895), (1.0, 0.66675), (2.0, 0.70057))
_DIAGONAL = (
    (0.05, "0.545442"),
    (0.1, "0.672848"),
    (0.25, "1.055812"),
    (0.5, "1.741536"),
    (1.0, "3.017390"),
    (2.0, "4.153910"),
    (5.0, "4.911650"),
)
# u_1, u_2, and how many of 360 load directions have so many solutions; one direction either way is allowed.
_COUNTS: tuple[tuple[float, float, dict[int, int]], ...] = (
    (1.0, 1.0, {1: 360}),
    (0.05, 2.2, {0: 184, 2: 176}),
    (-2.0, 1.0, {0: 216, 2: 144}),
    (1.0, 3.9, {1: 332, 3: 28}),
    (-2.5, -1.0, {1: 356, 3: 4}),
)


# --- the scene ---------------------------------------------------------------


def rod_scene(rod: Rod, friction: tuple[float, float], turn: float) -> Scene:
    """Return figure 1 as a scene: the rod slides at both ends, turning at `turn` [rad/s].

    Loads follow the motion so that both contact forces of the rigid model stay at 1 N.
    """
    scene = Scene(planar=True, gravity=(0.0, 0.0))
    scene.add_fixed(HalfSpace(normal=(0.0, 1.0)), name="floor")
    scene.add_fixed(HalfSpace(normal=(np.sin(rod.alpha), -np.cos(rod.alpha))), name="wall")
    q = np.array([0.0, 0.0, rod.theta])
    q[:2] = np.linalg.solve(rod.normals()[:, :2], -rod.gaps(q))
    velocity = rod.sliding_velocity(turn)
    scene.add_body(
        Segment((-rod.half_length, 0.0), (rod.half_length, 0.0)),
        mass=rod.mass,
        inertia=rod.inertia,
        mass_centre=(0.0, 0.0),
        position=q[:2],
        orientation=rod.theta,
        velocity=velocity[:2],
        angular_velocity=turn,
        name="rod",
    )
    for wall, mu in zip(("floor", "wall"), friction, strict=True):
        scene.set_contact(friction=mu, between=("rod", wall))

    def load(state: State) -> Array:
        """Balance the rod where it is now; it is the last body."""
        now = replace(rod, theta=2.0 * float(np.arctan2(state.q[-1, 6], state.q[-1, 3])))
        return balancing_load(now, friction, state.v[-1, [0, 1, 5]])

    scene.add_force("rod", force=lambda t, state: load(state)[:2], torque=lambda t, state: load(state)[2])
    return scene


# --- figures 2 and 3 ---------------------------------------------------------


def rod_map() -> Reproduction:
    """Reproduce the maps of figures 2 and 3 and the numbers behind them."""
    rod = Rod()
    found = rod_stability_map(_CELLS)
    checks = _golden_checks(rod) + _scene_checks(rod) + _border_checks(rod)
    checks += _area_checks(found) + _diagonal_checks(rod)
    counts = {}
    for u_1, u_2, expected in _COUNTS:
        obtained = solution_counts(rod.matrix(u_1, u_2))
        checks += _count_checks(f"u = ({u_1:g}, {u_2:g})", expected, obtained)
        counts[f"{u_1:g}, {u_2:g}"] = {str(n): k for n, k in sorted(obtained.items())}
    data = {
        "areas": {spectrum.name.lower(): found.share(spectrum) for spectrum in Spectrum},
        "p_matrix": found.share(found.unique),
        "stable": {f"{damping:g}": found.share(found.stable(damping)) for damping, _ in _STABLE_AREA},
        "solution_counts": counts,
    }
    drawn = rod_stability_map(_DRAWN)
    return Reproduction(checks, data, {"figure_2": figure_2(drawn), "figure_3": figure_3(drawn)})


def rod_stability_map(cells: int) -> StabilityMap:
    """Return the map of the paper's rod with `cells` x `cells` points."""
    x = Axis.midpoints("u_1", -_LIMIT, _LIMIT, cells)
    y = Axis.midpoints("u_2", -_LIMIT, _LIMIT, cells)
    return stability_map(rod_columns(Rod()), x, y)


def _golden_checks(rod: Rod) -> list[Check]:
    checks = []
    for u_1, u_2, rows, eigenvalues, kind, minors, critical in _GOLDEN:
        at = f" at u = ({u_1:g}, {u_2:g})"
        D = rod.matrix(u_1, u_2)
        layer = boundary_layer(D)
        columns = matrix_columns(D[None])
        checks += [printed(f"D[{k // 2}, {k % 2}]{at}", text, D.flat[k]) for k, text in enumerate(rows)]
        upper = [complex(z) for z in layer.eigenvalues if z.imag >= 0.0]
        for (real, imaginary), z in zip(eigenvalues, upper, strict=False):
            checks.append(printed(f"real part of the eigenvalue {real}{at}", real, z.real))
            checks.append(
                Check(f"imaginary part of the eigenvalue {real}{at}", 0.0, abs(z.imag), 1e-12)
                if imaginary == "0"
                else printed(f"imaginary part of the eigenvalue {real}{at}", imaginary, z.imag)
            )
        checks += [
            Check("class" + at, kind, int(layer.spectrum), 0.0),
            Check("code of the minors" + at, minors, int(columns["minors"][0]), 0.0),
            Check("P-matrix" + at, float(minors == 0), float(bool(p_matrix(D))), 0.0),
        ]
        if not critical:
            checks.append(Check("unstable for every damping" + at, 1.0, float(np.isinf(layer.critical_damping)), 0.0))
        elif critical == "0":
            checks.append(Check("critical c^2/k" + at, 0.0, layer.critical_damping, 0.0))
        else:
            checks.append(printed("critical c^2/k" + at, critical, layer.critical_damping))
    return checks


def _scene_checks(rod: Rod) -> list[Check]:
    """Check D of the scene where a sliding rod reaches the map: both signs are that of the turn."""
    checks = []
    for u_1, u_2, rows, *_ in _GOLDEN:
        if u_1 * u_2 > 0.0:
            scene = rod_scene(rod, (abs(u_1), abs(u_2)), float(np.sign(u_1)))
            (matrix,) = sliding_matrices(compile_scene(scene))
            at = f" of the scene at u = ({u_1:g}, {u_2:g})"
            checks += [printed(f"D[{k // 2}, {k % 2}]{at}", text, matrix.D.flat[k]) for k, text in enumerate(rows)]
    return checks


def _border_checks(rod: Rod) -> list[Check]:
    """Check the coefficients of trace and determinant, where the diagonal of D changes sign, and the sliding speeds."""
    D = {u: rod.matrix(*u) for u in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))}
    trace = {u: float(np.trace(A)) for u, A in D.items()}
    det = {u: float(np.linalg.det(A)) for u, A in D.items()}
    o, x, y, both = D
    speed = rod.tangents() @ rod.sliding_velocity(1.0)
    return [
        printed("trace at u = 0", "4.2217847", trace[o]),
        printed("trace, coefficient of u_1", "0.5976016", trace[x] - trace[o]),
        printed("trace, coefficient of u_2", "-1.3758170", trace[y] - trace[o]),
        printed("det at u = 0", "3.4435694", det[o]),
        printed("det, coefficient of u_1", "2.1952033", det[x] - det[o]),
        printed("det, coefficient of u_2", "-1.7516339", det[y] - det[o]),
        printed("det, coefficient of u_1 u_2", "1.0000000", det[both] - det[x] - det[y] + det[o]),
        printed("a11 = 0 at u_1", "-1.8811579", _root(lambda u: rod.matrix(u, 0.0)[0, 0], -3.0, 0.0)),
        printed("a22 = 0 at u_2", "2.2514635", _root(lambda u: rod.matrix(0.0, u)[1, 1], 0.0, 3.0)),
        printed("slip of contact 1 for thetadot = 1", "2.36508", speed[0]),
        printed("slip of contact 2 for thetadot = 1", "0.57546", speed[1]),
    ]


def _area_checks(found: StabilityMap) -> list[Check]:
    unique, real = found.unique, found.spectrum == int(Spectrum.REAL_POSITIVE)
    areas = [
        ("real positive", 0.46632, real),
        ("complex, a > 0", 0.26236, found.spectrum == int(Spectrum.COMPLEX)),
        ("complex, a <= 0", 0.00904, found.spectrum == int(Spectrum.COMPLEX_NEGATIVE)),
        ("one negative real", 0.26214, found.spectrum == int(Spectrum.ODD_NEGATIVE)),
        ("two negative real", 0.00014, found.spectrum == int(Spectrum.EVEN_NEGATIVE)),
        ("P-matrix", 0.52643, unique),
        ("P-matrix but unstable at c = 0", 0.13726, unique & ~real),
        ("stable but no P-matrix", 0.07716, real & ~unique),
        ("stable for some damping", 0.72868, np.isfinite(found.critical_damping)),
    ]
    areas += [(f"stable for c^2/k = {damping:g}", area, found.stable(damping)) for damping, area in _STABLE_AREA]
    return [Check(f"area: {what}", area, found.share(where), _AREA) for what, area, where in areas]


def _diagonal_checks(rod: Rod) -> list[Check]:
    def discriminant(mu: float) -> float:
        D = rod.matrix(mu, mu)
        return float(np.trace(D) ** 2 - 4.0 * np.linalg.det(D))

    def excess(mu: float, damping: float) -> float:
        return boundary_layer(rod.matrix(mu, mu)).critical_damping - damping

    checks = [
        printed("equal friction: complex from mu", "0.4151197", _root(discriminant, 0.0, 1.0)),
        printed("equal friction, other sense: complex from mu", "2.8736512", -_root(discriminant, -3.5, -2.0)),
    ]
    for damping, text in _DIAGONAL:
        # Beyond the last limit the critical damping soon becomes infinite; the bracket ends before that.
        limit = _root(lambda mu, damping=damping: excess(mu, damping), 0.42, 5.0)  # type: ignore[misc]
        checks.append(printed(f"equal friction: largest stable mu for c^2/k = {damping:g}", text, limit))
    return checks


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-13, rtol=1e-14))


# --- numbers of solutions ----------------------------------------------------


def solution_counts(D: Array) -> Counter[int]:
    """Count the solutions of the LCP for loads in 360 directions, k + 0.3 degrees."""
    counts: Counter[int] = Counter()
    for k in range(360):
        angle = np.radians(k + 0.3)
        counts[len(all_solutions(D, np.array([np.cos(angle), np.sin(angle)])))] += 1
    return counts


def all_solutions(D: Array, y: Array) -> list[Array]:
    """Return all solutions of ``0 <= z ⊥ D z + y >= 0``, sorted."""
    return sorted(solve(LCP(D, y), Enumerate()).info["solutions"], key=tuple)


def _count_checks(where: str, expected: dict[int, int], obtained: Counter[int]) -> list[Check]:
    checks = [
        Check(f"load directions with {n} solutions, {where}", count, obtained[n], 1.0) for n, count in expected.items()
    ]
    others = sum(count for n, count in obtained.items() if n not in expected)
    return [*checks, Check(f"load directions with any other number, {where}", 0.0, others, 0.0)]


# --- counterexamples ---------------------------------------------------------


def counterexamples() -> Reproduction:
    """Reproduce eq. (36), stable but not unique, and a P-matrix whose forces are unstable."""
    stable, unique = np.array([[-1.0, 4.0], [-2.0, 5.0]]), np.array([[1.0, 0, 3], [3, 1, 0], [0, 3, 1]])
    layer, other = boundary_layer(stable, damping=0.01), boundary_layer(unique, damping=1e6)
    counts = solution_counts(stable)
    several = all_solutions(stable, np.array([0.3, 1.0]))
    single = all_solutions(stable, np.array([-1.0, 1.0]))
    checks = [
        Check("eq. (36): first eigenvalue", 1.0, float(layer.eigenvalues[0].real), 1e-12),
        Check("eq. (36): second eigenvalue", 3.0, float(layer.eigenvalues[1].real), 1e-12),
        Check("eq. (36): critical c^2/k", 0.0, layer.critical_damping, 0.0),
        Check("eq. (36): stable at c^2/k = 0.01", 1.0, float(layer.stability is Stability.STABLE), 0.0),
        printed("eq. (36): growth at c^2/k = 0.01", "-0.05", layer.growth),
        Check("eq. (36): P-matrix", float(Answer.NO), float(p_matrix(stable).answer), 0.0),
        *_count_checks("eq. (36)", {1: 334, 3: 26}, counts),
        *_point_checks("eq. (36), y = (0.3, 1)", ((0.0, 0.0), (0.3, 0.0), (5.0 / 6.0, 2.0 / 15.0)), several),
        *_point_checks("eq. (36), y = (-1, 1)", ((3.0, 1.0),), single),
        Check("3x3: P-matrix", float(Answer.YES), float(p_matrix(unique).answer), 0.0),
        Check("3x3: determinant", 28.0, float(np.linalg.det(unique)), 1e-12),
        Check("3x3: real eigenvalue", 4.0, float(other.eigenvalues[-1].real), 1e-12),
        Check("3x3: real part of the pair", -0.5, float(other.eigenvalues[0].real), 1e-12),
        printed("3x3: imaginary part of the pair", "2.5980762", abs(other.eigenvalues[0].imag)),
        Check("3x3: unstable at c^2/k = 1e6", 1.0, float(other.stability is Stability.UNSTABLE), 0.0),
    ]
    data = {"eq36_solution_counts": {str(n): k for n, k in sorted(counts.items())}}
    return Reproduction(checks, data)


def _point_checks(where: str, expected: tuple[tuple[float, ...], ...], obtained: list[Array]) -> list[Check]:
    checks = [Check(f"{where}: number of solutions", len(expected), len(obtained), 0.0)]
    for k, (wanted, z) in enumerate(zip(expected, obtained, strict=False)):
        checks.append(Check(f"{where}: solution {k + 1}", 0.0, float(np.abs(np.array(wanted) - z).max()), 1e-9))
    return checks


# --- chatter -----------------------------------------------------------------

# friction, c^2/k, whether the map says stable
_RUNS = ((0.3, 0.1, True), (1.0, 1.0, True), (1.0, 0.02, False))
_GROWTH = "0.36566"


def rod_chatter() -> Reproduction:
    """Move the rod on soft walls (eq. 10): forces stay where the map says stable and chatter where it does not."""
    rod = Rod()
    runs: list[tuple[str, CompliantRun]] = []
    checks = []
    for mu, damping, stable in _RUNS:
        what = f"mu = {mu:g}, c^2/k = {damping:g}"
        run = compliant_rod(rod, (mu, mu), damping)
        runs.append((what, run))
        if stable:
            checks += [
                Check(f"largest deviation of a force, {what}", 0.0, run.deviation, 0.05),
                Check(f"contact lost, {what}", 0.0, float(run.loses_contact), 0.0),
            ]
        else:
            layer = boundary_layer(rod.matrix(mu, mu), damping=damping)
            checks += [
                printed(f"growth rate by the theory, {what}", _GROWTH, layer.growth),
                # The configuration moves while the force grows over ten time units, so two percent of the rate.
                Check(f"growth rate seen, {what}", float(_GROWTH), run.growth, 0.02 * float(_GROWTH)),
                Check(f"contact lost, {what}", 1.0, float(run.loses_contact), 0.0),
                Check(f"deviation of a force beyond 10 N, {what}", 1.0, float(run.deviation > 10.0), 0.0),
            ]
    data: dict[str, Any] = {what: {"deviation": run.deviation, "lost": run.loses_contact} for what, run in runs}
    panels = [(what, run.tau, run.force) for what, run in runs]
    figure = plot_histories(panels, ("contact 1", "contact 2"), "normal force [N]", "stretched time t/√ε")
    return Reproduction(checks, data, {"chatter": figure})


# --- figures -----------------------------------------------------------------

_AXES = ("u₁ = μ₁ sgn(slip of contact 1)", "u₂ = μ₂ sgn(slip of contact 2)")


def figure_2(found: StabilityMap) -> Figure:
    """Draw the stability map."""
    names = {
        int(Spectrum.REAL_POSITIVE): "stable\nreal, a > 0",
        int(Spectrum.COMPLEX): "a > 0, b ≠ 0\nneeds damping",
        int(Spectrum.COMPLEX_NEGATIVE): "a < 0, b ≠ 0",
        int(Spectrum.ODD_NEGATIVE): "unstable\na < 0, real",
    }
    return plot_stability_map(
        found.x.values,
        found.y.values,
        found.spectrum,
        found.critical_damping,
        levels=[damping for damping, _ in _STABLE_AREA],
        names=names,
        labels=_AXES,
        title="S4, figure 2: stability of the contact forces",
    )


def figure_3(found: StabilityMap) -> Figure:
    """Draw the map of the principal minors."""
    names = {
        0: "P-matrix",
        1: "a₁₁ < 0",
        2: "a₂₂ < 0",
        3: "a₁₁ < 0, a₂₂ < 0",
        4: "det D < 0",
        5: "a₁₁ < 0\ndet D < 0",
        6: "a₂₂ < 0\ndet D < 0",
        7: "a₁₁ < 0, a₂₂ < 0\ndet D < 0",
    }
    return plot_minor_map(
        found.x.values,
        found.y.values,
        found.minors,
        names=names,
        labels=_AXES,
        title="S4, figure 3: where forces are unique",
    )


EXAMPLES = (
    Example("rod-map", "S4", "stability and uniqueness of the rod between two walls (figures 2, 3)", rod_map),
    Example("counterexamples", "S4", "stable but not unique, unique but not stable (eq. 36)", counterexamples),
    Example("rod-chatter", "S4", "the rod on soft walls chatters where the map says unstable (eq. 10)", rod_chatter),
)
