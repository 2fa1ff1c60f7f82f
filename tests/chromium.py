"""Headless Chromium, driven by the DevTools protocol: what a page says, asks for and shows."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # continuous integration runs as root
    "--disable-dev-shm-usage",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--mute-audio",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-port=0",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",  # nothing outside is found
)


def need_chromium() -> str:
    """Return the browser; skip the test, and say why, where there is none."""
    pytest.importorskip("viser", reason="viser (the extra 'view') is not among the extras of the tests")
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("Chromium is not installed (apt-get install chromium): pages are not tried in a browser")
    return path


class Tab:
    """A page, and all that it said and asked for."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self.errors: list[str] = []
        self.requests: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command, taking note of what happened meanwhile."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            if message.get("id") == number:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        what, parameters = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"])[:300])
        elif what == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.errors.append(json.dumps(parameters["args"])[:300])
        elif what == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif what in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            self.requests.append(parameters.get("url") or parameters["request"]["url"])

    def open(self, url: str) -> None:
        """Go to a page."""
        self.call("Page.navigate", url=url)

    def ask(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript, JSON at most."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, json.dumps(answer["exceptionDetails"])[:300]
        return answer["result"].get("value")

    def wait(self, expression: str, holds: Callable[[Any], object] = bool, seconds: float = 60.0) -> Any:
        """Return the value of an expression as soon as it is as wanted."""
        end = time.monotonic() + seconds
        while True:
            value = self.ask(expression)
            if holds(value):
                return value
            assert time.monotonic() < end, f"{expression} is {value!r} after {seconds} s; errors: {self.errors}"
            time.sleep(0.1)

    def click(self, x: float, y: float) -> None:
        """Press and release the mouse."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(0.1)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
            time.sleep(0.05)

    def screenshot(self) -> bytes:
        """Return what is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def chromium(width: int = 900, height: int = 500) -> Iterator[Tab]:
    """Lend a tab of a browser of its own."""
    program = need_chromium()
    from websockets.sync.client import connect  # comes with viser

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        command = [program, *_FLAGS, f"--user-data-dir={home}", f"--window-size={width},{height}", "about:blank"]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port_file = Path(home) / "DevToolsActivePort"
            end = time.monotonic() + 60.0
            while not (port_file.exists() and port_file.read_text().count("\n")):
                if browser.poll() is not None or time.monotonic() > end:
                    pytest.skip("Chromium is installed but does not start: pages are not tried in a browser")
                time.sleep(0.1)
            port = port_file.read_text().splitlines()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                tabs = json.load(answer)
            address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            with connect(address, max_size=None) as socket:
                yield Tab(socket)
        finally:
            browser.terminate()
            browser.wait(20)
