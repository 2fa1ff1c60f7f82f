"""
Newton's cradle
===============

Five balls in a row, the first strikes the others at 1 m/s, nothing is lost (e = 1). What happens depends on whether the
balls touch: an impact of rigid bodies that all touch is one impact, and neither Newton's nor Poisson's law lets only
the last ball leave it. With gaps there are four impacts, one after the other, and it does.
"""

# %%
# The gap is either zero or wider than a ball flies in a step.
import matplotlib.pyplot as plt
import numpy as np
import signorini as sg


def cradle(gap: float, law: str) -> sg.Trajectory:
    """Return the motion of five balls of 10 cm."""
    scene = sg.Scene(gravity=(0, 0, 0))
    for k in range(5):
        position, speed = ((0.1 + gap) * k, 0, 0), 1.0 if k == 0 else 0.0
        if k == 0:
            position = (-0.0195, 0, 0)
        scene.add_body(sg.Sphere(0.05), mass=1.0, position=position, velocity=(speed, 0, 0), name=f"ball {k}")
    scene.set_contact(friction=0.0, restitution=1.0)
    formulation = sg.MoreauJean(restitution_law=law)
    return sg.simulate(scene, duration=0.06, h=1e-3, formulation=formulation, tolerance=1e-10)


# %%
# Both laws agree here; where a support gives back what it took they do not, see the page on impacts.
speeds = {}
figure, panels = plt.subplots(1, 2, sharey=True, figsize=(9, 3.5))
for panel, gap in zip(panels, (0.0, 2.5e-3), strict=True):
    for law, line in (("newton", "-"), ("poisson", ":")):
        run = cradle(gap, law)
        for k in range(5):
            panel.plot(run.time, run.position(f"ball {k}")[:, 0], line, color=f"C{k}")
        speeds[gap, law] = np.array([run.linear_velocity(f"ball {k}")[-1, 0] for k in range(5)])
        energy = run.energy().kinetic
        print(
            f"gap {1e3 * gap:.1f} mm, {law}: {speeds[gap, law].round(3)}, energy {energy[0]:.4f} -> {energy[-1]:.4f} J"
        )
    panel.set(title="touching" if gap == 0.0 else "with gaps", xlabel="t [s]", ylabel="x [m]")
figure.tight_layout()

# %%
# What this shows: momentum and energy alone do not decide; the row of impacts does.
for law in ("newton", "poisson"):
    assert np.abs(speeds[0.0, law] - [-0.6, 0.4, 0.4, 0.4, 0.4]).max() < 1e-8
    assert np.abs(speeds[2.5e-3, law] - [0, 0, 0, 0, 1]).max() < 1e-8
assert all(abs(v.sum() - 1.0) < 1e-9 and abs((v**2).sum() - 1.0) < 1e-8 for v in speeds.values())
