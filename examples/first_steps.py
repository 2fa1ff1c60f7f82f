"""
First steps
===========

A ball on a floor, in ten lines: describe the scene, simulate it, read the result, and see whether it can be trusted.
"""

# %%
# A scene is a list of bodies. Units are SI, z points up.
import signorini as sg

scene = sg.Scene(gravity=(0, 0, -9.81))
scene.add_fixed(sg.HalfSpace(), name="floor")
scene.add_body(sg.Sphere(radius=1.0), mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0), name="ball")
scene.set_contact(friction=0.2)

# %%
# One call makes the trajectory. Everything is read by the names that were given above.
trajectory = sg.simulate(scene, duration=0.6, h=0.12)
print(trajectory.linear_velocity("ball"))

# %%
# Every step carries a certificate: how well the contact law is satisfied, whether bodies overlap, whether energy is
# accounted for. It is recomputed from the problem, never taken from the solver.
print(trajectory.report())
trajectory.plot("ball")

# %%
# The ball ends up rolling at 5/7 of its first speed.
assert abs(trajectory.linear_velocity("ball")[-1, 0] - 5.0 / 7.0 * 2.0) < 1e-9
