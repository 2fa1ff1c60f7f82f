"""
A sphere slides, then rolls
===========================

The example of S1 (Trinkle 2003, section 4), and what a friction polygon does to it. Released at 2 m/s without spin, the
sphere slides until ``t = 2 v_0 / (7 mu g)`` = 0.291 s and then rolls at 10/7 m/s.
"""

# %%
# The same scene for all formulations.
import numpy as np
import signorini as sg

scene = sg.Scene(gravity=(0, 0, -9.81))
scene.add_fixed(sg.HalfSpace(), name="plane")
scene.add_body(sg.Sphere(radius=1.0), mass=1.0, position=(0, 0, 1), velocity=(2, 0, 0), name="sphere")
scene.set_contact(friction=0.2)


def velocity_error(formulation):
    trajectory = sg.simulate(scene, duration=0.6, h=0.01, formulation=formulation)
    exact = np.maximum(2.0 - 0.2 * 9.81 * trajectory.time, 10.0 / 7.0)
    return np.abs(trajectory.linear_velocity("sphere")[:, 0] - exact).max()


# %%
# A polygon with a direction along the slip makes no error. Turned by half a sector it loses friction, and no smaller
# step cures that. The exact cone, the default, knows no directions.
errors = {
    "polygon of 4, aligned": velocity_error(sg.StewartTrinkle(directions=4)),
    "polygon of 4, turned by 45°": velocity_error(sg.StewartTrinkle(directions=4, rotation=np.pi / 4)),
    "polygon of 8, turned by 22.5°": velocity_error(sg.StewartTrinkle(directions=8, rotation=np.pi / 8)),
    "exact cone": velocity_error(sg.MoreauJean()),
}
for name, error in errors.items():
    print(f"{name:<32}{error:.1e} m/s")

# %%
# What this shows:
assert errors["polygon of 4, aligned"] < 1e-12
assert errors["polygon of 4, turned by 45°"] > 0.16
assert errors["exact cone"] < 1e-9
