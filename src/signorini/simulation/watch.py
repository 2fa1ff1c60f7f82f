"""Who keeps and says what is suspicious about a run, each kind of thing once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from signorini._arrays import Array
from signorini.dynamics import prescribed_pose
from signorini.errors import SceneWarning
from signorini.model import Contacts, Model, State
from signorini.model.thickness import thinnest_extents
from signorini.simulation.certificate import StepCertificate
from signorini.simulation.door import FAR, Suspicion, look
from signorini.simulation.explosion import runaway
from signorini.simulation.pressing import driven_into, is_driven, pressed
from signorini.solvers.solution import SUCCESS

_DEEP = 1e-3  # of the thinnest body: overlaps that cost a run its trust


class Watch:
    """Looks at a scene at the door and at the steps of a run."""

    def __init__(self, model: Model, h: float) -> None:
        self._model, self._h = model, h
        self._alarms = 0
        self.suspicions: list[Suspicion] = []
        self.drives = is_driven(model)
        """Whether anything moves as prescribed, whatever it takes."""
        self._deep = np.inf
        if self.drives:
            thin = thinnest_extents(model.shapes, model.hulls, model.body_count)
            self._deep = _DEEP * float(thin.min(initial=np.inf))

    def say(self, suspicions: Iterable[Suspicion]) -> None:
        """Keep what is of a kind not heard before, and warn of it in the name of the first code outside the library."""
        known = {one.kind for one in self.suspicions}
        new = [one for one in suspicions if one.kind not in known]
        self.suspicions += new
        if not new:
            return
        level, frame = 1, sys._getframe()
        while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
            level, frame = level + 1, frame.f_back
        for one in new:
            warnings.warn(one.message, SceneWarning, stacklevel=level)

    def at_the_door(self, state: State, coordinate: Array, contacts: Contacts, *, contact_given: bool) -> None:
        """Look at a run that begins at `state`."""
        model, h = self._model, self._h
        self.say(look(model, state, h, contacts, contact_given=contact_given))
        if self.drives:
            self.say(pressed(model, state, coordinate, h, contacts))
            next_walls, walls = state.copy(), slice(model.fixed_count)
            next_walls.q[walls], next_walls.v[walls] = prescribed_pose(model, state.t + h)
            self.say(driven_into(model, state, replace(next_walls, t=state.t + h)))

    def is_alarmed(self, certificate: StepCertificate) -> bool:
        """Tell whether to ask what drives press together after such a step: at the 1st, 2nd, 4th, 8th... bad one."""
        deep = -certificate.min_gap > self._deep
        if not (deep or certificate.yielded or certificate.status not in SUCCESS):
            return False
        self._alarms += 1
        return self._alarms & (self._alarms - 1) == 0

    def ask_drives(
        self, state: State, coordinate: Array, contacts: Contacts, certificate: StepCertificate, t: float
    ) -> None:
        """Say what drives press together at `state`, after a step that ended badly at `t`."""
        overlap = (t, max(0.0, -certificate.min_gap))
        self.say(pressed(self._model, state, coordinate, self._h, contacts, overlap))

    def ask_speeds(self, time: Array, q: Array, v: Array) -> None:
        """Say which body runs away first in some steps, if none was said to."""
        if not np.abs(v).max(initial=0.0) > FAR or any(one.kind == "runaway" for one in self.suspicions):
            return
        k = int(np.argmax(np.abs(v).max(axis=(1, 2)) > FAR))
        self.say([runaway(self._model, State(t=float(time[k]), q=q[k], v=v[k]), self._h)])

    def look_back(self, time: Array, q: Array, v: Array, *, samples: int = 50) -> None:
        """Say where in a run, looked at now and then, prescribed bodies went into fixed ones."""
        if not self.drives or self._model.fixed_count < 2 or time.size < 2:
            return
        first = State(t=float(time[0]), q=q[0], v=v[0])
        for k in np.unique(np.linspace(1, time.size - 1, samples).round().astype(int)):
            found = list(driven_into(self._model, first, State(t=float(time[k]), q=q[k], v=v[k])))
            if found:
                self.say(found)
                return


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == __name__.partition(".")[0]
