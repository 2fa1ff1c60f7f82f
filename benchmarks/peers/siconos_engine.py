"""Siconos; Debian: ``apt-get install siconos python3-siconos``, run under the system's Python by a server."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.engine import Impulses, NotPossible
from benchmarks.peers.scenes import Motion, PeerScene

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("SICONOS_PYTHON", "/usr/bin/python3")
MOST_BODIES = 130  # a step of a larger pile takes tens of seconds


def version() -> str:
    """Return the version; raises `ImportError` if the system's Python has no Siconos."""
    ask = "import siconos.kernel, importlib.metadata as m; print(m.version('siconos'))"
    try:
        answer = subprocess.run([PYTHON, "-c", ask], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ImportError(f"{PYTHON} has no siconos") from error
    return answer.stdout.split()[-1]


def make(scene: PeerScene, *, digits: int = 4) -> Siconos:
    if any(part.kind == "hull" for body in scene.bodies for part in body.parts):
        raise NotPossible("no convex hulls in our adapter")
    if scene.chain:
        raise NotPossible("its joints are solved by a dense system")
    if len(scene.bodies) > MOST_BODIES:
        raise NotPossible("a step of so large a pile takes tens of seconds")
    return Siconos(scene, digits)


class Siconos:
    """The server ``siconos_server.py`` with one scene."""

    def __init__(self, scene: PeerScene, digits: int) -> None:
        self.process = subprocess.Popen(
            [PYTHON, "-m", "benchmarks.peers.siconos_server"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.answer: dict[str, Any] = {}
        words = ("bodies", "planes", "mu", "gravity", "h", "name")
        data = {word: value for word, value in asdict(scene).items() if word in words}
        self._ask({"scene": data, "digits": digits})

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the Siconos server ended")
        self.answer = json.loads(line)
        return self.answer

    def step(self, count: int) -> float:
        return float(self._ask({"count": count})["seconds"])

    def state(self) -> Motion:
        q, v = np.array(self.answer["q"]), np.array(self.answer["v"])
        return Motion(q[:, :3], q[:, 3:], v)

    def contact_count(self) -> int:
        return int(self.answer["contacts"])

    def impulses(self) -> Impulses | None:
        return None

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
