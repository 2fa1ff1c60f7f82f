"""Ellipsoidal friction without couple as ordinary friction in scaled components."""

from __future__ import annotations

from signorini._arrays import Array
from signorini.problems.convert import Converted
from signorini.problems.friction import FrictionProblem


def ellipsoid_as_cone(problem: FrictionProblem) -> Converted | None:
    """Return the problem with Coulomb's cone for ``x = (p_n, p_t/e_t, p_o/e_o)``; None where the law is another one."""
    extension = problem.extension
    if extension is None or not extension.ordinary:
        return None
    scale = extension.scale.reshape(-1)

    def back(x: Array) -> Array:
        return x * scale

    def forth(p: Array) -> Array:
        return p / scale

    plain = FrictionProblem(
        problem.scaled_W, problem.b * scale, problem.mu, dim=problem.dim, compliance=problem.compliance
    )
    return Converted(plain, back, forth)
