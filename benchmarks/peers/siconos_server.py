"""A scene inside Siconos as a server: one JSON object per line in, one out; runs under a Python that has Siconos.

The first line holds the scene and the digits asked of NSGS; each further one the number of steps to take. Answers hold
CPU seconds, positions with quaternions, velocities and the number of contacts. Planes are boxes: Siconos' own plane
is a huge shape in single precision and tilts the normals.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import json
import sys
import time
from typing import Any

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn
from benchmarks.peers.scenes import rotations
from siconos.mechanics.collision import RigidBodyDS, SiconosBox, SiconosContactor, SiconosContactorSet, SiconosSphere
from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

SWEEPS = {4: 1000, 8: 5000}
MARGIN = 0.0


class World:
    """Siconos' objects; those handed over by pointer are kept alive here."""

    def __init__(self, scene: dict[str, Any], digits: int) -> None:
        self.kept: list[Any] = []
        self.system = sk.NonSmoothDynamicalSystem(0.0, 1e5 * scene["h"])
        self.bodies = [self._body(body, np.array(scene["gravity"])) for body in scene["bodies"]]
        rule = sk.MoreauJeanOSI(0.5)
        rule.setConstraintActivationThreshold(0.0)
        options = sk.solver_options_create(sn.SICONOS_FRICTION_3D_NSGS)
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = SWEEPS[digits]
        options.dparam[sn.SICONOS_DPARAM_TOL] = 10.0**-digits
        self.problem = sk.FrictionContact(3, options)
        self.problem.setMaxSize(300_000)
        self.problem.setMStorageType(sn.NM_SPARSE_BLOCK)
        self.problem.setNumericsVerboseMode(False)
        self.problem.setKeepLambdaAndYState(True)
        manager = self._manager(scene)
        steps = sk.TimeDiscretisation(0.0, scene["h"])
        self.simulation = sk.TimeStepping(self.system, steps)
        self.simulation.insertIntegrator(rule)
        self.simulation.insertNonSmoothProblem(self.problem)
        self.simulation.insertInteractionManager(manager)
        self.simulation.setNewtonOptions(sk.SICONOS_TS_LINEAR)
        self.simulation.setNewtonMaxIteration(1)
        self.kept += [rule, options, manager, steps]

    def _body(self, body: dict[str, Any], gravity: Any) -> Any:
        turn = rotations(np.array(body["quaternion"]))
        q = np.array([*body["position"], *body["quaternion"]])
        v = np.array([*body["velocity"], *(turn.T @ body["spin"])])  # spin is in body axes here
        inertia = np.asfortranarray(np.diag(body["inertia"]).astype(float))
        weight = body["mass"] * gravity
        own = RigidBodyDS(q, v, body["mass"], inertia)
        own.setUseContactorInertia(False)  # it would replace the inertia by that of the shapes
        own.setFExtPtr(weight)
        shapes = SiconosContactorSet()
        for part in body["parts"]:
            one = part["kind"] == "sphere"
            shape = SiconosSphere(part["size"][0]) if one else SiconosBox(*[2 * a for a in part["size"]])
            contactor = SiconosContactor(shape, [*part["offset"], 1.0, 0.0, 0.0, 0.0])
            shapes.append(contactor)
            self.kept += [shape, contactor]
        own.setContactors(shapes)
        self.system.insertDynamicalSystem(own)
        self.kept += [q, v, inertia, weight, shapes]
        return own

    def _manager(self, scene: dict[str, Any]) -> Any:
        options = SiconosBulletOptions()
        options.worldScale = 1.0
        options.contactBreakingThreshold = 0.02
        options.perturbationIterations = options.minimumPointsPerturbationThreshold = 3
        manager = SiconosBulletCollisionManager(options)
        manager.insertNonSmoothLaw(sk.NewtonImpactFrictionNSL(0.0, 0.0, scene["mu"], 3), 0, 0)
        size = 4.0 if len(scene["bodies"]) > 20 else 10.0
        for point, normal in scene["planes"]:
            shape = SiconosBox(2 * size, 2 * size, size)
            shape.setInsideMargin(MARGIN)
            shape.setOutsideMargin(MARGIN)
            shapes, contactor = SiconosContactorSet(), SiconosContactor(shape)
            shapes.append(contactor)
            n = np.array(normal)
            pose = [*(np.array(point) - 0.5 * size * n).tolist(), *_upright_to(n)]
            manager.insertStaticContactorSet(shapes, pose)
            self.kept += [shape, contactor, shapes, pose]
        self.kept.append(options)
        return manager

    def step(self, count: int) -> float:
        """Take steps and return CPU seconds."""
        began = time.process_time()
        for _ in range(count):
            self.simulation.computeOneStep()
            self.simulation.nextStep()
        return time.process_time() - began

    def answer(self, seconds: float) -> dict[str, Any]:
        """Return what the client wants to know after some steps."""
        q = np.array([body.q() for body in self.bodies])
        v = np.array([body.twist() for body in self.bodies])
        v[:, 3:] = np.einsum("nij,nj->ni", rotations(q[:, 3:]), v[:, 3:])
        contacts = int(self.problem.getSizeOutput() // 3)
        return {"seconds": seconds, "q": q.tolist(), "v": v.tolist(), "contacts": contacts}


def _upright_to(n: Any) -> list[float]:
    """Return the quaternion that turns z to the unit vector n."""
    if n[2] > 0.999:
        return [1.0, 0.0, 0.0, 0.0]
    axis = np.cross([0.0, 0.0, 1.0], n)
    return [float(np.sqrt((1 + n[2]) / 2)), *(axis / np.linalg.norm(axis) * np.sqrt((1 - n[2]) / 2)).tolist()]


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Siconos prints what it likes
    first = json.loads(sys.stdin.readline())
    world = World(first["scene"], first["digits"])
    print(json.dumps(world.answer(0.0)), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(world.answer(world.step(json.loads(line)["count"]))), file=answers, flush=True)


if __name__ == "__main__":
    main()
