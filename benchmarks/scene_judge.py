"""What can be said of a run from its poses, velocities and recorded impulses alone, by none of the library's kernels.

Overlap: a direction n proves that two solids overlap by no more than ``h_A(n) + h_B(-n)``, h their support functions in
closed form. The judge looks for the direction that proves least, among normals of faces, crossed edges and the line of
centres, and climbs from the best of them. Momentum: what a free body gains in a step is gravity and the impulses
recorded for it. Energy: from masses, heights and velocities. Joints: anchors as both bodies carry them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.distance_judge import matrix_of
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

import signorini as sg
from signorini._arrays import Array
from signorini.scene import Shape

_CLIMBS = 8
_SEARCH: Any = {"initial_simplex": [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2)], "xatol": 1e-9, "fatol": 1e-12, "maxfev": 400}
_NEGLIGIBLE = 1e-5  # of the thinner body: an overlap that needs no better proof
_MOMENTS = 8  # of a run at which all pairs are looked at


# --- solids ----------------------------------------------------------------------------


@dataclass
class Solid:
    """A convex solid by its support points, in its own frame."""

    shape: Shape
    normals: Array = field(init=False)
    """Directions in which it is flat or extreme."""
    width: float = field(init=False)
    radius: float = field(init=False)

    def __post_init__(self) -> None:
        axes = np.eye(3)
        match self.shape:
            case sg.ConvexHull():
                self.vertices = np.array(self.shape.points)
                self.normals = np.unique(np.round(ConvexHull(self.vertices).equations[:, :3], 9), axis=0)
            case sg.Box():
                self.normals = np.vstack([axes, -axes])
            case sg.HalfSpace():
                self.normals = np.array([self.shape.normal])
                self.width, self.radius = np.inf, np.inf
                return
            case _:
                self.normals = np.vstack([axes, -axes])
        span = [n @ (self.support(n) - self.support(-n)) for n in self.normals]
        self.width = float(min(span))
        self.radius = max(float(np.linalg.norm(self.support(n))) for n in (*np.vstack([axes, -axes]), *self.normals))
        if isinstance(self.shape, sg.ConvexHull | sg.Box | sg.Cylinder | sg.Cone | sg.Superellipsoid):
            self.radius = float(np.linalg.norm([max(self.support(s * n) @ (s * n) for s in (1, -1)) for n in axes]))

    def support(self, m: Array) -> Array:
        """Return the point of the solid that is farthest along m."""
        point: Array = self._support(m)
        return point

    def _support(self, m: Array) -> Any:
        across = np.append(m[:2], 0.0)
        length = float(np.linalg.norm(across))
        rim = across / length if length > 0.0 else np.zeros(3)
        up = np.array([0.0, 0.0, 1.0 if m[2] >= 0.0 else -1.0])
        unit = m / np.linalg.norm(m)
        match self.shape:
            case sg.Sphere():
                return self.shape.radius * unit
            case sg.Capsule():
                return self.shape.radius * unit + 0.5 * self.shape.length * up
            case sg.Box():
                return 0.5 * np.where(m >= 0.0, 1.0, -1.0) * np.array(self.shape.size)
            case sg.ConvexHull():
                return self.vertices[int(np.argmax(self.vertices @ m))]
            case sg.Cylinder():
                return self.shape.radius * rim + 0.5 * self.shape.length * up
            case sg.Cone():
                tip = np.array([0.0, 0.0, 0.75 * self.shape.height])
                base = self.shape.radius * rim - np.array([0.0, 0.0, 0.25 * self.shape.height])
                return tip if tip @ m >= base @ m else base
            case sg.Ellipsoid():
                a = np.array(self.shape.semi_axes)
                return a * a * m / np.linalg.norm(a * m)
            case sg.Superellipsoid():
                a, p = np.array(self.shape.semi_axes), self.shape.exponent
                w = np.abs(a * m) ** (1.0 / (p - 1.0))
                return a * np.sign(m) * w / np.linalg.norm(w, p)
        raise NotImplementedError(self.shape)


def overlap(a: Solid, pose_a: Array, b: Solid, pose_b: Array) -> float:
    """Return by how much two solids overlap at most [m], as far as a direction was found to prove it; 0 if apart."""
    R_a, R_b = matrix_of(pose_a), matrix_of(pose_b)
    if isinstance(a.shape, sg.HalfSpace):
        n = R_a @ a.normals[0]
        lowest = pose_b[:3] + R_b @ b.support(-(n @ R_b))
        return max(0.0, float(a.shape.offset - n @ (lowest - pose_a[:3])))
    apart = pose_b[:3] - pose_a[:3]

    def across(n: Array) -> Array:
        """From the point of A farthest along n to that of B farthest against it: the gap is ``n .`` this."""
        return apart + R_b @ b.support(-(n @ R_b)) - R_a @ a.support(n @ R_a)

    def depth(y: Array, n: Array, t: Array, o: Array) -> float:
        m = n + y[0] * t + y[1] * o
        return -float(m @ across(m)) / float(np.linalg.norm(m))

    starts = [
        apart / max(float(np.linalg.norm(apart)), 1e-300),
        *(R_a @ n for n in a.normals),
        *(-R_b @ n for n in b.normals),
    ]
    starts += [sign * e for k in R_a.T for l in R_b.T if (e := _unit(np.cross(k, l))) is not None for sign in (1, -1)]
    gaps = [float(n @ across(n)) for n in starts]
    best = max(gaps)
    negligible = -_NEGLIGIBLE * min(a.width, b.width)
    for k in np.argsort(gaps)[::-1][:_CLIMBS]:
        if best >= negligible:
            break
        n = starts[k]
        t, o = np.linalg.svd(n[None])[2][1:]  # directions near n by two numbers, since gaps have ridges

        found = minimize(depth, np.zeros(2), args=(n, t, o), method="Nelder-Mead", options=_SEARCH)
        best = max(best, -float(found.fun))
    return max(0.0, -best)


def _unit(v: Array) -> Array | None:
    length = float(np.linalg.norm(v))
    return v / length if length > 1e-6 else None


# --- the run ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgement:
    """What the judge found."""

    overlap: float
    """Deepest, relative to the thinner body."""
    momentum: float
    """Largest momentum that nothing explains, relative to that at play."""
    energy_gain: float
    """Largest rise of the energy, relative to that at play; nan where drives or springs do work."""
    joint_gap: float
    """Largest distance of anchors that should coincide, relative to that from the mass centre."""
    finite: bool


def judge(scene: sg.Scene, trajectory: sg.Trajectory, rng: np.random.Generator) -> Judgement:
    """Look at a run."""
    if not (np.isfinite(trajectory.q).all() and np.isfinite(trajectory.v).all()):
        return Judgement(np.nan, np.nan, np.nan, np.nan, finite=False)
    return Judgement(
        _deepest(scene, trajectory, rng),
        _momentum(scene, trajectory),
        _energy_gain(scene, trajectory),
        _joint_gap(scene, trajectory),
        finite=True,
    )


def _deepest(scene: sg.Scene, trajectory: sg.Trajectory, rng: np.random.Generator) -> float:
    """Return the deepest overlap at some moments, among them the one of which the certificate thinks worst."""
    every: dict[str, Any] = {**scene.fixed, **scene.bodies}
    solids = {name: Solid(body.shapes[0].shape) for name, body in every.items()}
    names = list(trajectory.names)
    poses = {
        n: np.hstack([trajectory.position(n, spatial=True), trajectory.orientation(n, spatial=True)]) for n in names
    }
    joined = {frozenset((j.body_a, j.body_b)) for j in scene.joints.values() if j.kind not in ("distance", "spring")}
    joined |= {frozenset(pair) for pair in scene.excluded}
    share = trajectory.certificate.overlap / trajectory.certificate.overlap_extent
    worst = int(np.argmax(share)) if share.size else 0
    last = trajectory.step_count
    moments = {0, last, worst, min(worst + 1, last), *(int(l) for l in rng.integers(0, last + 1, _MOMENTS))}
    deepest = 0.0
    for l in moments:
        x = np.array([poses[n][l, :3] for n in names])
        for i, one in enumerate(names):
            for j in range(max(i + 1, trajectory.fixed_count), len(names)):
                other = names[j]
                a, b = solids[one], solids[other]
                if np.linalg.norm(x[i] - x[j]) > a.radius + b.radius or frozenset((one, other)) in joined:
                    continue
                depth = overlap(a, poses[one][l], b, poses[other][l])
                deepest = max(deepest, depth / min(a.width, b.width))
    return deepest


def _momentum(scene: sg.Scene, trajectory: sg.Trajectory) -> float:
    """Return the worst step of the worst body without joints: m dv = m g h + impulses of its contacts."""
    held = {name for j in scene.joints.values() for name in (j.body_a, j.body_b)}
    h, worst, log = np.diff(trajectory.time)[:, None], 0.0, trajectory.contact_log
    step_of = np.repeat(np.arange(trajectory.step_count), np.diff(log.start))
    for name, body in scene.bodies.items():
        if name in held:
            continue
        number = trajectory.names.index(name)
        impulse = log.body_impulse(number, trajectory.step_count)
        touched = (log.body_a == number) | (log.body_b == number)
        pushed = np.bincount(step_of[touched], np.linalg.norm(log.impulse[touched], axis=1), trajectory.step_count)
        p = body.mass * trajectory.linear_velocity(name)
        unexplained = np.linalg.norm(np.diff(p, axis=0) - body.mass * scene.gravity * h - impulse, axis=1)
        scale = np.maximum(np.linalg.norm(p[1:], axis=1), np.linalg.norm(p[:-1], axis=1))
        scale += pushed + body.mass * np.linalg.norm(scene.gravity) * h[:, 0]
        worst = max(worst, float((unexplained / np.maximum(scale, 1e-300)).max(initial=0.0)))
    return worst


def _energy_gain(scene: sg.Scene, trajectory: sg.Trajectory) -> float:
    """Return the largest rise of kinetic and potential energy between any two moments.

    Velocities are those by which bodies went from one place to the next, so they belong to the middle of the step, and
    so does the potential energy that is added: else a body that falls freely would lose ``m g v h / 2``, and a pendulum
    get it back when it rises.
    """
    drives = any(fixed.motion is not None for fixed in scene.fixed.values())
    if drives or any(j.motion is not None or j.stiffness > 0.0 for j in scene.joints.values()):
        return float("nan")
    kinetic, potential, falling = (np.zeros(trajectory.time.size) for _ in range(3))
    for name, body in scene.bodies.items():
        v, omega = trajectory.linear_velocity(name), trajectory.angular_velocity(name)
        turned = np.array(
            [w @ matrix_of(np.append(np.zeros(3), e)) for w, e in zip(omega, trajectory.orientation(name), strict=True)]
        )
        kinetic += 0.5 * body.mass * (v * v).sum(axis=1) + 0.5 * np.einsum("li,ij,lj->l", turned, body.inertia, turned)
        potential -= body.mass * trajectory.centre(name) @ scene.gravity
        falling += body.mass * v @ scene.gravity
    before = potential[0] + (trajectory.time[1] - trajectory.time[0]) * falling[0]
    energy = kinetic + 0.5 * (potential + np.append(before, potential[:-1]))
    rise = float((energy - np.minimum.accumulate(energy)).max())
    # At rest the energy at play is what lifts every body by a thousandth of its width.
    widths = [body.mass * Solid(body.shapes[0].shape).width for body in scene.bodies.values()]
    lift = 1e-3 * float(np.linalg.norm(scene.gravity)) * float(np.sum(widths))
    return rise / max(float(kinetic.max()), float(np.ptp(potential)), lift, 1e-300)


def _joint_gap(scene: sg.Scene, trajectory: sg.Trajectory) -> float:
    """Return how far anchors of pins, balls and welds come apart, beside their distance from the mass centres."""
    worst = 0.0
    for joint in scene.joints.values():
        if joint.kind not in ("fixed", "revolute", "spherical", "universal"):
            continue
        anchor, paths, lever = joint.anchor[0], [], np.inf
        for name in (joint.body_a, joint.body_b):
            if name is None:
                paths.append(np.tile(anchor, (trajectory.time.size, 1)))
                continue
            x, turns = (
                trajectory.position(name),
                [matrix_of(np.append(np.zeros(3), e)) for e in trajectory.orientation(name)],
            )
            local = (anchor - x[0]) @ turns[0]
            paths.append(np.array([y + R @ local for y, R in zip(x, turns, strict=True)]))
            body: Any = {**scene.fixed, **scene.bodies}[name]
            if name in scene.bodies:
                lever = min(lever, float(np.linalg.norm(local)) + Solid(body.shapes[0].shape).width)
        worst = max(worst, float(np.linalg.norm(paths[0] - paths[1], axis=1).max()) / lever)
    return worst
