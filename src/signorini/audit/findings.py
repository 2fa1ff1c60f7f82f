"""What an audit found, how bad it is, and the bounds by which that is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini._grades import Grade, worst_of

ROUNDING = 1e-9
"""Largest part by which equations that hold exactly may be missed: of the sum of the sizes of their terms.

Terms are known to 2e-16 of their size, and places to 2e-16 of their distance from the origin, which may be a million
times a body's size. What is missed by more was not computed by these equations."""
TOLERANCE = 1e-6
"""Residual to which a contact law is taken to be solved where a file does not tell."""
FACTOR = 10.0
"""Of the run's tolerance: residual of a contact law up to which a step counts as solved.

The audit does not know the numbers by which the solver measured itself: mobilities of joined bodies, gaps of contacts
that carried load. It measures by those of free bodies."""
TOUCH = 1e-4
"""Of the smaller or thinner body: gaps up to which contacts count as touching."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check over all steps or states of a run."""

    what: str
    checked: int
    """Number of steps, or of recorded states, that were looked at."""
    steps: int
    """How many of them are beyond the bound."""
    worst: float
    unit: str
    """Of `worst` and `bound`; empty for ratios."""
    bound: float
    """Up to which the check is trusted."""
    time: float
    """At the end of the worst step [s]; nan if nothing was found."""
    who: str
    """Body, pair of bodies or joint of the worst value."""
    grade: Grade


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst value of every step, and whose it is by a number."""

    value: Array
    """(n,)"""
    who: IntArray
    """(n,), -1 for nobody."""

    @staticmethod
    def of(value: Array, step: IntArray, who: IntArray, count: int) -> Worst:
        """Return the largest of the values of each of `count` steps; what is not a number counts as infinite."""
        value = np.where(np.isnan(value), np.inf, value)
        largest, owner = np.zeros(count), np.full(count, -1)
        order = np.argsort(value, kind="stable")
        largest[step[order]] = value[order]  # of several the last one stays
        owner[step[order]] = who[order]
        return Worst(largest, owner)

    @staticmethod
    def join(parts: Sequence[Worst]) -> Worst:
        """Put steps behind each other."""
        if not parts:
            return Worst(np.zeros(0), np.zeros(0, dtype=np.int64))
        return Worst(np.concatenate([part.value for part in parts]), np.concatenate([part.who for part in parts]))


def judged(
    what: str,
    found: Worst,
    time: Array,
    names: Callable[[int], str],
    *,
    bound: float,
    limit: float | None = None,
    unit: str = "",
) -> Finding:
    """Grade the worst values of all steps: trusted up to `bound`, with remarks up to `limit`, if there is one."""
    if not found.value.size:
        return Finding(what, 0, 0, 0.0, unit, bound, float("nan"), "", Grade.TRUSTED)
    k = int(np.argmax(found.value))
    worst = float(found.value[k])
    grade = Grade.TRUSTED
    if not worst <= bound:
        grade = Grade.REMARKS if limit is not None and worst <= limit else Grade.NOT_TRUSTED
    who = names(int(found.who[k])) if found.who[k] >= 0 and worst > 0.0 else ""
    beyond = int(np.count_nonzero(~(found.value <= bound)))
    return Finding(what, found.value.size, beyond, worst, unit, bound, float(time[k]), who, grade)


@dataclass(frozen=True, slots=True)
class Audit:
    """The certificate of a run, repeated from its file."""

    source: str
    step_count: int
    body_count: int
    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]
    """What could not be repeated, and why."""

    @property
    def verdict(self) -> Grade:
        """The worst grade; what was not checked is worth a remark."""
        return worst_of([finding.grade for finding in self.findings] + [Grade.REMARKS] * bool(self.unchecked))

    def of(self, what: str) -> Finding:
        """Return the finding of one check."""
        return next(finding for finding in self.findings if finding.what == what)

    def to_dict(self) -> dict[str, Any]:
        """Return all as dicts, lists, words and numbers."""
        return {
            "source": self.source,
            "steps": self.step_count,
            "bodies": self.body_count,
            "verdict": str(self.verdict),
            "findings": [{**asdict(finding), "grade": str(finding.grade)} for finding in self.findings],
            "unchecked": list(self.unchecked),
        }

    def text(self) -> str:
        """Return a table and the verdict in words."""
        head = f"  {'check':<30}{'worst':>11}  {'bound':>8}  {'steps':>6}  {'t [s]':>8}  "
        lines = [f"audit of {self.source}: {self.step_count} steps, {self.body_count} bodies", head + "who"]
        for one in self.findings:
            what = f"{one.what} [{one.unit}]" if one.unit else one.what
            mark = {Grade.TRUSTED: "", Grade.REMARKS: "remark: ", Grade.NOT_TRUSTED: "NOT TRUSTED: "}[one.grade]
            lines.append(
                f"  {what:<30}{one.worst:11.2e}  {one.bound:8.0e}  {one.steps:6d}  {one.time:8.4g}  {mark}{one.who}"
            )
        lines += [f"Not checked: {what}." for what in self.unchecked]
        return "\n".join([*lines, self._verdict_text()])

    def _verdict_text(self) -> str:
        """Say in one sentence whether to trust the run, and if not, why."""
        verdict = self.verdict
        bad = [one for one in self.findings if one.grade is verdict and verdict is not Grade.TRUSTED]
        named = [
            f"{one.what} {one.worst:.1e}{one.unit and ' ' + one.unit}{one.who and ' of ' + one.who}, in {one.steps} "
            f"of {one.checked}, worst at t = {one.time:.6g} s"
            for one in bad
        ]
        if verdict is not Grade.NOT_TRUSTED and self.unchecked:
            named.append("as far as it was checked, see above what was not")
        sentence = str(verdict).capitalize()
        return f"{sentence}: {'; '.join(named)}." if named else f"{sentence}: every check holds."
