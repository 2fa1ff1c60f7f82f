"""signorini, step by step from Python or many steps in one call."""

from __future__ import annotations

import time

import numpy as np
from benchmarks.peers.engine import Impulses
from benchmarks.peers.scenes import Body, Motion, Part, PeerScene

import signorini as sg
from signorini.formulations import StepResult
from signorini.math.rotation import tangent_frame
from signorini.scene.shape import PlacedShape, Shape
from signorini.simulation.certificate import from_checks


def version() -> str:
    return sg.__version__


def make(scene: PeerScene, *, call: str = "advance") -> Ours:
    return Ours(scene, call)


def shape_of(part: Part) -> Shape | PlacedShape:
    """Return our shape for a part of a body."""
    shape: Shape
    if part.kind == "sphere":
        shape = sg.Sphere(radius=part.size[0])
    elif part.kind == "box":
        shape = sg.Box(size=tuple(2 * a for a in part.size))
    elif part.kind == "capsule":
        shape = sg.Capsule(radius=part.size[0], length=2 * part.size[1])
    elif part.kind == "cylinder":
        shape = sg.Cylinder(radius=part.size[0], length=2 * part.size[1])
    elif part.kind == "ellipsoid":
        shape = sg.Ellipsoid(semi_axes=part.size)
    else:
        shape = sg.ConvexHull(points=part.corners)
    return shape.at(position=part.offset) if any(part.offset) else shape


def build(scene: PeerScene) -> sg.Scene:
    """Return our scene; bodies without shapes are thin links of a chain."""
    out = sg.Scene(gravity=scene.gravity)
    for point, normal in scene.planes:
        out.add_fixed(sg.HalfSpace(normal=normal, offset=float(np.dot(normal, point))))
    bodies = [_add(out, body) for body in scene.bodies]
    if scene.chain:
        ends = [None, *bodies]
        for a, b in zip(ends, bodies, strict=False):
            out.add_joint("revolute", a, b, anchor=_near_end(scene, b), axis=(0, 1, 0))
            for other in bodies:
                if other is not b:
                    out.exclude(b, other)
    out.set_contact(friction=scene.mu)
    return out


def _near_end(scene: PeerScene, body: sg.Body) -> tuple[float, float, float]:
    x, y, z = body.position
    return (float(x - scene.size / 2), float(y), float(z))


def _add(scene: sg.Scene, body: Body) -> sg.Body:
    shapes = [shape_of(part) for part in body.parts] or [sg.Sphere(radius=1e-3)]
    return scene.add_body(
        shapes,
        mass=body.mass,
        inertia=body.inertia,
        mass_centre=(0.0, 0.0, 0.0),
        position=body.position,
        orientation=body.quaternion,
        velocity=body.velocity,
        angular_velocity=body.spin,
    )


class Ours:
    """A :class:`~signorini.Simulator`.

    `call` tells what a step from Python is: ``advance`` moves on, as other engines do; ``report`` also returns contacts
    and certificate; ``run`` takes all steps in one call.
    """

    def __init__(self, scene: PeerScene, call: str) -> None:
        self.call = call
        self._begin(scene)
        self.step(1)  # compiles or loads the kernels
        self._begin(scene)

    def _begin(self, scene: PeerScene) -> None:
        self.simulator = sg.Simulator(build(scene), h=scene.h, tolerance=scene.tolerance)
        self.unsolved, self.residual, self.compliance = 0, 0.0, 0.0

    def step(self, count: int) -> float:
        simulator = self.simulator
        began = time.process_time()
        if self.call == "run":
            self.unsolved += simulator.run(count)
        elif self.call == "advance":
            for _ in range(count):
                self.unsolved += simulator.run(1)
        else:
            for _ in range(count):
                self.unsolved += simulator.step().status not in (sg.Status.SOLVED, sg.Status.SEVERAL_SOLUTIONS)
        return time.process_time() - began

    def state(self) -> Motion:
        first, state = self.simulator.model.fixed_count, self.simulator.state
        return Motion(state.q[first:, :3].copy(), state.q[first:, 3:].copy(), state.v[first:].copy())

    def is_compliant(self) -> bool:
        """Tell whether the last step was posed with compliance."""
        engine = self.simulator.engine
        return engine is not None and from_checks(self.simulator.model, engine.checks, 0.0).compliance > 0.0

    def _last(self) -> StepResult | None:
        engine = self.simulator.engine
        return None if engine is None else engine.result(self.simulator.model)

    def contact_count(self) -> int:
        last = self._last()
        return 0 if last is None else last.contacts.contact_count

    def impulses(self) -> Impulses | None:
        last = self._last()
        if last is None or self.simulator.engine is None:
            return None
        certificate = from_checks(self.simulator.model, self.simulator.engine.checks, 0.0)
        self.residual = max(self.residual, certificate.residual)
        self.compliance = max(self.compliance, certificate.compliance)
        contacts = last.contacts
        frames = np.array([[n, *tangent_frame(n)] for n in map(tuple, contacts.normal.tolist())])
        world = np.einsum("ci,cij->cj", last.impulse, frames.reshape(-1, 3, 3))
        return Impulses(contacts.body_a, contacts.body_b, 0.5 * (contacts.point_a + contacts.point_b), world)

    def told(self) -> dict[str, float]:
        """Return largest residual and compliance of the judged steps, and how many of all steps were not solved."""
        return {"own_residual": self.residual, "compliance": self.compliance, "unsolved": self.unsolved}

    def close(self) -> None:
        pass
