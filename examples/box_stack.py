"""
A stack of ten boxes
====================

Forty contacts, more unknown impulses than equations: many distributions of the load carry the same stack. The
velocities are unique all the same, and the stack stands still.
"""

# %%
# Ten boxes of 10 cm, one on the other.
import numpy as np
import signorini as sg

scene = sg.Scene()
scene.add_fixed(sg.HalfSpace(), name="floor")
for k in range(10):
    scene.add_body(sg.Box(size=(0.1, 0.1, 0.1)), density=600, position=(0, 0, 0.05 + 0.1 * k), name=f"box {k}")
scene.set_contact(friction=0.5)

# %%
# One second of doing nothing, checked in every step; ten digits instead of six, because rest is what is shown.
trajectory = sg.simulate(scene, duration=1.0, h=0.005, tolerance=1e-10)
print(trajectory.report())

# %%
# The floor carries the weight of all ten.
table = trajectory.contacts(-1)
print(table)
on_floor = sum(p for p, pair in zip(table.normal_impulse, table.bodies, strict=True) if pair[0] == "floor")
weight = sum(body.mass for body in scene.bodies.values()) * 9.81

# %%
# What this shows:
drift = max(np.abs(trajectory.position(name) - trajectory.position(name)[0]).max() for name in scene.bodies)
print(f"drift {drift:.1e} m, force on the floor {on_floor / 0.005:.6f} N, weight {weight:.6f} N")
assert drift < 1e-9
assert abs(on_floor / 0.005 / weight - 1.0) < 1e-9
