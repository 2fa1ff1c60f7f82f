r"""Fixed-point iterations with convex subproblems for the friction problem (S2).

==============  ==========================================  ==========================================
here            paper                                       meaning
==============  ==========================================  ==========================================
``Gamma``       :math:`\Gamma`                              normal speed granted to P1, (n_c,) [m/s]
``slip``        :math:`\tilde\lambda = \Lambda(v)`          slip speed seen by the polygon, (n_c,) [m/s]
``y``           :math:`M^{1/2} (v - v_{free})`              so that :math:`|v - v'|_M = |y - y'|`
==============  ==========================================  ==========================================

1. ``v = P1(Gamma)``, ``Gamma = mu Lambda(v)``, until v stands still;
2. ``v = P1(Gamma)``, ``v = P2(Lambda(v))``, ``Gamma = mu Lambda(v)``, until v stands still;
3. algorithm 2, once: cheap, never penetrating, dissipative, but friction may leave the cone and is too strong where
   things slide. It is not a solution and not reported as one unless the residual says so.

References
----------
.. [S2] Anitescu & Hart, slides "Fixed point iterations and related algorithms". Printed ``Gamma = mu Gamma`` read as
   ``Gamma = mu lambda``. Ours: relaxation, acceleration, and P2 restricted to the friction rows of contacts that touch
   in P1 (decided by the slack of the unique velocity, not by the impulse, which is not unique).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from signorini._arrays import Array, checked_number, checked_tolerance
from signorini.errors import InputError
from signorini.problems.friction import FrictionProblem
from signorini.problems.relaxations import is_spatial_and_exact, natural_residual, slip_speed
from signorini.solvers.anitescu_hart_steps import Relaxations
from signorini.solvers.nsgs import LAYERED
from signorini.solvers.progress import Progress
from signorini.solvers.qp_proximal import ProximalQP
from signorini.solvers.qp_session import QPSolver
from signorini.solvers.solution import Control, Solution, Status

_WINDOW = 10  # iterations that Anderson's acceleration combines
_CYCLE = 1e-3  # |v_k - v_(k-2)| below this part of |v_k - v_(k-1)|, three times in a row, is a two-cycle
_FIRST, _ROUGH = 1e-8, 1e-3  # accuracy of subproblems of an accelerated iteration, then relative to the residual


@dataclass(frozen=True, slots=True, kw_only=True)
class AnitescuHart:
    """Convex relaxations and a fixed point; takes polygonal cones, planar problems and (algorithm 1) exact cones.

    ``info`` of the solution holds the ``increments`` (:math:`|v_k - v_{k-1}|_M`) and their linear ``factor``, the
    ``natural_residual`` of the original LCP in its own units, the number of ``qps`` and their worst ``qp_residual``,
    and, where there is something to say, a sentence ``finding``: a two-cycle (both velocities in ``cycle``), a
    subproblem without solution (with its ``certificate``).
    """

    algorithm: Literal[1, 2, 3] = 1
    relaxation: float = 1.0
    """Weight w in ``Gamma <- (1 - w) Gamma + w mu Lambda(v)``; 0.5 cures oscillation."""
    acceleration: Literal["newton", "anderson", "none"] = "newton"
    """``"none"`` is the plain iteration from Gamma = 0. ``"anderson"`` extrapolates Gamma and starts from the guess
    of the caller. ``"newton"`` also tries, after every P1, Newton's method on the fixed-point equation."""
    velocity_tolerance: float | None = None
    """Stop when :math:`|v_k - v_{k-1}|_M` is at most this [sqrt(J)]; None: only by the residual of the problem."""
    max_iterations: int = 150
    row_slack: float | None = 1e-5
    """P2 gets the friction rows of contacts whose slack in P1 is below this [m/s]; None: of all contacts."""
    qp: QPSolver = field(default_factory=ProximalQP)
    qp_tolerance: float = 1e-11
    """Residual asked of the subproblems (when accelerated: at the end)."""

    def __post_init__(self) -> None:
        if self.algorithm not in (1, 2, 3):
            raise InputError(f"AnitescuHart: algorithm is {self.algorithm!r}, must be 1, 2 or 3")
        if self.acceleration not in ("newton", "anderson", "none"):
            raise InputError(
                f"AnitescuHart: acceleration is {self.acceleration!r}, must be 'newton', 'anderson' or 'none'"
            )
        if not 0.0 < self.relaxation <= 1.0:
            raise InputError(f"AnitescuHart: relaxation is {self.relaxation!r}, must be > 0 and <= 1")
        checked_tolerance(self.qp_tolerance, "AnitescuHart: qp_tolerance")
        if self.velocity_tolerance is not None:
            checked_number(self.velocity_tolerance, "AnitescuHart: velocity_tolerance", above=0.0)

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        progress = Progress(problem, control or Control(), f"AnitescuHart({self.algorithm})")
        if problem.contact_count == 0:
            return progress.finish(np.zeros(0), 0)
        if problem.extension is not None:
            return progress.finish(None, 0, Status.NOT_APPLICABLE, finding="relaxes Coulomb's cone only")
        if problem.layers is not None:
            return progress.finish(None, 0, Status.NOT_APPLICABLE, finding=LAYERED)
        if self.algorithm != 1 and is_spatial_and_exact(problem):
            return progress.finish(None, 0, Status.NOT_APPLICABLE, finding="P2 is posed with a polygonal cone")
        try:
            relaxations = Relaxations(problem, self.qp, progress)
        except InputError as error:
            return progress.finish(None, 0, Status.NOT_APPLICABLE, finding=str(error))
        return _Run(self, problem, progress, relaxations).solution()


