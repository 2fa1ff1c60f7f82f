"""CP1 of one group of bodies: from contacts and joint rows to the problem, and back to accelerations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.analysis.forces import ForceMode
from signorini.analysis.instantaneous import Instantaneous
from signorini.analysis.mechanism import JointRows
from signorini.analysis.sliding import InverseInertia, frame_rows, pushes
from signorini.analysis.touching import ContactMode, Touching


@dataclass(frozen=True, slots=True)
class Group:
    """CP1 of bodies that share contacts or joints."""

    bodies: IntArray
    contacts: IntArray
    """Rows of the table of contacts that slide or roll; unknowns of the problem in this order."""
    problem: Instantaneous
    inverse: InverseInertia
    push: Array
    """Generalized force of every unknown, (n, n_v)."""
    load: Array
    """Generalized force without the unknown ones, (n_v,)."""
    joints: JointRows

    def force(self, x: Array) -> Array:
        """Return the generalized force of a solution, held rows excepted, (n_v,)."""
        out: Array = self.load + self.push.T @ (self.problem.force_unit * x)
        return out

    def acceleration(self, x: Array) -> Array:
        """Return the accelerations of the bodies, (n, 6)."""
        return self.inverse.apply(self.force(x), held_acceleration=-self.joints.held_bias).reshape(-1, 6)

    def reaction(self, x: Array) -> Array:
        """Return the smallest forces of the held rows, (r,)."""
        return self.inverse.reaction(self.force(x), -self.joints.held_bias)

    def inconsistency(self) -> float:
        """Return the largest acceleration that held rows ask for and cannot have, relative to what they ask for."""
        held = self.inverse.held
        if not held.size:
            return 0.0
        a = self.inverse.apply(self.load, held_acceleration=-self.joints.held_bias)
        asked = np.abs(held @ (self.inverse.M_inv @ self.load)).max() + np.abs(self.joints.held_bias).max()
        return float(np.abs(held @ a + self.joints.held_bias).max() / asked) if asked > 0.0 else 0.0

    def forces_determined(self, x: Array) -> bool:
        """Tell whether this motion has no other forces, of contacts or joints."""
        return self.problem.forces_determined(x) and not self.inverse.dependent

    def joint_forces(self, x: Array) -> dict[str, Array]:
        """Return the forces of every joint's held rows, the smallest ones where others would do as well."""
        reaction = self.reaction(x)
        names = np.array(self.joints.held_names)
        return {str(name): reaction[names == name] for name in dict.fromkeys(self.joints.held_names)}

    def joint_friction(self, x: Array) -> dict[str, float]:
        """Return the forces of dry rows that do not move."""
        forces = self.problem.split(self.problem.force_unit * x)[2]
        return {name: float(force) for name, force in zip(self.joints.dry_names, forces, strict=True)}

    def contact_forces(self, x: Array, found: Touching) -> Array:
        """Return the forces of the group's contacts in their frames, (m, dim) [N]."""
        c_n, c_T, _ = self.problem.split(self.problem.force_unit * x)
        m = self.contacts.size
        out = np.zeros((m, found.dim))
        out[:, 0] = c_n[:m]
        slip, mu = found.velocity[self.contacts, 1:], found.friction[self.contacts]
        speed = np.linalg.norm(slip, axis=1)
        moves = (speed > 0.0) & (mu > 0.0)
        out[moves, 1:] = -(mu * c_n[:m])[moves, None] * slip[moves] / speed[moves, None]
        out[self.problem.rolling, 1:] = c_T
        return out

    def modes(self, x: Array) -> list[ForceMode]:
        """Return what each contact of the group is about to do."""
        presses, opens = self.problem.pressing(x), self.problem.opening(x)
        words = [
            ForceMode.SLIP if press else ForceMode.SEPARATING if opening else ForceMode.UNLOADED
            for press, opening in zip(presses, opens, strict=True)
        ]
        for c in self.problem.rolling[self.problem.sticking(x)]:
            words[c] = ForceMode.STICK
        return words[: self.contacts.size]


def group_problem(
    found: Touching, bodies: IntArray, contacts: IntArray, M_inv: Array, free: Array, rate: Array, joints: JointRows
) -> Group:
    """Pose CP1 of one group.

    Parameters
    ----------
    found : Touching
    bodies, contacts : int array
        Bodies of the group and its contacts that slide or roll.
    M_inv : (n_v, n_v) array
        Inverse inertia of the bodies.
    free : (n_v,) array
        Accelerations without contacts and joints.
    rate : (n_c, dim) array
        Rates of all contact velocities at constant body velocities: the bias terms k_n and k_f.
    joints : JointRows
    """
    inverse = InverseInertia(M_inv, joints.held)
    frames = frame_rows(found.contacts, found.J_a, found.J_b, contacts, bodies)
    slides = found.mode[contacts] == ContactMode.SLIDING
    # A contact that rolls has its friction as an unknown, one that slides has it in its push.
    push_n = pushes(frames, found.velocity[contacts, 1:], np.where(slides, found.friction[contacts], 0.0))
    rolling = np.flatnonzero(~slides)
    tangents = frames[rolling, 1:].reshape(-1, bodies.size * 6)
    rows = np.concatenate([frames[:, 0], joints.stops, tangents, joints.dry])
    push = np.concatenate([push_n, joints.stops, tangents, joints.dry])
    bias = np.concatenate(
        [rate[contacts, 0], joints.stop_bias, rate[contacts[rolling], 1:].reshape(-1), joints.dry_bias]
    )
    load = inverse.force(free) + joints.load
    answer = inverse.apply(push)
    problem = Instantaneous.scaled(
        rows @ answer.T,
        rows @ inverse.apply(load, held_acceleration=-joints.held_bias) + bias,
        push @ answer.T,
        np.einsum("ij,ij->i", rows, inverse.apply(rows)),
        rolling=rolling,
        friction=found.friction[contacts[rolling]],
        limit=joints.dry_limit,
        tangents=found.dim - 1,
    )
    return Group(bodies, contacts, problem, inverse, push, load, joints)
