"""Formulations: how a step of a model is posed as a complementarity problem."""

from signorini.formulations.base import Balance, Formulation, JointReport, Memory, StepResult
from signorini.formulations.engine import Engine
from signorini.formulations.moreau_jean import MoreauJean
from signorini.formulations.step_room import Log
from signorini.formulations.stewart_trinkle import StewartTrinkle

__all__ = [
    "Balance",
    "Engine",
    "Formulation",
    "JointReport",
    "Log",
    "Memory",
    "MoreauJean",
    "StepResult",
    "StewartTrinkle",
]
