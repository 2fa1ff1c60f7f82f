"""Solvers and the one verb :func:`solve`; each kind of problem is registered here in one line."""

from signorini.problems.friction import FrictionProblem
from signorini.problems.lcp import LCP
from signorini.problems.mcp import MCP
from signorini.problems.mixed_ncp import MixedNCP
from signorini.problems.mlcp import MixedLCP
from signorini.problems.qp import ConvexQP
from signorini.solvers.anitescu_hart import AnitescuHart
from signorini.solvers.enumerate import Enumerate
from signorini.solvers.extended_friction import ExtendedFriction
from signorini.solvers.friction_auto import FrictionAuto
from signorini.solvers.friction_interior_point import FrictionInteriorPoint
from signorini.solvers.interior_point_lcp import InteriorPointLCP
from signorini.solvers.josephy_newton import JosephyNewton
from signorini.solvers.lemke import Lemke
from signorini.solvers.linear_auto import LinearAuto
from signorini.solvers.mcp_auto import MCPAuto
from signorini.solvers.mixed_integer import MixedInteger
from signorini.solvers.natural_newton import NaturalNewton
from signorini.solvers.nsgs import NSGS
from signorini.solvers.pgs import PGS
from signorini.solvers.principal_pivoting import PrincipalPivoting
from signorini.solvers.projected_gradient import ProjectedGradient
from signorini.solvers.proximal_newton import ProximalNewton
from signorini.solvers.qp_clarabel import Clarabel
from signorini.solvers.qp_proximal import ProximalQP
from signorini.solvers.semismooth_newton import SemismoothNewton
from signorini.solvers.solution import Control, Solution, Status
from signorini.solvers.solve import Solver, applicable, register, run, solve

register(
    LCP,
    default=LinearAuto(),
    solvers=(Lemke(), PGS(), PrincipalPivoting(), InteriorPointLCP(), Enumerate(), MixedInteger()),
)
register(MixedLCP, default=LinearAuto(), solvers=(InteriorPointLCP(),))
register(MCP, default=MCPAuto(), solvers=(JosephyNewton(), SemismoothNewton()))
register(MixedNCP, default=NaturalNewton(), solvers=())
register(ConvexQP, default=ProximalQP(), solvers=(Clarabel(),))
register(
    FrictionProblem,
    default=FrictionAuto(),
    solvers=(
        NSGS(),
        FrictionInteriorPoint(),
        ProximalNewton(),
        ProjectedGradient(),
        AnitescuHart(),
        ExtendedFriction(),
    ),
)

__all__ = [
    "NSGS",
    "PGS",
    "AnitescuHart",
    "Clarabel",
    "Control",
    "Enumerate",
    "ExtendedFriction",
    "FrictionAuto",
    "FrictionInteriorPoint",
    "InteriorPointLCP",
    "JosephyNewton",
    "Lemke",
    "LinearAuto",
    "MCPAuto",
    "MixedInteger",
    "NaturalNewton",
    "PrincipalPivoting",
    "ProjectedGradient",
    "ProximalNewton",
    "ProximalQP",
    "SemismoothNewton",
    "Solution",
    "Solver",
    "Status",
    "applicable",
    "register",
    "run",
    "solve",
]
