"""PyBullet; ``pip install pybullet``.

Bullet multiplies the coefficients of two bodies, damps and puts bodies to sleep unless told otherwise, blows hulls up
by a margin of a millimetre, and gives links without a shape no inertia about their mass centre.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pybullet
from benchmarks.peers.engine import Impulses, NotPossible
from benchmarks.peers.scenes import CHAIN_LINK, Motion, Part, PeerScene

MOST_LINKS = 120  # Bullet's own limit is 128


def version() -> str:
    return f"3 (api {pybullet.getAPIVersion()})"


def make(scene: PeerScene, *, sweeps: int = 50) -> PyBullet:
    return PyBullet(scene, sweeps)


def _turn(quaternion: Any) -> list[float]:
    w, x, y, z = quaternion
    return [x, y, z, w]


class PyBullet:
    """A world of its own inside Bullet."""

    def __init__(self, scene: PeerScene, sweeps: int) -> None:
        self.at = {"physicsClientId": pybullet.connect(pybullet.DIRECT)}
        pybullet.setGravity(*scene.gravity, **self.at)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=scene.h, numSolverIterations=sweeps, numSubSteps=1, solverResidualThreshold=0.0, **self.at
        )
        self.h = scene.h
        self.chain = None
        self.bodies: list[int] = []
        if scene.chain:
            self._add_chain(scene)
        else:
            self._add_bodies(scene)

    def _dynamics(self, body: int, mu: float, **more: Any) -> None:
        pybullet.changeDynamics(
            body,
            -1,
            lateralFriction=float(np.sqrt(mu)),
            restitution=0,
            rollingFriction=0,
            spinningFriction=0,
            **more,
            **self.at,
        )

    def _add_bodies(self, scene: PeerScene) -> None:
        for point, normal in scene.planes:
            shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=list(normal), **self.at)
            self._dynamics(pybullet.createMultiBody(0, shape, basePosition=list(point), **self.at), scene.mu)
        shapes: dict[tuple[Part, ...], int] = {}
        for body in scene.bodies:
            if body.parts not in shapes:
                shapes[body.parts] = self._shape(body.parts)
            number = pybullet.createMultiBody(
                body.mass,
                shapes[body.parts],
                basePosition=list(body.position),
                baseOrientation=_turn(body.quaternion),
                **self.at,
            )
            self._dynamics(
                number,
                scene.mu,
                linearDamping=0,
                angularDamping=0,
                localInertiaDiagonal=list(body.inertia),
                activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            )
            if body.parts[0].kind == "hull":
                pybullet.changeDynamics(number, -1, collisionMargin=0.0, **self.at)
            pybullet.resetBaseVelocity(number, list(body.velocity), list(body.spin), **self.at)
            self.bodies.append(number)

    def _shape(self, parts: tuple[Part, ...]) -> int:
        one = parts[0]
        if len(parts) > 1:
            return int(
                pybullet.createCollisionShapeArray(
                    shapeTypes=[pybullet.GEOM_SPHERE] * len(parts),
                    radii=[part.size[0] for part in parts],
                    collisionFramePositions=[list(part.offset) for part in parts],
                    **self.at,
                )
            )
        words: dict[str, Any] = {
            "sphere": lambda: {"shapeType": pybullet.GEOM_SPHERE, "radius": one.size[0]},
            "box": lambda: {"shapeType": pybullet.GEOM_BOX, "halfExtents": one.size},
            "hull": lambda: {"shapeType": pybullet.GEOM_MESH, "vertices": [list(x) for x in one.corners]},
        }[one.kind]()
        return int(pybullet.createCollisionShape(**words, **self.at))

    def _add_chain(self, scene: PeerScene) -> None:
        n, link = len(scene.bodies), scene.bodies[0]
        if n > MOST_LINKS:
            raise NotPossible("Bullet has at most 128 links in a multibody")
        half = [CHAIN_LINK / 2, 0.01, 0.01]
        middle = [CHAIN_LINK / 2, 0, 0]
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_BOX, halfExtents=half, collisionFramePosition=middle, **self.at
        )
        straight = [[0, 0, 0, 1]] * n
        self.chain = pybullet.createMultiBody(
            0,
            -1,
            basePosition=[0, 0, 0],
            linkMasses=[link.mass] * n,
            linkCollisionShapeIndices=[shape] * n,
            linkVisualShapeIndices=[-1] * n,
            linkPositions=[[0, 0, 0]] + [[CHAIN_LINK, 0, 0]] * (n - 1),
            linkOrientations=straight,
            linkInertialFramePositions=[middle] * n,
            linkInertialFrameOrientations=straight,
            linkParentIndices=list(range(n)),
            linkJointTypes=[pybullet.JOINT_REVOLUTE] * n,
            linkJointAxis=[[0, 1, 0]] * n,
            **self.at,
        )
        for i in range(n):
            pybullet.changeDynamics(
                self.chain,
                i,
                linearDamping=0,
                angularDamping=0,
                jointDamping=0,
                localInertiaDiagonal=list(link.inertia),
                activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
                **self.at,
            )
            pybullet.setJointMotorControl2(self.chain, i, pybullet.VELOCITY_CONTROL, force=0, **self.at)
            self.bodies.append(i)

    def step(self, count: int) -> float:
        step, client = pybullet.stepSimulation, self.at["physicsClientId"]
        began = time.process_time()
        for _ in range(count):
            step(physicsClientId=client)
        return time.process_time() - began

    def state(self) -> Motion:
        if self.chain is not None:
            links = pybullet.getLinkStates(
                self.chain, self.bodies, computeLinkVelocity=1, computeForwardKinematics=1, **self.at
            )
            poses = [link[:2] for link in links]
            speeds = [link[6:8] for link in links]
        else:
            poses = [pybullet.getBasePositionAndOrientation(i, **self.at) for i in self.bodies]
            speeds = [pybullet.getBaseVelocity(i, **self.at) for i in self.bodies]
        return Motion(
            np.array([x for x, _ in poses]),
            np.array([turn for _, turn in poses])[:, [3, 0, 1, 2]],
            np.array([[*v, *w] for v, w in speeds]),
        )

    def contact_count(self) -> int:
        return len(pybullet.getContactPoints(**self.at))

    def impulses(self) -> Impulses:
        rows = []
        for contact in pybullet.getContactPoints(**self.at):  # bodies are numbered as made: planes first
            n, t, o = (np.array(contact[i]) for i in (7, 11, 13))
            world = self.h * (contact[9] * n + contact[10] * t + contact[12] * o)
            rows.append((contact[2], contact[1], np.array(contact[6]), world))
        return Impulses.of(rows)

    def close(self) -> None:
        pybullet.disconnect(**self.at)
