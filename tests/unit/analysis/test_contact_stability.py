"""The boundary layer: the criterion (35) of S4 against the layer's own eigenvalues, and its borders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from signorini._arrays import Array
from signorini.analysis import Spectrum, Stability, boundary_layer, layer_of_contacts, p_matrix
from signorini.errors import InputError


def layer_growth(D: Array, c: float, k: float) -> float:
    """Largest real part of the state matrix (29)."""
    m = D.shape[0]
    state = np.block([[np.zeros((m, m)), np.eye(m)], [-k * D, -c * D]])
    return float(np.linalg.eigvals(state).real.max())


def random_matrix(seed: int) -> Array:
    r = np.random.default_rng(seed)
    m = int(r.integers(1, 6))
    return np.eye(m) + r.uniform(0.1, 1.5) * r.standard_normal((m, m))


@given(st.integers(0, 100_000), st.floats(0.01, 5.0), st.floats(0.1, 10.0))
def test_criterion_is_the_sign_of_the_layers_growth(seed: int, damping: float, k: float) -> None:
    """Stable for c^2/k above the critical damping, and only then (S4, eqs. 29 and 35)."""
    D = random_matrix(seed)
    growth = layer_growth(D, np.sqrt(damping * k), k)
    if abs(growth) < 1e-9:
        return
    found = boundary_layer(D, damping=damping)
    assert (found.stability is Stability.STABLE) == (growth < 0.0)
    assert found.growth == pytest.approx(layer_growth(D, np.sqrt(damping), 1.0), abs=1e-6)


@given(st.integers(0, 100_000))
def test_the_layer_stands_on_the_border_at_critical_damping(seed: int) -> None:
    """At c^2/k = critical the layer neither grows nor decays, just above it decays, just below it grows."""
    D = random_matrix(seed)
    critical = boundary_layer(D).critical_damping
    if not 1e-3 < critical < 1e3:
        return
    assert layer_growth(D, np.sqrt(critical), 1.0) == pytest.approx(0.0, abs=1e-7)
    assert layer_growth(D, np.sqrt(1.01 * critical), 1.0) < 0.0 < layer_growth(D, np.sqrt(0.99 * critical), 1.0)


@given(st.integers(0, 100_000), st.floats(0.01, 100.0))
def test_heavier_bodies_need_more_damping_in_proportion(seed: int, mass: float) -> None:
    """D scales with 1/mass and critical c^2/k with mass."""
    D = random_matrix(seed)
    one, other = boundary_layer(D), boundary_layer(D / mass)
    if np.isfinite(one.critical_damping):
        assert other.critical_damping == pytest.approx(mass * one.critical_damping, rel=1e-6, abs=1e-9)
    assert one.spectrum is other.spectrum


def test_one_contact_is_unique_exactly_if_stable() -> None:
    """Theorem 4.2 for m = 1."""
    for d in (-2.0, -1e-3, 1e-3, 2.0):
        stable = boundary_layer([[d]], damping=0.5).stability is Stability.STABLE
        assert stable == bool(p_matrix([[d]])) == (d > 0.0)


def test_two_unique_contacts_are_stable_with_enough_damping() -> None:
    """For m = 2 a P-matrix has positive trace and determinant, so critical damping is finite."""
    r = np.random.default_rng(0)
    seen = 0
    for _ in range(300):
        D = r.standard_normal((2, 2)) + np.diag(r.uniform(0, 2, 2))
        if p_matrix(D):
            assert np.isfinite(boundary_layer(D).critical_damping)
            seen += boundary_layer(D).spectrum is Spectrum.COMPLEX
    assert seen > 20


def test_without_damping_nothing_is_more_than_marginal() -> None:
    """C = 0: roots on the imaginary axis for a real positive spectrum, growth for a complex one."""
    assert boundary_layer(np.diag([1.0, 3.0]), damping=0.0).stability is Stability.MARGINAL
    assert boundary_layer([[1.0, -1.0], [1.0, 1.0]], damping=0.0).stability is Stability.OSCILLATORY
    assert boundary_layer(np.diag([-1.0, 3.0]), damping=0.0).stability is Stability.UNSTABLE


def test_unknown_damping_leaves_a_complex_spectrum_open() -> None:
    """Eigenvalues 1 +- i need c^2/k > 1/2."""
    found = boundary_layer([[1.0, -1.0], [1.0, 1.0]])
    assert found.stability is Stability.DAMPING_NEEDED
    assert found.critical_damping == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("D", "spectrum"),
    [
        (np.diag([1.0, 2.0]), Spectrum.REAL_POSITIVE),
        ([[1.0, -1.0], [1.0, 1.0]], Spectrum.COMPLEX),
        ([[-1.0, -1.0], [1.0, -1.0]], Spectrum.COMPLEX_NEGATIVE),
        (np.diag([-1.0, 2.0]), Spectrum.ODD_NEGATIVE),
        (np.diag([-1.0, -2.0]), Spectrum.EVEN_NEGATIVE),
    ],
)
def test_kinds_of_spectra(D: Array, spectrum: Spectrum) -> None:
    assert boundary_layer(D).spectrum is spectrum


@pytest.mark.parametrize("damping", [None, 0.0, 1.0])
def test_a_zero_eigenvalue_is_marginal(damping: float | None) -> None:
    """Independent normals are assumed by the theory; dependent ones give D a zero."""
    assert boundary_layer([[1.0, 1.0], [1.0, 1.0]], damping=damping).stability is Stability.MARGINAL


@pytest.mark.parametrize("rounding", [0.0, 1e-16, -1e-16])
def test_a_defective_matrix_is_marked(rounding: float) -> None:
    """A double root without a second eigenvector: rounding splits it by 1e-8, into a real or a complex pair."""
    found = boundary_layer([[2.0, 1.0], [rounding, 2.0]], damping=0.0)
    assert found.sensitive
    assert found.stability is Stability.MARGINAL
    assert not boundary_layer([[2.0, 1.0], [0.0, 2.1]]).sensitive


def test_no_contact_is_stable() -> None:
    assert boundary_layer(np.zeros((0, 0))).stability is Stability.STABLE


@given(st.integers(0, 100_000), st.floats(0.01, 3.0))
def test_equal_contacts_are_a_case_of_different_ones(seed: int, c: float) -> None:
    """With C = c I, K = k I both functions agree."""
    D = random_matrix(seed)
    m = D.shape[0]
    found = layer_of_contacts(D, stiffness=np.full(m, 2.0), damping=np.full(m, c))
    assert found.growth == pytest.approx(layer_growth(D, c, 2.0), abs=1e-6)
    if abs(found.growth) > 1e-4:
        single = boundary_layer(D, damping=c * c / 2.0)
        assert (found.stability is Stability.STABLE) == (single.stability is Stability.STABLE)


def test_different_contacts_can_decide() -> None:
    """Y'' + D (C y' + K y) = 0: a soft second contact takes a triangular pair apart, against a direct integration."""
    D = np.array([[1.0, -1.0], [1.0, 1.0]])
    equal = layer_of_contacts(D, stiffness=[1.0, 1.0], damping=[0.5, 0.5])
    apart = layer_of_contacts(D, stiffness=[1.0, 0.02], damping=[0.5, 0.5])
    assert equal.stability is Stability.OSCILLATORY
    assert apart.stability is Stability.STABLE

    def far(K: Array) -> float:
        from scipy.integrate import solve_ivp

        def rate(_: float, s: Array) -> Array:
            return np.concatenate([s[2:], -D @ (0.5 * s[2:] + K * s[:2])])

        return float(np.abs(solve_ivp(rate, (0, 200), [1.0, 0, 0, 0], rtol=1e-8).y[:, -1]).max())

    assert far(np.array([1.0, 1.0])) > 10.0
    assert far(np.array([1.0, 0.02])) < 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stiffness": [0.0, 1.0], "damping": [1.0, 1.0]}, "stiffness"),
        ({"stiffness": [1.0, 1.0], "damping": [-1.0, 1.0]}, "damping"),
        ({"stiffness": [1.0], "damping": [1.0, 1.0]}, "shape"),
    ],
)
def test_bad_contact_data_are_refused(arguments: dict[str, list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        layer_of_contacts(np.eye(2), stiffness=arguments["stiffness"], damping=arguments["damping"])


def test_negative_damping_is_refused() -> None:
    with pytest.raises(InputError, match="damping"):
        boundary_layer(np.eye(2), damping=-0.1)
