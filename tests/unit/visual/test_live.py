"""The live window: play, curves, arrows, and the state of a body that is clicked, in a real browser."""

from __future__ import annotations

import pickle
import re
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini.cli import main
from signorini.simulation.contact_table import ContactRows
from signorini.simulation.watcher import Watcher
from tests.chromium import Tab, chromium, need_chromium

loop = sys.modules["signorini.simulation.simulate"]
TEXT = "(document.body?.innerText ?? '')"
CANVAS = "document.querySelector('canvas').getBoundingClientRect()"
LEAVES = "[...document.querySelectorAll('*')].filter(e => e.children.length === 0)"


def scene() -> sg.Scene:
    scene = sg.Scene()
    scene.add_fixed(sg.HalfSpace(), name="floor")
    scene.add_body(sg.Sphere(0.5), mass=1.0, position=(0, 0, 0.5), velocity=(0.1, 0, 0), name="marble")
    scene.set_contact(friction=0.3)
    return scene


@pytest.fixture(scope="module")
def run() -> sg.Trajectory:
    return sg.simulate(scene(), duration=4.0, h=0.02)


@pytest.fixture(scope="module")
def tab(run: sg.Trajectory) -> Iterator[Tab]:
    need_chromium()
    viewer = run.view(port=18080, open_browser=False)
    try:
        with chromium() as tab:
            tab.open(viewer.url)
            tab.wait(TEXT, lambda text: "t = " in (text or ""))
            yield tab
    finally:
        viewer.close()


def now(tab: Tab) -> float:
    found = re.search(r"t = ([\d.]+) s", tab.ask(TEXT))
    assert found is not None
    return float(found[1])


def test_play_advances_the_time(tab: Tab) -> None:
    before = now(tab)
    tab.wait(TEXT, lambda _: now(tab) != before)


def test_the_certificate_marks_the_present(tab: Tab) -> None:
    """The line over a curve stands where the time is: the slider of the panel and the line move together."""
    tab.wait(f"{TEXT}.includes('residual of the contact law')")
    look = "Number(document.querySelector('line.now').getAttribute('x1'))"
    x = tab.ask(look)
    tab.wait(look, lambda value: value != x)
    share = (tab.ask(look) - 46.0) / (320.0 - 46.0)
    assert abs(4.0 * share - now(tab)) < 0.8 or abs(4.0 * share - now(tab)) > 3.2  # it may just have begun anew


def test_a_click_reads_the_state_of_a_body(tab: Tab, run: sg.Trajectory) -> None:
    """The ball is in the middle of the picture: a click there tells its name, place and speed."""
    x, y, w, h = tab.ask(
        "(r => [r.x, r.y, r.width, r.height])(document.querySelector('canvas').getBoundingClientRect())"
    )
    tab.wait(TEXT, lambda _: 1.0 < now(tab) < 3.0)
    for _ in range(5):
        tab.click(x + 0.5 * w, y + 0.5 * h)
        time.sleep(0.5)
        if "marble" in tab.ask(TEXT):
            break
    text = tab.wait(TEXT, lambda text: "speed: " in text, seconds=10)
    found = re.search(r"place: (-?[\d.]+), (-?[\d.]+), (-?[\d.]+) m\s+speed: ([\d.]+) m/s", text)
    assert found is not None
    place, speed = [float(word) for word in found.groups()[:3]], float(found[4])
    distance = np.linalg.norm(run.centre("marble") - place, axis=1)
    assert distance.min() < 1e-3
    assert speed == pytest.approx(np.linalg.norm(run.linear_velocity("marble")[-1]), rel=0.2)


def test_arrows_switch_off(tab: Tab) -> None:
    visible = '__viserSceneTree.getState()["/contacts/normal"].visibility ?? true'
    assert tab.wait(visible)
    # The checkbox beside the word.
    tab.ask(
        f"""{LEAVES}.filter(e => e.innerText?.trim() === "normal").map(e => {{
            while (!e.querySelector("input[type=checkbox]")) e = e.parentElement;
            e.querySelector("input[type=checkbox]").click();
        }}).length"""
    )
    tab.wait(visible, lambda value: value is False, seconds=10)


def test_nothing_comes_from_outside_and_nothing_goes_wrong(tab: Tab) -> None:
    assert tab.errors == []
    outside = ("http://localhost:", "ws://localhost:", "data:", "blob:", "about:")
    assert [url for url in tab.requests if not url.startswith(outside)] == []
    assert len(tab.requests) > 0


def test_a_run_is_seen_while_it_is_computed_and_played_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    need_chromium()
    made: list[Watcher] = []
    shown: list[tuple[float, float, float]] = []

    class Told(Watcher):
        def __init__(self, model: Any, state: sg.State) -> None:
            super().__init__(model, state, port=18180, open_browser=False)
            made.append(self)

        def is_due(self) -> bool:
            return True

        def show(self, state: sg.State, contacts: ContactRows | None, h: float) -> None:
            super().show(state, contacts, h)
            (_, handle), *_ = [pair for pair in self.viewer._display.bodies.values() if 1 in pair[0].body]
            points = self.viewer._display.named("normal")[0].points
            shown.append((state.t, float(handle.batched_positions[0, 0]), float(points[0, 1, 2] - points[0, 0, 2])))

    monkeypatch.setattr(loop, "Watcher", Told)
    try:
        run = sg.simulate(scene(), duration=0.4, h=0.02, callback=lambda *_: None, view=True)
        assert [t for t, _, _ in shown] == pytest.approx(run.time[1:])
        assert [x for _, x, _ in shown] == pytest.approx(run.centre("marble")[1:, 0], abs=1e-3)
        assert all(up > 0.0 for _, _, up in shown), "the normal force should be drawn, upwards"
        assert made[0].viewer._film.time[-1] == run.time[-1]
    finally:
        for watcher in made:
            watcher.viewer.close()


def test_a_simulator_shows_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    need_chromium()
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    simulator = sg.Simulator(scene(), h=0.02, view=True)
    assert simulator.viewer is not None
    try:
        viewer = simulator.viewer.viewer
        assert opened == [viewer.url]
        simulator.step()
        time.sleep(0.05)
        simulator.step()
        assert viewer._time == simulator.state.t
        assert pickle.loads(pickle.dumps(simulator)).viewer is None
    finally:
        simulator.viewer.viewer.close()


def interrupt_once_served(port: int) -> None:
    """Press Ctrl+C as soon as somebody listens at a port."""
    for _ in range(600):
        with socket.socket() as one:
            if one.connect_ex(("localhost", port)) == 0:
                break
        time.sleep(0.1)
    time.sleep(1.0)  # in which it is said
    signal.raise_signal(signal.SIGINT)


def test_the_command_shows_a_result(run: sg.Trajectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need_chromium()
    run.save(tmp_path / "run.h5")
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    threading.Thread(target=interrupt_once_served, args=(port,), daemon=True).start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it
    try:
        assert main(["view", str(tmp_path / "run.h5"), "--port", str(port), "--no-browser"]) == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert f"run.h5 is shown at http://localhost:{port}" in capsys.readouterr().out
