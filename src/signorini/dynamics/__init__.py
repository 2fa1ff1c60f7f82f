"""Newton and Euler for bodies in maximal coordinates: inertia, loads, wrenches, motion, energy."""

from signorini.dynamics.bodies import free_velocity, gyroscopic_ways, inertia_blocks, inverse_inertia, kinetic_energy
from signorini.dynamics.constraints import constraint_rows
from signorini.dynamics.contact_map import ContactMap
from signorini.dynamics.energy import Energies, Stores, energies, motion_energies, stored_energy
from signorini.dynamics.joint_rows import Rows, joint_rows, stacked
from signorini.dynamics.joints import (
    JointSystem,
    bilateral_rows,
    elastic_energy,
    joint_coordinates,
    joint_system,
    projected,
)
from signorini.dynamics.loads import load_impulse, potential_energy
from signorini.dynamics.motion import advance, drive_velocity, motion_rate, prescribed_pose
from signorini.dynamics.wrenches import contact_wrenches, relative_velocity

__all__ = [
    "ContactMap",
    "Energies",
    "JointSystem",
    "Rows",
    "Stores",
    "advance",
    "bilateral_rows",
    "constraint_rows",
    "contact_wrenches",
    "drive_velocity",
    "elastic_energy",
    "energies",
    "free_velocity",
    "gyroscopic_ways",
    "inertia_blocks",
    "inverse_inertia",
    "joint_coordinates",
    "joint_rows",
    "joint_system",
    "kinetic_energy",
    "load_impulse",
    "motion_energies",
    "motion_rate",
    "potential_energy",
    "prescribed_pose",
    "projected",
    "relative_velocity",
    "stacked",
    "stored_energy",
]
