"""
A box on a slope
================

Coulomb's law says that a box stays on a slope of angle a if ``mu >= tan a``, and otherwise slides down with the
acceleration ``g (sin a - mu cos a)``. Many simulators let it creep. Here the law is solved exactly: nothing creeps.
"""

# %%
# The slope falls by 20 degrees towards +x; the box touches it with one of its faces.
import numpy as np
import signorini as sg

angle, g = np.deg2rad(20.0), 9.81


def slope(mu):
    scene = sg.Scene(gravity=(0, 0, -g))
    scene.add_fixed(sg.HalfSpace(normal=(np.sin(angle), 0, np.cos(angle))), name="slope")
    tilt = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
    centre = 0.1 * np.array([np.sin(angle), 0, np.cos(angle)])
    scene.add_body(sg.Box(size=(0.3, 0.2, 0.2)), density=500, position=centre, orientation=tilt, name="box")
    scene.set_contact(friction=mu)
    return scene


# %%
# Rough slope: mu = 0.5 is more than tan 20° = 0.364. After ten seconds the box has not moved.
resting = sg.simulate(slope(0.5), duration=10.0, h=0.005)
path = resting.position("box")
creep = np.linalg.norm(path[-1] - path[0])
print(f"creep in 10 s: {creep:.1e} m")

# %%
# Smooth slope: mu = 0.3 is less, the box slides.
sliding = sg.simulate(slope(0.3), duration=1.0, h=0.001)
speed = np.linalg.norm(sliding.linear_velocity("box")[-1])
expected = g * (np.sin(angle) - 0.3 * np.cos(angle))
print(f"acceleration {speed:.6f} m/s^2, Coulomb says {expected:.6f} m/s^2")
sliding.plot("box")

# %%
# What this shows:
assert creep < 1e-9
assert abs(speed / expected - 1.0) < 1e-3
