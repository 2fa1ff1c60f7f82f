"""
A box on a conveyor
===================

Fixed bodies may move as prescribed. A box is put on a belt that runs at 1 m/s: friction pulls it along with the
acceleration ``mu g`` until it has the speed of the belt, and then it rides without slipping.
"""

# %%
# The motion of the belt is a function of time; its velocity follows by differentiation.
import numpy as np
import signorini as sg

belt_speed, mu, g = 1.0, 0.4, 9.81

scene = sg.Scene(gravity=(0, 0, -g))
scene.add_fixed(sg.Box(size=(10, 1, 0.2)), motion=lambda t: (belt_speed * t, 0, -0.1), name="belt")
scene.add_body(sg.Box(size=(0.3, 0.3, 0.1)), density=400, position=(0, 0, 0.05), name="box")
scene.set_contact(friction=mu)

trajectory = sg.simulate(scene, duration=0.6, h=0.005)
speed = trajectory.linear_velocity("box")[:, 0]
trajectory.plot("box")

# %%
# The belt does work on the box; what does not become motion is friction's.
energy = trajectory.energy()
print(
    f"work of the belt {energy.drives[-1]:.4f} J, kinetic {energy.kinetic[-1]:.4f} J, heat {energy.friction[-1]:.4f} J"
)

# %%
# What this shows: the time to catch up, the ride, and that half of the belt's work is lost, whatever mu is.
caught = trajectory.time[np.argmax(speed > belt_speed - 1e-9)]
assert abs(caught - belt_speed / (mu * g)) <= 0.005
assert abs(speed[-1] - belt_speed) < 1e-9
assert abs(energy.kinetic[-1] / energy.drives[-1] - 0.5) < 0.02
