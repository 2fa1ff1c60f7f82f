"""Drake; ``pip install drake``.

Point contact gives one point per pair, so boxes and hulls press by hydroelastic contact, and the hidden planes are
rigid half spaces.
"""

from __future__ import annotations

import time
from importlib.metadata import version as version_of
from typing import Any

import numpy as np
import pydrake.all as drake
from benchmarks.peers.engine import Impulses
from benchmarks.peers.scenes import CHAIN_LINK, Body, Motion, Part, PeerScene

STIFFNESS = 1e6  # N/m, of points
MODULUS = 1e8  # Pa, of pressure fields
DISSIPATION = 1.0  # s/m


def version() -> str:
    return version_of("drake")


def make(scene: PeerScene, *, approximation: str = "lagged") -> Drake:
    return Drake(scene, approximation)


class Drake:
    """Plant and simulator."""

    def __init__(self, scene: PeerScene, approximation: str) -> None:
        self.h = scene.h
        self.mu = scene.mu
        self.chain = scene.chain
        self.pressed = any(part.kind != "sphere" for body in scene.bodies for part in body.parts)
        builder = drake.DiagramBuilder()
        config = drake.MultibodyPlantConfig(
            time_step=scene.h,
            discrete_contact_approximation=approximation,
            contact_model="hydroelastic_with_fallback" if self.pressed else "point",
        )
        self.plant, _ = drake.AddMultibodyPlant(config, builder)
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(scene.gravity))
        for i, (point, normal) in enumerate(scene.planes):
            pose = drake.HalfSpace.MakePose(np.array(normal), np.array(point))
            self.plant.RegisterCollisionGeometry(
                self.plant.world_body(), pose, drake.HalfSpace(), f"plane{i}", self._material(None)
            )
        self.bodies = [self._add(i, body) for i, body in enumerate(scene.bodies)]
        if scene.chain:
            self._hinge()
        self.plant.Finalize()
        self.simulator = drake.Simulator(builder.Build())
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        if not scene.chain:
            for body, own in zip(scene.bodies, self.bodies, strict=True):
                turn = drake.Quaternion(np.array(body.quaternion) / np.linalg.norm(body.quaternion))
                pose = drake.RigidTransform(turn, np.array(body.position))
                self.plant.SetFreeBodyPose(self.context, own, pose)
                speed = drake.SpatialVelocity(np.array(body.spin), np.array(body.velocity))
                self.plant.SetFreeBodySpatialVelocity(self.context, own, speed)
        self.simulator.Initialize()
        self.taken = 0

    def _material(self, size: float | None) -> Any:
        """Return contact properties; `size` is that of a soft body, None a rigid half space."""
        out = drake.ProximityProperties()
        friction = drake.CoulombFriction(self.mu, self.mu)
        drake.AddContactMaterial(dissipation=DISSIPATION, point_stiffness=STIFFNESS, friction=friction, properties=out)
        if self.pressed and size is None:
            drake.AddRigidHydroelasticProperties(out)
        elif self.pressed:
            drake.AddCompliantHydroelasticProperties(size, MODULUS, out)
        return out

    def _add(self, number: int, body: Body) -> Any:
        centre = np.array([CHAIN_LINK / 2, 0.0, 0.0]) if self.chain else np.zeros(3)
        unit = drake.UnitInertia(*[moment / body.mass for moment in body.inertia])
        inertia = drake.SpatialInertia(body.mass, centre, unit.ShiftFromCenterOfMass(centre))
        own = self.plant.AddRigidBody(f"body{number}", inertia)
        for k, part in enumerate(body.parts):
            pose = drake.RigidTransform(np.array(part.offset))
            size = part.size[0] if part.size else float(np.abs(part.corners).max())
            name = f"part{number}_{k}"
            self.plant.RegisterCollisionGeometry(own, pose, _shape(part), name, self._material(size))
        return own

    def _hinge(self) -> None:
        parent = self.plant.world_body().body_frame()
        for i, own in enumerate(self.bodies):
            joint = drake.RevoluteJoint(f"joint{i}", parent, own.body_frame(), np.array([0.0, 1.0, 0.0]))
            self.plant.AddJoint(joint)
            end = drake.FixedOffsetFrame(f"end{i}", own, drake.RigidTransform(np.array([CHAIN_LINK, 0.0, 0.0])))
            parent = self.plant.AddFrame(end)

    def step(self, count: int) -> float:
        began = time.process_time()
        for _ in range(count):
            self.taken += 1
            self.simulator.AdvanceTo(self.taken * self.h)
        return time.process_time() - began

    def state(self) -> Motion:
        if self.chain:
            return self._links()
        q = self.plant.GetPositions(self.context).reshape(-1, 7)
        v = self.plant.GetVelocities(self.context).reshape(-1, 6)
        return Motion(q[:, 4:].copy(), q[:, :4].copy(), np.hstack([v[:, 3:], v[:, :3]]))

    def _links(self) -> Motion:
        x, turn, v = [], [], []
        for own in self.bodies:
            pose = self.plant.EvalBodyPoseInWorld(self.context, own)
            twist = self.plant.EvalBodySpatialVelocityInWorld(self.context, own)
            arm = pose.rotation().matrix() @ np.array([CHAIN_LINK / 2, 0.0, 0.0])
            x.append(pose.translation() + arm)
            turn.append(pose.rotation().ToQuaternion().wxyz())
            v.append([*(twist.translational() + np.cross(twist.rotational(), arm)), *twist.rotational()])
        return Motion(np.array(x), np.array(turn), np.array(v))

    def contact_count(self) -> int:
        found = self.plant.get_contact_results_output_port().Eval(self.context)
        surfaces = [found.hydroelastic_contact_info(i) for i in range(found.num_hydroelastic_contacts())]
        faces = sum(surface.contact_surface().num_faces() for surface in surfaces)
        return int(found.num_point_pair_contacts() + faces)

    def impulses(self) -> Impulses | None:
        return None

    def close(self) -> None:
        pass


def _shape(part: Part) -> Any:
    if part.kind == "sphere":
        return drake.Sphere(part.size[0])
    if part.kind == "box":
        return drake.Box(*[2 * a for a in part.size])
    return drake.Convex(points=np.array(part.corners).T, label="hull")
