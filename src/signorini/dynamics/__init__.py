"""Newton and Euler for bodies in maximal coordinates: inertia, loads, wrenches, motion, energy."""

from signorini.dynamics.bodies import free_velocity, inverse_inertia, kinetic_energy
from signorini.dynamics.loads import load_impulse, potential_energy
from signorini.dynamics.motion import advance, drive_velocity, prescribed_pose
from signorini.dynamics.wrenches import contact_wrenches, relative_velocity

__all__ = [
    "advance",
    "contact_wrenches",
    "drive_velocity",
    "free_velocity",
    "inverse_inertia",
    "kinetic_energy",
    "load_impulse",
    "potential_energy",
    "prescribed_pose",
    "relative_velocity",
]
