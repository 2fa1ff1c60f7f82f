"""Formulations: how a step of a model is posed as a complementarity problem."""

from signorini.engine.engine import Engine
from signorini.formulations.jointed.memory import JointMemory
from signorini.formulations.moreau_jean import MoreauJean
from signorini.formulations.quasi_rigid import QuasiRigid
from signorini.formulations.recursive import Recursive
from signorini.formulations.stewart_trinkle import StewartTrinkle
from signorini.posing.base import AnyMemory, Balance, Formulation, JointReport, Memory, StepResult
from signorini.posing.posed import ContactLaw, Phases, Posed, PosedFriction
from signorini.posing.stepper import CHECKS, Stepper, Steps

__all__ = [
    "CHECKS",
    "AnyMemory",
    "Balance",
    "ContactLaw",
    "Engine",
    "Formulation",
    "JointMemory",
    "JointReport",
    "Memory",
    "MoreauJean",
    "Phases",
    "Posed",
    "PosedFriction",
    "QuasiRigid",
    "Recursive",
    "StepResult",
    "Stepper",
    "Steps",
    "StewartTrinkle",
]
