"""DART; ``pip install dartpy``.

Bodies sleep and contacts end at 1000 unless told otherwise; of its detectors ODE's gives full manifolds of boxes.
"""

from __future__ import annotations

import time
from typing import Any

import dartpy as dart
import numpy as np
from benchmarks.peers.engine import Impulses, NotPossible
from benchmarks.peers.scenes import CHAIN_LINK, Body, Motion, PeerScene, rotations

MOST_BODIES = 130  # its LCP is dense


def version() -> str:
    return str(dart.__version__)


def make(scene: PeerScene, *, solver: str = "dantzig") -> Dart:
    if any(part.kind == "hull" for body in scene.bodies for part in body.parts):
        raise NotPossible("no convex hulls with the detector that gives full manifolds")
    if len(scene.bodies) > MOST_BODIES and not scene.chain:
        raise NotPossible("the LCP of a large pile is dense: minutes per step")
    return Dart(scene, solver)


def _placed(turn: Any, place: Any) -> Any:
    out = dart.math.Isometry3()
    out.set_rotation(np.asarray(turn, dtype=float))
    out.set_translation(np.asarray(place, dtype=float))
    return out


class Dart:
    """A world."""

    def __init__(self, scene: PeerScene, solver: str) -> None:
        self.world = world = dart.simulation.World()
        world.setTimeStep(scene.h)
        world.setGravity(np.array(scene.gravity))
        world.setCollisionDetector(dart.simulation.CollisionDetectorType.ODE)
        sleeping = world.getDeactivationOptions()
        sleeping.mEnabled = False
        world.setDeactivationOptions(sleeping)
        constraints = world.getConstraintSolver()
        constraints.getCollisionOption().maxNumContacts = 1_000_000
        self.kept: list[Any] = [constraints]
        if solver == "nsgs":
            options = dart.constraint.NsgsFrictionSolver.Options()
            options.tolerance, options.maxSweeps = 1e-8, 1000
            self.kept.append(dart.constraint.NsgsFrictionSolver(options))
            constraints.setBoxedLcpSolver(self.kept[-1])
        self.mu = scene.mu
        self.nodes: list[Any] = []
        if scene.chain:
            self._add_chain(scene)
            return
        for i, (point, normal) in enumerate(scene.planes):
            skeleton = dart.dynamics.Skeleton(f"plane{i}")
            _, node = skeleton.createWeldJointAndBodyNodePair()
            plane = dart.dynamics.PlaneShape(np.array(normal), float(np.dot(normal, point)))
            self._touching(node.createShapeNode(plane))
            self._keep(skeleton)
        for i, body in enumerate(scene.bodies):
            self._add(i, body)

    def _touching(self, shape: Any) -> None:
        shape.createCollisionAspect()
        aspect = shape.createDynamicsAspect()
        aspect.setFrictionCoeff(self.mu)
        aspect.setRestitutionCoeff(0.0)

    def _keep(self, skeleton: Any) -> None:
        self.world.addSkeleton(skeleton)
        self.kept.append(skeleton)

    def _add(self, number: int, body: Body) -> None:
        skeleton = dart.dynamics.Skeleton(f"body{number}")
        joint, node = skeleton.createFreeJointAndBodyNodePair()
        for part in body.parts:
            if part.kind == "sphere":
                shape = node.createShapeNode(dart.dynamics.SphereShape(part.size[0]))
            else:
                shape = node.createShapeNode(dart.dynamics.BoxShape(2 * np.array(part.size)))
            if any(part.offset):
                shape.setRelativeTransform(_placed(np.eye(3), part.offset))
            self._touching(shape)
        node.setInertia(dart.dynamics.Inertia(body.mass, np.zeros(3), np.diag(body.inertia)))
        self._keep(skeleton)
        joint.setTransform(_placed(rotations(body.quaternion), body.position))
        joint.setLinearVelocity(np.array(body.velocity))
        joint.setAngularVelocity(np.array(body.spin))
        self.nodes.append(node)

    def _add_chain(self, scene: PeerScene) -> None:
        skeleton = dart.dynamics.Skeleton("chain")
        for i, body in enumerate(scene.bodies):
            joint, node = skeleton.createRevoluteJointAndBodyNodePair(*self.nodes[-1:])
            joint.setAxis(np.array([0.0, 1.0, 0.0]))
            if i:
                joint.setTransformFromParentBodyNode(_placed(np.eye(3), (CHAIN_LINK, 0.0, 0.0)))
            centre = np.array([CHAIN_LINK / 2, 0.0, 0.0])
            node.setInertia(dart.dynamics.Inertia(body.mass, centre, np.diag(body.inertia)))
            self.nodes.append(node)
        self._keep(skeleton)

    def step(self, count: int) -> float:
        step = self.world.step
        began = time.process_time()
        for _ in range(count):
            step()
        return time.process_time() - began

    def state(self) -> Motion:
        turns = [quaternion_of(node.getWorldTransform().rotation()) for node in self.nodes]
        v = [[*node.getCOMLinearVelocity(), *node.getAngularVelocity()] for node in self.nodes]
        return Motion(np.array([node.getCOM() for node in self.nodes]), np.array(turns), np.array(v))

    def contact_count(self) -> int:
        return int(self.world.getLastCollisionResult().getNumContacts())

    def impulses(self) -> Impulses | None:
        return None

    def close(self) -> None:
        pass


def quaternion_of(R: Any) -> Any:
    """Return (w, x, y, z) of a rotation matrix, by the largest of its components."""
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    four = np.array(
        [
            [1 + xx + yy + zz, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], 1 + xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 - xx + yy - zz, R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1 - xx - yy + zz],
        ]
    )
    row = four[int(np.diag(four).argmax())]
    return row / np.linalg.norm(row)
