"""Divide and conquer (S5): joined bodies by the response of their handles and contacts to forces."""

from signorini.dynamics.response.assembly import Assembly, Bodies, Links, Solved
from signorini.dynamics.response.plan import GROUND, Plan, make_plan

__all__ = ["GROUND", "Assembly", "Bodies", "Links", "Plan", "Solved", "make_plan"]