class _Run:
    """One solution of one problem."""

    def __init__(
        self, settings: AnitescuHart, problem: FrictionProblem, progress: Progress[Any], relaxations: Relaxations
    ) -> None:
        self.settings, self.problem, self.progress, self.relaxations = settings, problem, progress, relaxations
        self.increments: list[float] = []
        self.info: dict[str, Any] = {}
        self.iterations = 0

    def solution(self) -> Solution:
        """Iterate and judge."""
        p, status = self._iterate()
        residual = self.problem.residual(p)
        settings = self.settings
        self.info["increments"] = self.increments
        self.info["qps"] = self.relaxations.solved
        self.info["qp_residual"] = self.relaxations.worst
        self.info["factorisations"] = self.relaxations.factorisations
        if settings.algorithm != 3:
            self.info["factor"] = linear_factor(self.increments, 1e-9 * max(self.increments, default=0.0))
        if not is_spatial_and_exact(self.problem):
            self.info["natural_residual"] = natural_residual(self.problem, p)
        # The last point, not the best by residual: a truncated algorithm 2 or 3 keeps what it guarantees.
        self.progress.best, self.progress.best_residual = p, residual
        return self.progress.finish(p, self.iterations, status, **self.info)

    def _iterate(self) -> tuple[Array, Status]:
        problem, settings, progress = self.problem, self.settings, self.progress
        accelerated = settings.acceleration != "none" and settings.algorithm == 1
        limit = 1 if settings.algorithm == 3 else progress.control.max_iterations or settings.max_iterations
        Gamma = np.zeros(problem.contact_count)
        start = progress.control.start
        if start is not None and np.any(start):
            self.relaxations.guess(start)  # saves time in the subproblems, changes nothing else ...
            if accelerated:  # ... unless the iteration itself may start there
                Gamma = problem.mu * slip_speed(problem, problem.velocity(start))
        mixer = _Anderson(_WINDOW if accelerated else 0, settings.relaxation)
        points: list[Array] = []
        cycles, accuracy = 0, _FIRST if accelerated else settings.qp_tolerance
        p = np.zeros(problem.size)
        for self.iterations in range(1, limit + 1):
            first = self.relaxations.first(Gamma, accuracy)
            if first is None:
                return p, self._no_relaxation()
            p, u, y = first
            in_cone = p
            slip = slip_speed(problem, u)
            if settings.algorithm != 1:
                after = self.relaxations.second(slip, u, Gamma, settings.row_slack, settings.qp_tolerance)
                if after is None:
                    return p, self._no_relaxation()
                p, u, y = after
                slip = slip_speed(problem, u)
            # At a fixed point of algorithm 2 both velocities agree, but only the impulses of P1 are surely in the cone.
            judged = in_cone if settings.algorithm == 2 else p
            residual = progress.offer(judged, self.iterations)
            if residual <= progress.control.tolerance:
                p = judged
                if settings.velocity_tolerance is None:
                    return p, Status.SOLVED
            if accelerated and settings.acceleration == "newton":
                better, residual = self.relaxations.finish(p, progress.control.tolerance)
                if residual <= progress.control.tolerance:
                    progress.offer(better, self.iterations, residual)
                    return better, Status.SOLVED
            accuracy = max(settings.qp_tolerance, min(accuracy, _ROUGH * residual)) if accelerated else accuracy
            points = [*points[-2:], y]
            if len(points) > 1:
                self.increments.append(float(np.linalg.norm(y - points[-2])))
                if settings.velocity_tolerance is not None and self.increments[-1] <= settings.velocity_tolerance:
                    return p, Status.STALLED
            if len(points) == 3 and not accelerated:
                back = float(np.linalg.norm(y - points[0]))
                cycles = cycles + 1 if back <= _CYCLE * self.increments[-1] else 0
                if cycles >= 3 and self.increments[-1] > 1e-8 * float(np.linalg.norm(y)):
                    self.info["finding"] = (
                        f"two-cycle: the iteration alternates between two velocities {self.increments[-1]:.3g} apart "
                        "(norm of M); relaxation=0.5 damps it"
                    )
                    self.info["cycle"] = (points[1], points[2])
                    return p, Status.STALLED
            if progress.out_of_time():
                return p, Status.TIME_LIMIT
            Gamma = mixer.next(Gamma, problem.mu * slip)
        return p, Status.ITERATION_LIMIT

    def _no_relaxation(self) -> Status:
        """Say why a subproblem was not solved."""
        failed = self.relaxations.failed
        if self.progress.out_of_time():
            return Status.TIME_LIMIT
        if failed.status is Status.ITERATION_LIMIT:
            return Status.ITERATION_LIMIT
        self.info["finding"] = f"a convex subproblem was not solved: {failed.status}"
        if failed.certificate is not None:
            self.info["finding"] = "P1 is infeasible: gaps cannot be closed, the friction cone is not pointed"
            self.info["certificate"] = failed.certificate
        return Status.STALLED


