"""The default for linear complementarity problems, mixed or not."""

from __future__ import annotations

from dataclasses import dataclass

from signorini.problems.convert import mixed_to_lcp
from signorini.problems.lcp import LCP
from signorini.problems.matrices import is_sparse
from signorini.problems.mlcp import MixedLCP
from signorini.solvers.attempts import Attempts
from signorini.solvers.certificate import infeasibility_certificate
from signorini.solvers.enumerate import Enumerate
from signorini.solvers.interior_point_lcp import InteriorPointLCP
from signorini.solvers.lemke import Lemke
from signorini.solvers.mixed_integer import MixedInteger
from signorini.solvers.principal_pivoting import PrincipalPivoting
from signorini.solvers.semismooth_newton import SemismoothNewton
from signorini.solvers.solution import Control, Solution, Status
from signorini.solvers.solve import Solver


@dataclass(frozen=True, slots=True)
class LinearAuto:
    """Chooses and combines methods for LCP and mixed LCP.

    Up to `pivoting_size` unknowns Lemke's method goes first, beyond it (where pivots become dear) semismooth Newton and
    interior point. If all fail, a certificate is looked for that no solution exists (the status is then "no solution",
    with ``info["certificate"]``), a small problem is searched cone by cone and a larger one by branch and bound. If
    that fails too the status is "ray" if Lemke's method ended on one (``info["ray"]``), else "undecided".
    """

    pivoting_size: int = 2000
    """Number of unknowns up to which pivoting is the first choice; a third of it for sparse problems."""
    enumerable: int = 12
    """Number of pairs up to which all complementary cones are searched in the end."""
    last_resort: float = 5.0
    """Seconds of branch and bound, where all else failed."""

    def solve(self, problem: LCP | MixedLCP, control: Control) -> Solution:
        """Solve `problem`; never raises on failure, read ``status``."""
        attempts = Attempts(problem, control, "LinearAuto")
        for solver in self._order(problem):
            if attempts.solved(solver) or attempts.out_of_time():
                return attempts.finish()
            if str(Status.NO_SOLUTION) in attempts.statuses():
                return attempts.finish(Status.NO_SOLUTION)
        lcp = problem if isinstance(problem, LCP) else mixed_to_lcp(problem).problem
        if lcp.size <= self.pivoting_size:
            left = attempts.time_left()
            certificate = infeasibility_certificate(lcp) if left is None else infeasibility_certificate(lcp, left)
            if certificate is not None:
                return attempts.finish(Status.NO_SOLUTION, certificate=certificate)
        if attempts.out_of_time():
            return attempts.finish(Status.TIME_LIMIT)
        if lcp.size <= self.enumerable:
            if attempts.solved(Enumerate(max_size=self.enumerable)):
                return attempts.finish()
            if str(Status.NO_SOLUTION) in attempts.statuses():
                return attempts.finish(Status.NO_SOLUTION)
        elif self.last_resort > 0.0 and attempts.solved(MixedInteger(seconds=self.last_resort)):
            return attempts.finish()
        ray = str(Status.RAY) in attempts.statuses()
        return attempts.finish(Status.RAY if ray else Status.UNDECIDED)

    def _order(self, problem: LCP | MixedLCP) -> tuple[Solver, ...]:
        """Return the methods in the order in which they are tried."""
        safe: tuple[Solver, ...] = (InteriorPointLCP(), SemismoothNewton(), PrincipalPivoting(max_iterations=200))
        block = problem.M if isinstance(problem, LCP) else problem.B
        if problem.size <= (self.pivoting_size // 3 if is_sparse(block) else self.pivoting_size):
            return (Lemke(), *safe, Lemke(attempts=20, seed=1))
        large: tuple[Solver, ...] = (SemismoothNewton(max_iterations=60), InteriorPointLCP())
        return (*large, Lemke()) if problem.size <= 2 * self.pivoting_size else large
