"""
A four-bar with friction in its joints
======================================

A closed chain of hinges: a crank, a coupler and a rocker between two fixed points. The loop needs nothing special, and
dry friction in the hinges is solved exactly: the mechanism comes to rest and stays there without creeping.
"""

# %%
# Three rods in the plane; hinges are placed in world coordinates at the initial pose.
import numpy as np
import signorini as sg

corners = np.array([(0.0, 0.0), (0.0, 0.25), (0.8, 0.55), (0.7, 0.0)])
scene = sg.Scene(planar=True)
for name, a, b in zip(("crank", "coupler", "rocker"), corners[:-1], corners[1:], strict=True):
    length, angle = np.linalg.norm(b - a), np.arctan2(*(b - a)[::-1])
    rod = sg.Segment((-length / 2, 0), (length / 2, 0), radius=0.02)
    scene.add_body(rod, mass=2 * length, position=(a + b) / 2, orientation=angle, name=name)

# %%
# Friction may be a torque, or follow the load of its bearing: ``("load", coefficient, radius of the pin)``.
bearing = ("load", 0.2, 0.015)
scene.add_joint("revolute", None, "crank", anchor=corners[0], friction=0.4, name="motor side")
scene.add_joint("revolute", "crank", "coupler", anchor=corners[1], friction=bearing, name="lower pin")
scene.add_joint("revolute", "coupler", "rocker", anchor=corners[2], friction=bearing, name="upper pin")
scene.add_joint("revolute", None, "rocker", anchor=corners[3], friction=bearing, name="pivot")
scene.exclude("crank", "rocker")

# %%
# It falls, swings to and fro and stops where friction can hold the weight.
trajectory = sg.simulate(scene, duration=5.0, h=0.01, formulation=sg.MoreauJean(projection=True))
print(trajectory.report())
trajectory.plot("motor side")

# %%
# Where the energy went.
energy = trajectory.energy()
fallen = energy.potential[0] - energy.potential[-1]
print(f"potential energy lost {fallen:.3f} J, friction took {energy.friction[-1]:.3f} J, the scheme itself the rest")

# %%
# What this shows: the loop stays closed, and what friction holds does not move any more.
speed = np.abs(trajectory.joint("motor side").speed)
moving = trajectory.time[speed > 1e-9][-1]
creep = np.ptp(trajectory.joint("motor side").coordinate[trajectory.time > moving + 0.1])
print(f"at rest after {moving:.2f} s, creep since then {creep:.1e} rad")
assert trajectory.certificate.joint_drift.max() < 1e-9
assert moving < 4.5
assert creep < 1e-12
