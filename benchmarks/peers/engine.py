"""What the benchmark asks of an engine, and which engines it knows.

Every engine is optional: one that cannot be imported is named and left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from benchmarks.peers.scenes import Array, Motion, PeerScene


class NotPossible(Exception):
    """The engine, or our adapter to it, cannot express the scene; the message says why."""


@dataclass(frozen=True)
class Impulses:
    """Contact impulses of a step as an engine reports them; planes count before bodies, both from 0."""

    first: Array
    second: Array
    """(n,), larger than `first`"""
    point: Array
    """(n, 3) [m]"""
    impulse: Array
    """On the second, world axes, (n, 3) [N s]"""

    @staticmethod
    def of(rows: list[tuple[int, int, Any, Any]]) -> Impulses:
        """Gather rows (one, other, point, impulse on the other), turned round where they come in the other order."""
        if not rows:
            none = np.zeros(0, dtype=np.int64)
            return Impulses(none, none, np.zeros((0, 3)), np.zeros((0, 3)))
        pair = np.array([row[:2] for row in rows])
        impulse = np.array([row[3] for row in rows])
        impulse[pair[:, 0] > pair[:, 1]] *= -1.0
        return Impulses(pair.min(axis=1), pair.max(axis=1), np.array([row[2] for row in rows]), impulse)


class Engine(Protocol):
    """A scene inside an engine."""

    def step(self, count: int) -> float:
        """Take `count` steps and return the CPU seconds that they took."""

    def state(self) -> Motion:
        """Return where the bodies are and how they move, as the engine has it after the last step."""

    def contact_count(self) -> int:
        """Return the number of contact points of the last step."""

    def impulses(self) -> Impulses | None:
        """Return the contact impulses of the last step where the engine tells them."""

    def close(self) -> None:
        """Give the memory back."""


@dataclass(frozen=True)
class Kind:
    """An engine with settings."""

    name: str
    module: str
    model: str
    """What it solves, in a few words."""
    options: dict[str, Any] = field(default_factory=dict)
    gyroscopic: str = "implicit"
    """How it turns bodies, for the judge."""

    def make(self, scene: PeerScene) -> Engine:
        """Build `scene`; raises `NotPossible`."""
        engine: Engine = import_module(f"benchmarks.peers.{self.module}").make(scene, **self.options)
        return engine

    def version(self) -> str:
        """Return the version of the package; raises `ImportError` if there is none."""
        return str(import_module(f"benchmarks.peers.{self.module}").version())


STIFF = {"solimp": "0.99 0.9999 0.0001 0.5 2", "stiff": True, "impratio": 10, "tolerance": 1e-10}
KINDS = {
    kind.name: kind
    for kind in (
        Kind("signorini", "ours", "exact Coulomb cone, rigid; called step by step", gyroscopic="conserving"),
        Kind("signorini-run", "ours", "the same, many steps in one call", {"call": "run"}, gyroscopic="conserving"),
        Kind(
            "signorini-step",
            "ours",
            "the same, contacts and certificate returned in each step",
            {"call": "report"},
            gyroscopic="conserving",
        ),
        Kind("mujoco-cg", "mujoco_engine", "soft convex contact, elliptic cone, CG", {"solver": "CG"}),
        Kind("mujoco", "mujoco_engine", "soft convex contact, pyramid, Newton: its default", {"cone": "pyramidal"}),
        Kind("mujoco-stiff", "mujoco_engine", "soft convex contact made stiff, elliptic cone, Newton", STIFF),
        Kind("pybullet-50", "pybullet_engine", "friction pyramid, 50 sweeps of projected Gauss-Seidel"),
        Kind("pybullet-200", "pybullet_engine", "the same with 200 sweeps", {"sweeps": 200}),
        Kind("drake", "drake_engine", "compliant contact, friction by the last normal force: its default"),
        Kind("drake-sap", "drake_engine", "compliant convex contact (SAP)", {"approximation": "sap"}),
        Kind("dart", "dart_engine", "boxed LCP, friction pyramid, Dantzig: its default"),
        Kind("dart-nsgs", "dart_engine", "exact Coulomb cone, NSGS to 1e-8", {"solver": "nsgs"}),
        Kind("pinocchio", "pinocchio_engine", "exact Coulomb cone, ADMM to 1e-9, our loop around it"),
        Kind("siconos", "siconos_engine", "exact Coulomb cone, NSGS to 1e-4, at most 1000 sweeps"),
        Kind("siconos-8", "siconos_engine", "exact Coulomb cone, NSGS to 1e-8, at most 5000 sweeps", {"digits": 8}),
    )
}
