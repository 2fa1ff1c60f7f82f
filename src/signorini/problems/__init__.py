"""Problems as pure mathematics: frozen data, a residual, files and conversions."""

from signorini.problems.convert import (
    Converted,
    lcp_to_mcp,
    mixed_to_lcp,
    mixed_to_mcp,
    register_conversion,
    register_simplification,
)
from signorini.problems.delassus import Delassus
from signorini.problems.files import load_problem, register_format, register_npz_kind
from signorini.problems.friction import FrictionProblem
from signorini.problems.friction_cores import layers_as_contacts
from signorini.problems.friction_ellipsoid import ellipsoid_as_cone
from signorini.problems.friction_files import (
    HDF5_SIGNATURE,
    friction_from_fclib,
    friction_from_fields,
    friction_from_normal_last,
)
from signorini.problems.friction_lcp import friction_to_lcp
from signorini.problems.lcp import LCP
from signorini.problems.mcp import MCP
from signorini.problems.mixed_ncp import MixedNCP
from signorini.problems.mlcp import MixedLCP
from signorini.problems.problem import Problem
from signorini.problems.qp import ConvexQP, qp_to_mixed
from signorini.problems.relaxations import first_relaxation, second_relaxation

register_npz_kind("local", friction_from_fields)
register_npz_kind("global", friction_from_fields)
register_npz_kind("normal last", friction_from_normal_last)
register_format(HDF5_SIGNATURE, friction_from_fclib)
register_simplification(FrictionProblem, layers_as_contacts)
register_simplification(FrictionProblem, ellipsoid_as_cone)
register_conversion(FrictionProblem, LCP, friction_to_lcp)
register_npz_kind("qp", ConvexQP.from_fields)
register_conversion(ConvexQP, MixedLCP, qp_to_mixed)

__all__ = [
    "LCP",
    "MCP",
    "Converted",
    "ConvexQP",
    "Delassus",
    "FrictionProblem",
    "MixedLCP",
    "MixedNCP",
    "Problem",
    "first_relaxation",
    "lcp_to_mcp",
    "load_problem",
    "mixed_to_lcp",
    "mixed_to_mcp",
    "register_conversion",
    "register_format",
    "register_npz_kind",
    "register_simplification",
    "second_relaxation",
]
