"""Pinocchio; ``pip install pin``.

Pinocchio has contact solvers but no simulator: contacts are ours, the loop is here, and only its own calls are timed.
Free bodies are a translation and a spherical joint; a free flyer would move along a screw and sink while it rolls.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pinocchio as pin
from benchmarks.peers.engine import Impulses, NotPossible
from benchmarks.peers.ours import build
from benchmarks.peers.scenes import CHAIN_LINK, Motion, PeerScene, rotations

from signorini.geometry import detect
from signorini.math.rotation import tangent_frame
from signorini.model import Contacts
from signorini.scene import compile_scene

MOST_BODIES = 20  # its Cholesky factor of a pile with redundant contacts does not fit into memory
TOLERANCE = 1e-9
SWEEPS = 2000


def version() -> str:
    return str(pin.__version__)


def make(scene: PeerScene) -> Pinocchio:
    if len(scene.bodies) > MOST_BODIES:
        raise NotPossible("our loop in Python around it is not meant for so many bodies")
    return Pinocchio(scene)


class Pinocchio:
    """Model, solver and our semi-implicit loop."""

    def __init__(self, scene: PeerScene) -> None:
        self.scene = scene
        self.model = pin.Model()
        self.model.gravity.linear = np.array(scene.gravity)
        self.joints: list[int] = []
        parent = 0
        for i, body in enumerate(scene.bodies):
            if scene.chain:
                at = pin.SE3(np.eye(3), np.array([CHAIN_LINK if i else 0.0, 0.0, 0.0]))
                parent = self.model.addJoint(parent, pin.JointModelRY(), at, f"hinge{i}")
                centre = np.array([CHAIN_LINK / 2, 0.0, 0.0])
            else:
                parent = self.model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), f"place{i}")
                parent = self.model.addJoint(parent, pin.JointModelSpherical(), pin.SE3.Identity(), f"turn{i}")
                centre = np.zeros(3)
            inertia = pin.Inertia(body.mass, centre, np.diag(body.inertia))
            self.model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
            self.joints.append(parent)
        self.data = self.model.createData()
        self.q, self.v = pin.neutral(self.model), np.zeros(self.model.nv)
        self.ours = compile_scene(build(scene))
        if not scene.chain:
            for i, body in enumerate(scene.bodies):
                w, x, y, z = body.quaternion
                self.q[7 * i : 7 * i + 7] = [*body.position, x, y, z, w]
                self.v[6 * i : 6 * i + 6] = [*body.velocity, *(rotations(body.quaternion).T @ body.spin)]
        self.settings = pin.ADMMSolverSettings()
        for word in ("complementarity", "feasibility"):
            setattr(self.settings, f"absolute_{word}_tol", TOLERANCE)
            setattr(self.settings, f"relative_{word}_tol", TOLERANCE)
        self.settings.max_iterations = SWEEPS
        self.solver = pin.ADMMConstraintSolver()
        self.guess: dict[int, Any] = {}
        self.count = 0

    def step(self, count: int) -> float:
        seconds = 0.0
        for _ in range(count):
            contacts = self._contacts() if not self.scene.chain else Contacts.none()
            began = time.process_time()
            h, nothing = self.scene.h, np.zeros(self.model.nv)
            v = self.v + h * pin.aba(self.model, self.data, self.q, self.v, nothing)
            if contacts.contact_count:
                v = self._with_contacts(v, contacts)
            self.v = v
            self.q = pin.integrate(self.model, self.q, h * v)
            seconds += time.process_time() - began
            self.count = contacts.contact_count
        return seconds

    def _contacts(self) -> Contacts:
        first, motion, h = self.ours.fixed_count, self.state(), self.scene.h
        state = self.ours.initial_state.copy()
        state.q[first:, :3], state.q[first:, 3:] = motion.position, motion.quaternion
        speed = np.zeros(self.ours.body_count)
        bound = self.ours.arrays.bound[first:]
        speed[first:] = np.linalg.norm(motion.velocity[:, :3], axis=1)
        speed[first:] += bound * np.linalg.norm(motion.velocity[:, 3:], axis=1) + 10.0 * h
        return detect(self.ours, state, 1.25 * h * speed)

    def _with_contacts(self, v_free: Any, contacts: Contacts) -> Any:
        """Return velocities after the contact impulses."""
        model, data, first = self.model, self.data, self.ours.fixed_count
        pin.crba(model, data, self.q)
        pin.computeJointJacobians(model, data, self.q)
        pin.computeMinverse(model, data, self.q)
        models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for c in range(contacts.contact_count):
            n = tuple(contacts.normal[c])
            frame = pin.SE3(np.column_stack([*tangent_frame(n), n]), contacts.point_b[c])
            a, b = contacts.body_a[c], self.joints[contacts.body_b[c] - first]
            one = 0 if a < first else self.joints[a - first]
            point = pin.PointContactConstraintModel(
                model, one, data.oMi[one].actInv(frame), b, data.oMi[b].actInv(frame)
            )
            point.setFriction(float(self.scene.mu))
            models.append(pin.ConstraintModel(point))
            datas.append(models[-1].createData())
            models[-1].calc(model, data, datas[-1])
        cholesky = pin.ConstraintCholeskyDecomposition(model, data, models, datas)
        cholesky.compute(model, data, models, datas, 1e-14)
        J = pin.getConstraintsJacobian(model, data, models, datas)
        body = 6 * (contacts.body_b[0] - first)
        sign = 1.0 if J[2, body : body + 3] @ contacts.normal[0] > 0.0 else -1.0  # which body comes first
        u = sign * (J @ v_free)
        u[2::3] += np.maximum(contacts.gap, 0.0) / self.scene.h
        result = pin.ADMMSolverResult()
        keys = contacts.feature.tolist()
        if self.guess:
            guess = np.concatenate([self.guess.get(key, np.zeros(3)) for key in keys])
            result.setConstraintImpulseGuess(guess)
        self.solver.solve(cholesky.getDelassusCholeskyExpression(), u, models, datas, self.settings, result)
        p = np.array(result.retrieveConstraintImpulses()).ravel()
        self.guess = dict(zip(keys, p.reshape(-1, 3), strict=True))
        M_inv = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        return v_free + M_inv @ (J.T @ (sign * p))

    def state(self) -> Motion:
        if self.scene.chain:
            return self._links()
        q, v = self.q.reshape(-1, 7), self.v.reshape(-1, 6).copy()
        turn = q[:, [6, 3, 4, 5]].copy()
        v[:, 3:] = np.einsum("nij,nj->ni", rotations(turn), v[:, 3:])
        return Motion(q[:, :3].copy(), turn, v)

    def _links(self) -> Motion:
        pin.forwardKinematics(self.model, self.data, self.q, self.v)
        x, turn, v = [], [], []
        centre = np.array([CHAIN_LINK / 2, 0.0, 0.0])
        for joint in self.joints:
            pose, twist = self.data.oMi[joint], self.data.v[joint]
            a, b, c, w = pin.Quaternion(pose.rotation).coeffs()
            x.append(pose.translation + pose.rotation @ centre)
            turn.append([w, a, b, c])
            spin = pose.rotation @ twist.angular
            v.append([*(pose.rotation @ (twist.linear + np.cross(twist.angular, centre))), *spin])
        return Motion(np.array(x), np.array(turn), np.array(v))

    def contact_count(self) -> int:
        return self.count

    def impulses(self) -> Impulses | None:
        return None

    def close(self) -> None:
        pass
