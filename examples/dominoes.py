"""
Dominoes in the plane
=====================

A planar scene lives in the x-y plane: positions are 2-vectors, orientations angles. It is simulated by the same code as
a spatial one, with one tangent instead of two.
"""

# %%
# Eight dominoes; the first one has begun to turn about its lower right corner.
import numpy as np
import signorini as sg

scene = sg.Scene(planar=True)
scene.add_fixed(sg.HalfSpace(normal=(0, 1)), name="table")
corners = [(-0.006, -0.025), (0.006, -0.025), (0.006, 0.025), (-0.006, 0.025)]
for k in range(8):
    scene.add_body(
        sg.Polygon(corners),
        density=15.0,
        position=(0.03 * k, 0.025),
        velocity=(0.15, 0.036) if k == 0 else (0, 0),
        angular_velocity=-6.0 if k == 0 else 0.0,
        name=f"domino {k}",
    )
scene.set_contact(friction=0.4)

# %%
# Collisions are inelastic here; the steps are short because dominoes are.
trajectory = sg.simulate(scene, duration=0.8, h=0.001)
print(trajectory.report())
trajectory.plot()

# %%
# When did each of them lean by 20 degrees?
lean = np.array([np.abs(trajectory.orientation(f"domino {k}")) for k in range(8)])
times = [float(trajectory.time[np.argmax(row > np.deg2rad(20))]) for row in lean]
print("fell at", times)

# %%
# What this shows: all have fallen, one after the other.
assert (lean[:, -1] > np.deg2rad(20)).all()
assert times == sorted(times)
