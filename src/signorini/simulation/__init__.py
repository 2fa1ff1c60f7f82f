"""From a scene to a certified trajectory."""

from signorini.simulation.certificate import Certificate
from signorini.simulation.choose import FORMULATIONS, formulation_from_dict
from signorini.simulation.contact_record import ContactRecord
from signorini.simulation.contact_table import ContactTable, Mode
from signorini.simulation.simulate import Interrupted, resume, simulate
from signorini.simulation.simulator import Simulator, Snapshot, StepReport
from signorini.simulation.trajectory import Energy, Trajectory

__all__ = [
    "FORMULATIONS",
    "Certificate",
    "ContactRecord",
    "ContactTable",
    "Energy",
    "Interrupted",
    "Mode",
    "Simulator",
    "Snapshot",
    "StepReport",
    "Trajectory",
    "formulation_from_dict",
    "resume",
    "simulate",
]
