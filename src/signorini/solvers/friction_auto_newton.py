"""The Newton-like members of the default solver for friction problems, and when they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from signorini._arrays import Array
from signorini.solvers.friction_equilibrated import EquilibratedProblem
from signorini.solvers.friction_interior_point import interior_point
from signorini.solvers.friction_newton import newton_system
from signorini.solvers.newton_run import Run
from signorini.solvers.proximal_newton import polish, proximal_newton

if TYPE_CHECKING:
    from signorini.solvers.friction_auto import Search

_SWEPT_NEAR = 3e-5  # sweeps that ended below this residual are near enough for Newton
_NEAR = 1e-6  # an interior point that stalled below this residual is near enough for a short proximal Newton
_PATH_STEPS = 60  # factorisations of one interior point
_PATIENT_STEPS = 250  # proximal Newton from where the first interior point stalled: seldom more are of use
_BETTER = 0.5  # a best point that fell to this part is worth another start of proximal Newton
_EXTRA = 1e-4  # the polish goes on to this part of the tolerance, at the price of a step or two


class NewtonMembers:
    """Interior points and proximal Newton on the problem of a search, with one linear algebra."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.scaled = EquilibratedProblem(search.problem)
        self.system = newton_system(self.scaled)
        self.swept = self.scaled.scaled(search.p)
        self.sizes = _start_sizes(self.swept)
        self.stalled: Array | None = None  # where the first interior point ended, until proximal Newton takes it up
        self.started_at = np.inf  # residual at the last start of proximal Newton from the best point

    @property
    def work(self) -> float:
        """Multiplications of a factorisation."""
        return self.system.work

    def first(self) -> bool:
        """Try what solves most problems that sweeps do not; tell whether the tolerance is met."""
        search = self.search
        if search.met or (search.residual < _SWEPT_NEAR and self._proximal(self.swept, 1e-3, 15)):
            return True
        self.stalled = self._path().r
        return search.met

    def turn(self, steps: int, other: Array) -> None:
        """Run an interior point of another size, if one is left, and so many steps of proximal Newton.

        The first turn goes on where the first interior point stalled. Later ones start at the best point; where the
        last one did and came to nothing, at the `other` impulses.
        """
        search = self.search
        if self.stalled is not None:
            self._proximal(self.stalled, 1e-2, _PATIENT_STEPS)
            self.stalled = None
            return
        if self.sizes:
            run = self._path()
            if not search.met and not search.over() and run.residual < _NEAR:
                self._proximal(run.r, 1e-2, steps)
        if not search.met and not search.over():
            better = search.residual < _BETTER * self.started_at
            self.started_at = search.residual
            self._proximal(self.scaled.scaled(search.p if better else other), 1e-2, steps)

    def polish(self) -> None:
        """Better what meets the tolerance, for the price of a step or two."""
        search = self.search
        self._done("polish", self._finish(self.scaled.scaled(search.p)))
        excess = search.excess()
        if excess > 1.0:
            # great impulses hide what is wrong with small ones
            r, sharper = self.scaled.scaled(search.p), 0.1 * search.tolerance / excess
            run = proximal_newton(self.scaled, self.system, r, sharper, 60, 1e-3, search.deadline)
            self._done("proximal Newton", run)
            self._done("polish", polish(self.scaled, self.system, self.scaled.scaled(search.p), 0.0, 8))

    def _finish(self, r: Array) -> Run:
        """Try to end it from `r`."""
        return polish(self.scaled, self.system, r, _EXTRA * self.search.tolerance, 3)

    def _path(self) -> Run:
        """Run an interior point from the next size."""
        search, size = self.search, self.sizes.pop(0)
        left = min(_PATH_STEPS, search.limit - search.factorisations)
        run = interior_point(
            self.scaled, self.system, search.tolerance, left, 8, search.deadline, size=size, finish=self._finish
        )
        self._done(f"interior point from {size:.0f}", run)
        return run

    def _proximal(self, r: Array, alpha: float, steps: int) -> bool:
        """Run proximal Newton from `r`; tell whether the tolerance is met."""
        search = self.search
        left = min(steps, search.limit - search.factorisations)
        run = proximal_newton(self.scaled, self.system, r, search.tolerance, left, alpha, search.deadline)
        return self._done("proximal Newton", run)

    def _done(self, name: str, run: Run) -> bool:
        """Offer what a member found; tell whether the tolerance is met."""
        return self.search.offer(name, self.scaled.impulses(run.r), run.residual, run.factorisations)


def _start_sizes(swept: Array) -> list[float]:
    """Return sizes of the interior point's start: first that of the impulses met by sweeps, then others.

    What decides is whether the start is above the impulses that a chain of contacts hands on, which no local quantity
    tells; a start of another size takes another way round a fold of the central path.
    """
    met = max(1.0, float(np.abs(swept).max(initial=0.0)))
    return [met] + [size for size in (30.0, 1.0, 300.0, 1000.0, 1e4) if not 0.3 < size / met < 3.0]
