"""A formulation that the library knows nothing of: a ball without friction that rings when it meets the floor.

Its mode has the amplitude a, of unit mass, and the shape phi where the ball touches, which moves at u = v_z + phi a'.
A hit rebounds less than the one before. With W = 1/m + phi^2 and the velocity before contact b it poses

    0 <= p  _|_  W p + b >= 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

import signorini as sg
from signorini._arrays import Array
from signorini.formulations import Balance, ContactLaw, StepResult
from signorini.geometry import detect
from signorini.model import Contacts, Model


@dataclass(frozen=True)
class Hits:
    """How often the ball was hit, and the energy of its mode [J]."""

    count: int = 0
    stored: float = 0.0
    coordinate: Array = field(default_factory=lambda: np.zeros(0))
    kind: ClassVar[str] = "hits"

    def to_arrays(self) -> dict[str, Any]:
        return {"count": self.count, "stored": self.stored}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Hits:
        return cls(**arrays)


@dataclass(frozen=True)
class Unilateral:
    """The law above with its answer p."""

    W: float
    b: float
    p: float
    what: ClassVar[str] = "the floor"

    @property
    def problem(self) -> sg.LCP:
        return sg.LCP(np.array([[self.W]]), np.array([self.b]))

    def residual(self) -> float:
        return abs(min(self.p, self.p + self.b / self.W)) / max(abs(self.p), abs(self.b) / self.W, 1e-300)

    def credible(self, tolerance: float) -> bool:
        return True

    def pushed(self) -> float:
        return 0.5 * self.W * self.p**2

    def contact_law(self, impulse: Array, velocity: Array, tolerance: float) -> ContactLaw:
        none, pressed = np.zeros(len(impulse)), np.full(len(impulse), int(self.p > 0.0))
        return ContactLaw(pressed, 0.0, 0.0, none, none, none + self.W * self.p + self.b)


@dataclass(frozen=True)
class RingingBall:
    """One ball over a floor."""

    shape: float = 0.1
    frequency: float = 40.0
    share: float = 1.0  # of the impulse that the law asks for: 1 is honest

    def init(self, model: Model, state: sg.State) -> tuple[sg.State, Hits]:
        return replace(state, modal=np.zeros(1), modal_rate=np.zeros(1)), Hits()

    def detect(self, model: Model, state: sg.State, h: float) -> Contacts:
        return detect(model, state, np.full(model.body_count, 0.1))

    def step(
        self, model: Model, state: sg.State, contacts: Contacts, memory: Hits, h: float, *, tolerance: float
    ) -> StepResult:
        m, g, phi, w = float(model.arrays.mass[1]), -float(model.arrays.gravity[2]), self.shape, self.frequency
        v, rate = state.v.copy(), float(state.modal_rate[0])
        v_0, v_free = float(v[1, 2]), float(v[1, 2]) - g * h
        gap, u_0, u_free = float(contacts.gap.min(initial=1.0)), v_0 + phi * rate, v_free + phi * rate
        closes = gap + h * u_free < 0.0
        rebound = 0.8 ** (memory.count + 1) * min(u_0, 0.0) if closes else gap / h
        law = Unilateral(1.0 / m + phi**2, u_free + rebound, 0.0)
        law = replace(law, p=self.share * max(0.0, -law.b / law.W))
        v[1, 2], rate, u = v_free + law.p / m, rate + phi * law.p, u_free + law.W * law.p
        cos, sin, a = np.cos(w * h), np.sin(w * h), float(state.modal[0])
        a, rate = cos * a + sin * rate / w, cos * rate - sin * w * a
        q = state.q.copy()
        q[1, :3] += h * v[1, :3]
        after = sg.State(t=state.t + h, q=q, v=v, modal=np.array([a]), modal_rate=np.array([rate]))
        stored, n_c = float(0.5 * (w * a) ** 2), contacts.contact_count
        lost = {"impact": -0.5 * law.p * (u_free + u), "integration": m * g * h * (0.5 * (v_0 + v_free) - v[1, 2])}
        balance = Balance(*(0.0,) * 9)._replace(**lost, elastic=stored - memory.stored)
        normal = np.array([[1.0, 0.0, 0.0]] * n_c).reshape(n_c, 3)
        return StepResult(
            state=after,
            memory=Hits(memory.count + (law.p > 0.0), stored),
            contacts=contacts,
            impulse=law.p * normal,
            velocity=u * normal,
            pose=lambda: law,
            mode=law.contact_law(normal, normal, tolerance).mode,
            solution=sg.Solution(np.array([law.p]), sg.Status.SOLVED, law.residual(), 1),
            balance=balance,
        )
