"""Schemes for mechanical systems as ordinary differential equations: speeds in a vector space, configurations not."""

from signorini.integrators.base import Accelerated, Integrator, Moved
from signorini.integrators.runge_kutta import RK4
from signorini.integrators.semi_implicit_euler import SemiImplicitEuler

__all__ = ["RK4", "Accelerated", "Integrator", "Moved", "SemiImplicitEuler"]
