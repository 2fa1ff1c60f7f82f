"""The default for friction problems: cheap sweeps first, Newton-like methods where sweeps do not get on.

1. Accelerated Gauss-Seidel sweeps as long as the residual falls tenfold in 200 of them.
2. If they came near: a few steps of proximal Newton.
3. An interior point, near the solution cut short by Newton's method in the modes that it found; where it stalls,
   proximal Newton goes on.
4. The same from starts of other sizes, then long runs of proximal Newton from the best points.

Whatever happens, the best point by the problem's own residual is returned, and called solved only if that residual
meets the tolerance.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import Array
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_lcp import friction_as_lcp, friction_from_lcp
from signorini.problems.problem import accepted
from signorini.solvers.nsgs import Sweeper, judged, starting_point
from signorini.solvers.solution import Control, Solution, Status

if TYPE_CHECKING:
    from signorini.solvers.newton_run import Run

_CHUNK = 256  # sweeps between two looks at the clock
_AFTER = 2  # sweeps after a guess was found to be good enough
_PATIENCE = 200
_PROGRESS = 0.1
_SWEPT_NEAR = 3e-5  # sweeps that ended below this residual are near enough for Newton
_NEWTON_CONTACTS = 10_000  # beyond, a factorisation costs more than thousands of sweeps
_NEAR = 1e-6  # an interior point that stalled below this residual is near enough for a short proximal Newton
_PATIENT_STEPS = 250  # proximal Newton from where the first interior point stalled: seldom more are of use
_EXTRA = 1e-4  # the polish goes on to this part of the tolerance, at the price of a step or two
_LEAST_TOLERANCE = 1e-14
_RUNAWAY = 1e-5  # tolerance at which impulses that ran away are not even credible
_REL = 100.0  # a one-off answer whose `rel` exceeds so many tolerances is polished as well


@dataclass(frozen=True, slots=True, kw_only=True)
class FrictionAuto:
    """Portfolio for friction problems of any size and difficulty; polygonal cones go to the solvers of LCPs."""

    acceleration: int = 5
    """Window of the accelerated sweeps."""
    max_iterations: int = 2000
    """Factorisations allowed in all; sweeps are not counted."""
    sweeps: int = 2000
    """Sweeps allowed; 0 if the start is where sweeps have ended."""

    def solve(self, problem: FrictionProblem, control: Control | None = None) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        began = time.perf_counter()
        control = control or Control()
        if problem.extension is not None:
            return _solve_extended(problem, control, self)
        if problem.polygon:
            return _solve_polygon(problem, control, began)
        p = starting_point(problem, control)
        sweeper = Sweeper(problem)
        history: list[tuple[float, float]] = []
        sweeps, solved, residual = 0, False, problem.residual_by_contacts(p) if self.sweeps == 0 else math.inf
        chunk = self.sweeps if control.time_limit is None else _CHUNK
        deadline = math.inf if control.time_limit is None else control.time_limit
        while self.sweeps > 0:
            done, residual = sweeper.run(p, 0.9 * control.tolerance, chunk, _PATIENCE, _PROGRESS, self.acceleration)
            sweeps += done
            history.append((time.perf_counter() - began, residual))
            if control.callback is not None:
                control.callback(sweeps, residual)
            solved = residual <= control.tolerance
            if solved or done < chunk or sweeps >= self.sweeps or history[-1][0] > deadline:
                break
        if solved and control.start is not None and residual > 0.0:
            # A guess that is just good enough would be taken again in every step, and its error would add up to creep.
            done, residual = sweeper.run(p, 0.0, _AFTER, _AFTER, 0.0, 1)
            sweeps += done
        solved = solved and accepted(problem, problem.flat(p), residual, control.tolerance)
        if solved and (control.start is not None or problem.rel(problem.flat(p)) <= _REL * control.tolerance):
            return judged(problem, p, control, Status.STALLED, sweeps, "FrictionAuto", began, history)
        if problem.contact_count > _NEWTON_CONTACTS:
            return judged(problem, p, control, Status.STALLED, sweeps, "FrictionAuto", began, history)
        search = _Search(problem, control, self, p, residual, began, history)
        search.path.append(f"sweeps {sweeps}")
        with np.errstate(all="ignore"):
            status = search.run()
        return judged(
            problem,
            search.p,
            control,
            status,
            sweeps + search.factorisations,
            "FrictionAuto",
            began,
            search.history,
            {"path": search.path},
        )


class _Search:
    """The best point so far and the stages that try to better it."""

    def __init__(
        self,
        problem: FrictionProblem,
        control: Control,
        settings: FrictionAuto,
        p: Array,
        residual: float,
        began: float,
        history: list[tuple[float, float]],
    ) -> None:
        self.problem = problem
        self.control = control
        self.tolerance = control.tolerance
        self.limit = settings.max_iterations if control.max_iterations is None else control.max_iterations
        self.met = False
        trusted = self.trusted(p, residual)
        self.p = p if trusted else np.zeros_like(p)
        self.residual = residual if trusted else math.inf
        self.began = began
        self.deadline = math.inf if control.time_limit is None else began + control.time_limit
        self.history = history
        self.factorisations = 0
        self.path: list[str] = []

    def run(self) -> Status:
        """Try one stage after the other until the tolerance is met; return the status if it is not."""
        # Imported where needed: most calls end with sweeps and never compile these kernels.
        from signorini.solvers.friction_equilibrated import EquilibratedProblem
        from signorini.solvers.friction_interior_point import interior_point
        from signorini.solvers.friction_newton import newton_system
        from signorini.solvers.proximal_newton import polish, proximal_newton

        scaled = EquilibratedProblem(self.problem)
        system = newton_system(scaled)
        swept = scaled.scaled(self.p)

        def finish(r: Array) -> Run:
            return polish(scaled, system, r, _EXTRA * self.tolerance, 3)

        def done(name: str, run: Run) -> bool:
            return self.offer(name, scaled.impulses(run.r), run.residual, run.factorisations)

        def newton(r: Array, alpha: float, steps: int) -> bool:
            left = min(steps, self.limit - self.factorisations)
            return done(
                "proximal Newton", proximal_newton(scaled, system, r, self.tolerance, left, alpha, self.deadline)
            )

        ends: list[Run] = []
        near = self.residual < _SWEPT_NEAR and (self.met or newton(swept, 1e-3, 15))
        for size in () if near else _start_sizes(swept):
            left = min(60, self.limit - self.factorisations)
            ends.append(
                interior_point(scaled, system, self.tolerance, left, 8, self.deadline, size=size, finish=finish)
            )
            if done(f"interior point from {size:.0f}", ends[-1]) or self.over():
                break
            patient = len(ends) == 1 or ends[-1].residual < _NEAR
            if patient and (newton(ends[-1].r, 1e-2, _PATIENT_STEPS if len(ends) == 1 else 80) or self.over()):
                break
        ends = sorted(ends[1:], key=lambda run: run.residual)
        for r in [run.r for run in ends[:2]] + [swept]:
            if self.met or self.over():
                break
            newton(r, 1e-2, 400)
        if self.met:
            done("polish", finish(scaled.scaled(self.p)))
            excess = self.problem.rel(self.problem.flat(self.p)) / (_REL * self.control.tolerance)
            if excess > 1.0 and self.control.start is None:
                # great impulses hide what is wrong with small ones
                r, sharper = scaled.scaled(self.p), 0.1 * self.tolerance / excess
                done("proximal Newton", proximal_newton(scaled, system, r, sharper, 60, 1e-3, self.deadline))
                done("polish", polish(scaled, system, scaled.scaled(self.p), 0.0, 8))
            return Status.SOLVED
        if time.perf_counter() > self.deadline:
            return Status.TIME_LIMIT
        return Status.ITERATION_LIMIT if self.factorisations >= self.limit else Status.STALLED

    def offer(self, name: str, p: Array, residual: float, factorisations: int) -> bool:
        """Keep `p` if it is better; tell whether the tolerance is met."""
        self.factorisations += factorisations
        self.path.append(f"{name} {factorisations}: {residual:.0e}")
        met = self.met
        if self.trusted(p, residual) and (residual < self.residual or (self.met and not met)):
            self.p, self.residual = p, residual
        self.history.append((time.perf_counter() - self.began, self.residual))
        if self.control.callback is not None:
            self.control.callback(self.factorisations, self.residual)
        return self.met

    def trusted(self, p: Array, residual: float) -> bool:
        """Tell whether `p` may be kept: not if its residual is small only beside impulses that ran away.

        If the problem does not accept a point that meets the tolerance, the goal of all further stages is put further,
        so that small impulses come right beside great ones.
        """
        if not residual <= self.control.tolerance:
            return True
        z = self.problem.flat(p)
        if accepted(self.problem, z, residual, self.control.tolerance):
            self.met = True
            return True
        self.tolerance = max(1e-2 * self.tolerance, _LEAST_TOLERANCE)
        return self.problem.credible(z, _RUNAWAY)

    def over(self) -> bool:
        """Tell whether time or factorisations are used up."""
        return self.factorisations >= self.limit or time.perf_counter() > self.deadline


def _start_sizes(swept: Array) -> list[float]:
    """Return sizes of the interior point's start: first that of the impulses met by sweeps, then others.

    What decides is whether the start is above the impulses that a chain of contacts hands on, which no local quantity
    tells; a start of another size takes another way round a fold of the central path.
    """
    met = max(1.0, float(np.abs(swept).max(initial=0.0)))
    return [met] + [size for size in (30.0, 1.0, 300.0, 1000.0, 1e4) if not 0.3 < size / met < 3.0]


def _solve_extended(problem: FrictionProblem, control: Control, solver: FrictionAuto) -> Solution:
    """Solve a problem with couples by the methods made for them, with an ellipsoid alone in scaled components."""
    from signorini.solvers.extended_friction import ExtendedFriction
    from signorini.solvers.solve import run

    return run(solver if problem.rows == problem.dim else ExtendedFriction(), problem, control)


def _solve_polygon(problem: FrictionProblem, control: Control, began: float) -> Solution:
    """Solve the LCP of a polygonal cone."""
    from signorini.solvers.linear_auto import LinearAuto

    inner = Control(
        tolerance=1e-2 * control.tolerance, time_limit=control.time_limit, max_iterations=control.max_iterations
    )
    solution = LinearAuto().solve(friction_as_lcp(problem), inner)
    p = problem.spatial(friction_from_lcp(problem, solution.z))
    status = Status.STALLED if solution.success else solution.status
    history = [(time.perf_counter() - began, solution.residual)]
    info = {**solution.info, "solved_as": "LCP"}
    return judged(problem, p, control, status, solution.iterations, "FrictionAuto", began, history, info)