class _Anderson:
    """Anderson's acceleration of ``Gamma -> G(Gamma)``; without a window the relaxed iteration."""

    def __init__(self, window: int, relaxation: float) -> None:
        self.window = window
        self.relaxation = relaxation
        self.points: list[Array] = []
        self.steps: list[Array] = []

    def next(self, Gamma: Array, image: Array) -> Array:
        """Return the next argument from this one and its image."""
        step = self.relaxation * (image - Gamma)
        if self.window == 0:
            return Gamma + step
        self.points = [*self.points[-self.window :], Gamma]
        self.steps = [*self.steps[-self.window :], step]
        if len(self.points) == 1:
            return Gamma + step
        dF = np.diff(np.array(self.steps), axis=0).T
        dG = np.diff(np.array(self.points), axis=0).T
        if not (np.isfinite(dF).all() and np.isfinite(step).all()):
            return Gamma + step
        weights = np.linalg.lstsq(dF, step, rcond=1e-12)[0]
        mixed: Array = np.maximum(Gamma + step - (dG + dF) @ weights, 0.0)
        return mixed


def linear_factor(increments: Sequence[float], floor: float) -> float:
    """Return the measured factor of linear convergence from the increments above `floor`, nan with fewer than three.

    Over the last four ratios if more than six increments count, else over all.
    """
    counted = [d for d in increments if d > floor]
    if len(counted) < 3:
        return float("nan")
    if len(counted) > 6:
        return float((counted[-1] / counted[-5]) ** 0.25)
    return float((counted[-1] / counted[0]) ** (1.0 / (len(counted) - 1)))
