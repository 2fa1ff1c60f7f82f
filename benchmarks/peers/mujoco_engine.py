"""MuJoCo; ``pip install mujoco``."""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np
from benchmarks.peers.engine import Impulses, NotPossible
from benchmarks.peers.scenes import CHAIN_LINK, Body, Motion, Part, PeerScene, rotations

MOST_NEWTON = 1500  # bodies


def version() -> str:
    return str(mujoco.__version__)


def make(scene: PeerScene, **options: Any) -> MuJoCo:
    if options.get("solver", "Newton") == "Newton" and len(scene.bodies) > MOST_NEWTON:
        raise NotPossible("a step of its Newton solver takes minutes")
    return MuJoCo(scene, _chain(scene, **options) if scene.chain else _model(scene, **options))


def _text(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def _head(
    scene: PeerScene,
    *,
    cone: str = "elliptic",
    solver: str = "Newton",
    solimp: str | None = None,
    stiff: bool = False,
    impratio: float = 1.0,
    tolerance: float = 1e-8,
) -> str:
    """Return options and defaults; `stiff` asks for the shortest time constant that MuJoCo takes, two steps."""
    soft = (f' solref="{2 * scene.h} 1"' if stiff else "") + (f' solimp="{solimp}"' if solimp else "")
    return (
        f'<mujoco><option timestep="{scene.h}" gravity="{_text(scene.gravity)}" cone="{cone}" solver="{solver}" '
        f'impratio="{impratio}" tolerance="{tolerance}" iterations="200"/><size memory="4G"/>'
        f'<default><geom friction="{scene.mu} 0 0" condim="3"{soft}/></default>'
    )


def _model(scene: PeerScene, **options: Any) -> Any:
    hulls = {part: f"hull{i}" for i, part in enumerate(_hulls(scene))}
    text = [_head(scene, **options), "<asset>"]
    text += [
        f'<mesh name="{name}" vertex="{_text(np.ravel(part.corners))}" inertia="convex"/>'
        for part, name in hulls.items()
    ]
    text.append("</asset><worldbody>")
    for point, normal in scene.planes:
        text.append(f'<geom type="plane" size="0 0 1" pos="{_text(point)}" zaxis="{_text(normal)}"/>')
    text += [_body(body, hulls) for body in scene.bodies]
    return mujoco.MjModel.from_xml_string("".join([*text, "</worldbody></mujoco>"]))


def _hulls(scene: PeerScene) -> list[Part]:
    return list(dict.fromkeys(part for body in scene.bodies for part in body.parts if part.kind == "hull"))


def _body(body: Body, hulls: dict[Part, str]) -> str:
    parts = [
        f'<geom type="mesh" mesh="{hulls[part]}"/>'
        if part.kind == "hull"
        else f'<geom type="{part.kind}" size="{_text(part.size)}" pos="{_text(part.offset)}"/>'
        for part in body.parts
    ]
    return (
        f'<body pos="{_text(body.position)}" quat="{_text(body.quaternion)}"><freejoint/>'
        f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{_text(body.inertia)}"/>{"".join(parts)}</body>'
    )


def _chain(scene: PeerScene, **options: Any) -> Any:
    """Build the links one in another; the reader of XML refuses to nest deeply, hence not by text."""
    spec = mujoco.MjSpec.from_string(_head(scene, **options) + "<worldbody/></mujoco>")
    parent = spec.worldbody
    for i, body in enumerate(scene.bodies):
        parent = parent.add_body(
            pos=[CHAIN_LINK if i else 0.0, 0, 0],
            mass=body.mass,
            inertia=list(body.inertia),
            ipos=[CHAIN_LINK / 2, 0, 0],
            explicitinertial=True,
        )
        parent.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
    return spec.compile()


class MuJoCo:
    """Model and data of MuJoCo."""

    def __init__(self, scene: PeerScene, model: Any) -> None:
        self.count = len(scene.bodies)
        self.planes = len(scene.planes)
        self.chain = scene.chain
        self.h = scene.h
        self.model = model
        self.data = mujoco.MjData(model)
        if not scene.chain:
            q, v = self.data.qpos.reshape(-1, 7), self.data.qvel.reshape(-1, 6)
            for i, body in enumerate(scene.bodies):
                q[i] = [*body.position, *body.quaternion]
                v[i] = [*body.velocity, *(rotations(body.quaternion).T @ body.spin)]  # spin is in body axes here
        mujoco.mj_forward(model, self.data)

    def step(self, count: int) -> float:
        step, model, data = mujoco.mj_step, self.model, self.data
        began = time.process_time()
        for _ in range(count):
            step(model, data)
        return time.process_time() - began

    def state(self) -> Motion:
        if self.chain:
            return self._links()
        q, v = self.data.qpos.reshape(-1, 7).copy(), self.data.qvel.reshape(-1, 6).copy()
        v[:, 3:] = np.einsum("nij,nj->ni", rotations(q[:, 3:]), v[:, 3:])
        return Motion(q[:, :3], q[:, 3:], v)

    def _links(self) -> Motion:
        """Return the links after the last step; MuJoCo's own are those before it."""
        data = mujoco.MjData(self.model)
        data.qpos[:], data.qvel[:] = self.data.qpos, self.data.qvel
        mujoco.mj_fwdPosition(self.model, data)
        mujoco.mj_fwdVelocity(self.model, data)
        v, six = np.zeros((self.count, 6)), np.zeros(6)
        for i in range(self.count):
            mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_BODY, i + 1, six, 0)
            v[i] = [*six[3:], *six[:3]]
        return Motion(data.xipos[1:].copy(), data.xquat[1:].copy(), v)

    def contact_count(self) -> int:
        return int(self.data.ncon)

    def impulses(self) -> Impulses:
        rows, six = [], np.zeros(6)
        place = [self._place(geom) for geom in range(self.model.ngeom)]
        for i in range(self.data.ncon):
            contact = self.data.contact[i]
            mujoco.mj_contactForce(self.model, self.data, i, six)
            world = self.h * np.array(contact.frame).reshape(3, 3).T @ six[:3]
            rows.append((place[contact.geom1], place[contact.geom2], np.array(contact.pos), world))
        return Impulses.of(rows)

    def _place(self, geom: int) -> int:
        """Return the number of a geom's body, planes first; geoms of the world are the planes in order."""
        body = int(self.model.geom_bodyid[geom])
        return geom if body == 0 else self.planes + body - 1

    def close(self) -> None:
        pass
