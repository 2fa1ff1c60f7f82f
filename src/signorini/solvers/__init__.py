"""Solvers and the one verb :func:`solve`; each kind of problem is registered here in one line."""

from signorini.problems.friction import FrictionProblem
from signorini.problems.lcp import LCP
from signorini.problems.mcp import MCP
from signorini.problems.mlcp import MixedLCP
from signorini.solvers.enumerate import Enumerate
from signorini.solvers.friction_auto import FrictionAuto
from signorini.solvers.friction_interior_point import FrictionInteriorPoint
from signorini.solvers.interior_point_lcp import InteriorPointLCP
from signorini.solvers.josephy_newton import JosephyNewton
from signorini.solvers.lemke import Lemke
from signorini.solvers.linear_auto import LinearAuto
from signorini.solvers.mcp_auto import MCPAuto
from signorini.solvers.nsgs import NSGS
from signorini.solvers.pgs import PGS
from signorini.solvers.principal_pivoting import PrincipalPivoting
from signorini.solvers.proximal_newton import ProximalNewton
from signorini.solvers.semismooth_newton import SemismoothNewton
from signorini.solvers.solution import Control, Solution, Status
from signorini.solvers.solve import Solver, applicable, register, run, solve

register(LCP, default=LinearAuto(), solvers=(Lemke(), PGS(), PrincipalPivoting(), InteriorPointLCP(), Enumerate()))
register(MixedLCP, default=LinearAuto(), solvers=(InteriorPointLCP(),))
register(MCP, default=MCPAuto(), solvers=(JosephyNewton(), SemismoothNewton()))
register(FrictionProblem, default=FrictionAuto(), solvers=(NSGS(), FrictionInteriorPoint(), ProximalNewton()))

__all__ = [
    "NSGS",
    "PGS",
    "Control",
    "Enumerate",
    "FrictionAuto",
    "FrictionInteriorPoint",
    "InteriorPointLCP",
    "JosephyNewton",
    "Lemke",
    "LinearAuto",
    "MCPAuto",
    "PrincipalPivoting",
    "ProximalNewton",
    "SemismoothNewton",
    "Solution",
    "Solver",
    "Status",
    "applicable",
    "register",
    "run",
    "solve",
]
