"""A run in the browser while it is computed."""

from __future__ import annotations

import numpy as np

from signorini.model import Model, State
from signorini.simulation.contact_table import ContactRows
from signorini.simulation.seen import film_of_state, forces_of_rows
from signorini.simulation.trajectory import Trajectory


class Watcher:
    """A viewer of states as they come; flexible bodies are drawn once the run is done."""

    def __init__(self, model: Model, state: State, *, port: int = 8080, open_browser: bool = True) -> None:
        from signorini.visual.live import Viewer

        self.viewer = Viewer(port=port, open_browser=open_browser)
        self.viewer.show(film_of_state(model, state))

    def is_due(self) -> bool:
        """Whether it is time for another picture."""
        return self.viewer.is_due()

    def show(self, state: State, contacts: ContactRows | None, h: float) -> None:
        """Show a state and the contacts of the step that led to it."""
        forces = None if contacts is None else forces_of_rows(contacts, h, np.zeros(len(contacts.row), dtype=bool))
        self.viewer.update(state.t, state.q, forces)

    def play(self, trajectory: Trajectory) -> None:
        """Show the whole run, which has ended."""
        trajectory.play_in(self.viewer)
