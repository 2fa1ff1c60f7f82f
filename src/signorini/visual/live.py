"""A window in the browser on a run, live or recorded, by a server on this machine."""

from __future__ import annotations

import threading
import time
import webbrowser
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.visual.browser import FORCES, POINTS, Display, server_of
from signorini.visual.film import Film, Forces
from signorini.visual.page import panel

_EVERY = 1.0 / 30.0  # seconds between two pictures
_PANEL_EVERY = 0.2  # seconds between two states of the panel, which takes more to send
_NOBODY = "nobody"
_SPEEDS = ("0.01x", "0.1x", "0.25x", "0.5x", "1x", "2x", "4x")


class Viewer:
    """A server that shows a film, or states as they come.

    Parameters
    ----------
    port : int
        Tried first; one that is free is taken instead.
    open_browser : bool
        Open the page in the browser of the user.
    """

    def __init__(self, *, port: int = 8080, open_browser: bool = True) -> None:
        self._server = server_of(port)
        self.url = f"http://localhost:{self._server.get_port()}"
        """Where the page is."""
        self._stop = threading.Event()
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._shown = 0.0
        if open_browser:
            webbrowser.open(self.url)

    # --- a film ------------------------------------------------------------------

    def play(self, film: Film, *, speed: float = 1.0) -> None:
        """Show a film that can be played, stopped and scrubbed."""
        with self._lock:
            self._begin(film)
            gui, last = self._server.gui, len(film.time) - 1
            self._playing = gui.add_checkbox("play", initial_value=True, order=0.0)
            self._slider = gui.add_slider("picture", min=0, max=max(last, 1), step=1, initial_value=0, order=0.1)
            words = sorted({*_SPEEDS, f"{speed:g}x"}, key=lambda word: float(word[:-1]))
            self._speed = gui.add_dropdown("speed", words, initial_value=f"{speed:g}x", order=0.2)
            self._slider.on_update(lambda event: self._look(int(event.target.value)))
            self._look(0)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def _run(self) -> None:
        at, before = 0.0, time.monotonic()
        while not self._stop.wait(_EVERY):
            now = time.monotonic()
            with self._lock:
                film = self._film
                if self._playing.value and len(film.time) > 1:
                    here = film.time[int(self._slider.value)]
                    if not film.time[0] <= at <= film.time[-1] or self._frame_of(at) != int(self._slider.value):
                        at = float(here)
                    at += (now - before) * float(self._speed.value[:-1])
                    if at > film.time[-1]:
                        at = float(film.time[0])
                    if self._frame_of(at) != int(self._slider.value):
                        self._slider.value = self._frame_of(at)  # shows it
            before = now

    def _frame_of(self, t: float) -> int:
        return max(0, int(np.searchsorted(self._film.time, t, side="right")) - 1)

    def _look(self, k: int) -> None:
        """Show a picture of the film."""
        with self._lock:
            film = self._film
            k = min(k, len(film.time) - 1)
            self._at = k
            self._display.show(k)
            self._tell(float(film.time[k]), film.poses[k], film.forces[k] if film.forces else None)

    # --- live -----------------------------------------------------------------------

    def show(self, film: Film) -> None:
        """Begin to show states as they come; `film` is the first."""
        with self._lock:
            self._begin(film, live=True)
            self._tell(float(film.time[0]), film.poses[0], None)

    def is_due(self) -> bool:
        """Whether it is time for another picture."""
        return time.monotonic() - self._shown >= _EVERY

    def update(self, t: float, poses: Array, forces: Forces | None) -> None:
        """Show a state."""
        with self._lock:
            self._shown = time.monotonic()
            self._display.show_poses(poses)
            if forces is not None:
                self._display.show_forces(forces)
            self._tell(t, poses, forces)

    # --- both -----------------------------------------------------------------------

    def _begin(self, film: Film, *, live: bool = False) -> None:
        server = self._server
        server.scene.reset()
        server.gui.reset()
        server.gui.set_panel_label("signorini")
        self._film, self._at = film, 0
        self._picked: int | None = None
        self._followed: Array | None = None
        self._display = Display(server, film, live=live)
        self._told = 0.0
        gui = server.gui
        self._state = gui.add_markdown("", order=1.0)
        self._picked_text = gui.add_markdown("Click a body to read its state.", order=1.1)
        moving = list(film.names[film.fixed_count :])
        self._follow = gui.add_dropdown("follow", [_NOBODY, *moving], initial_value=_NOBODY, order=1.2)
        with gui.add_folder("show", order=9.0):
            for name in (*FORCES, *(f"points {name}" for name in POINTS), "joints"):
                handles = self._display.named(name)
                if handles:
                    gui.add_checkbox(name, initial_value=True).on_update(
                        lambda event, handles=handles: _switch(handles, visible=event.target.value)
                    )
            through = gui.add_checkbox("see through bodies", initial_value=False)
            bodies = [handle for _, handle in self._display.bodies.values()]
            through.on_update(lambda event: _fade(bodies, 0.35 if event.target.value else None))
        self._curves = [
            (curve, gui.add_html("", order=3.0 + k)) for k, curve in enumerate(film.curves if not live else ())
        ]
        for pieces, handle in self._display.bodies.values():
            handle.on_click(lambda event, pieces=pieces: self._pick(event, pieces))

    def _pick(self, event: Any, pieces: Any) -> None:
        """Remember the body that was clicked: the piece that is told, else the one nearest to the ray."""
        with self._lock:
            index = event.instance_index
            if index is None:
                origin, along = np.array(event.ray_origin), np.array(event.ray_direction)
                away = pieces.poses(self._poses)[0] - origin
                index = int(np.argmin(np.linalg.norm(away - (away @ along)[:, None] * along, axis=1)))
            self._picked = int(pieces.body[index])
            self._told = 0.0
            self._tell(self._time, self._poses, self._forces)

    def _tell(self, t: float, poses: Array, forces: Forces | None) -> None:
        """Put words and curves into the panel."""
        film = self._film
        self._keep_up(poses)
        earlier = getattr(self, "_time", t), getattr(self, "_poses", poses)
        self._time, self._poses, self._forces = t, poses, forces
        now = time.monotonic()
        if now - self._told < _PANEL_EVERY:
            return
        self._told = now
        count = "" if forces is None else f", contacts: {len(forces.point)}"
        self._state.content = f"**t = {t:.3f} s**{count}  \n{film.verdict}"
        if self._picked is not None and self._picked < len(film.names):
            self._picked_text.content = _words(film, self._picked, t, poses, earlier)
        for curve, handle in self._curves:
            handle.content = panel(curve, film.time, t)

    def _keep_up(self, poses: Array) -> None:
        """Move the cameras with the body that is followed."""
        name = self._follow.value
        if name == _NOBODY:
            self._followed = None
            return
        place = poses[self._film.names.index(name), :3]
        if self._followed is not None:
            for client in self._server.get_clients().values():
                client.camera.position = client.camera.position + (place - self._followed)
                client.camera.look_at = place
        self._followed = place.copy()

    def wait(self) -> None:
        """Stay until the user interrupts."""
        with suppress(KeyboardInterrupt):
            while not self._stop.wait(0.5):
                pass
        self.close()

    def close(self) -> None:
        """End the server."""
        if self._stop.is_set():
            return
        self._stop.set()
        if self._thread is not None:
            self._thread.join(5.0)
        with redirect_stdout(StringIO()):
            self._server.stop()


def _switch(handles: list[Any], *, visible: bool) -> None:
    for handle in handles:
        handle.visible = visible


def _fade(handles: list[Any], opacity: float | None) -> None:
    for handle in handles:
        handle.opacity = opacity


def _words(film: Film, body: int, t: float, poses: Array, earlier: tuple[float, Array]) -> str:
    """Return the state of a body as people read it; its speed between two pictures."""
    x, before = poses[body, :3], earlier[1][body, :3]
    lines = [f"**{film.names[body]}**", "place: {:.4f}, {:.4f}, {:.4f} m".format(*x)]
    if t > earlier[0]:
        lines.append(f"speed: {np.linalg.norm(x - before) / (t - earlier[0]):.4f} m/s")
    lines.append("quaternion: {:.4f}, {:.4f}, {:.4f}, {:.4f}".format(*poses[body, 3:]))
    return "  \n".join(lines)
