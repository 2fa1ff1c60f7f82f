"""Multibody dynamics with contact and exact Coulomb friction by complementarity, every step certified.

>>> import signorini as sg
>>> scene = sg.Scene(gravity=(0, 0, -9.81))
>>> floor = scene.add_fixed(sg.HalfSpace(), name="floor")
>>> ball = scene.add_body(sg.Sphere(radius=1.0), mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0), name="ball")
>>> scene.set_contact(friction=0.2)
>>> trajectory = sg.simulate(scene, duration=0.6, h=0.12)
>>> trajectory.linear_velocity("ball")[-1].round(8)
array([1.42857143, 0.        , 0.        ])
"""

from typing import TYPE_CHECKING, Any

from signorini.errors import FileError, InputError, SceneWarning, SignoriniError, SolverFailure
from signorini.formulations import MoreauJean, QuasiRigid, Recursive, StewartTrinkle
from signorini.integrators import RK4, SemiImplicitEuler
from signorini.model import HuntCrossley, State
from signorini.problems import LCP, MCP, ConvexQP, Delassus, FrictionProblem, MixedLCP, MixedNCP, load_problem
from signorini.scene import (
    Beam,
    Body,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Disc,
    Ellipse,
    Ellipsoid,
    Fixed,
    FlexibleBody,
    HalfSpace,
    Implicit,
    Intersection,
    Mesh,
    Modes,
    Point,
    Polygon,
    Scene,
    Segment,
    Sphere,
    Superellipsoid,
)
from signorini.simulation import (
    Certificate,
    ContactRecord,
    ContactTable,
    Energy,
    Simulator,
    Snapshot,
    StepReport,
    Trajectory,
    resume,
    simulate,
)
from signorini.solvers import (
    NSGS,
    PGS,
    AnitescuHart,
    Clarabel,
    Control,
    Enumerate,
    ExtendedFriction,
    FrictionAuto,
    FrictionInteriorPoint,
    InteriorPointLCP,
    JosephyNewton,
    Lemke,
    LinearAuto,
    MCPAuto,
    MixedInteger,
    NaturalNewton,
    PrincipalPivoting,
    ProjectedGradient,
    ProximalNewton,
    ProximalQP,
    SemismoothNewton,
    Solution,
    Status,
    solve,
)

if TYPE_CHECKING:
    from signorini.analysis import accelerations

__version__ = "0.1.0"

__all__ = [
    "LCP",
    "MCP",
    "NSGS",
    "PGS",
    "RK4",
    "AnitescuHart",
    "Beam",
    "Body",
    "Box",
    "Capsule",
    "Certificate",
    "Clarabel",
    "Cone",
    "ContactRecord",
    "ContactTable",
    "Control",
    "ConvexHull",
    "ConvexQP",
    "Cylinder",
    "Delassus",
    "Disc",
    "Ellipse",
    "Ellipsoid",
    "Energy",
    "Enumerate",
    "ExtendedFriction",
    "FileError",
    "Fixed",
    "FlexibleBody",
    "FrictionAuto",
    "FrictionInteriorPoint",
    "FrictionProblem",
    "HalfSpace",
    "HuntCrossley",
    "Implicit",
    "InputError",
    "InteriorPointLCP",
    "Intersection",
    "JosephyNewton",
    "Lemke",
    "LinearAuto",
    "MCPAuto",
    "Mesh",
    "MixedInteger",
    "MixedLCP",
    "MixedNCP",
    "Modes",
    "MoreauJean",
    "NaturalNewton",
    "Point",
    "Polygon",
    "PrincipalPivoting",
    "ProjectedGradient",
    "ProximalNewton",
    "ProximalQP",
    "QuasiRigid",
    "Recursive",
    "Scene",
    "SceneWarning",
    "Segment",
    "SemiImplicitEuler",
    "SemismoothNewton",
    "SignoriniError",
    "Simulator",
    "Snapshot",
    "Solution",
    "SolverFailure",
    "Sphere",
    "State",
    "Status",
    "StepReport",
    "StewartTrinkle",
    "Superellipsoid",
    "Trajectory",
    "accelerations",
    "load_problem",
    "resume",
    "simulate",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Load the analysis room only for those who ask for it."""
    if name == "accelerations":
        from signorini.analysis import accelerations

        return accelerations
    raise AttributeError(f"module 'signorini' has no attribute {name!r}")
