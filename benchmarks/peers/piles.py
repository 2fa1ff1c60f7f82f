"""Settled piles: those that are shipped, those kept from an earlier run, else settled now by our own engine.

``settled/*.npz`` hold positions and quaternions of the smaller piles. Others are kept in the user's cache folder, or in
that named by ``SIGNORINI_PILES``, never in the repository.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from benchmarks.peers.ours import Ours
from benchmarks.peers.scenes import Motion, PeerScene, box_pile, hull_pile, settled, sphere_pile

SHIPPED = Path(__file__).parent / "settled"
PILES = {"settled": sphere_pile, "boxes": box_pile, "hulls": hull_pile}
QUIET = 1e-5  # median speed of a pile at rest, in units of what gravity gives in a step
RIGID = 10  # times in a row that it was found rigid
MOST_SECONDS = 20.0  # of simulated time


def kept() -> Path:
    """Return the folder of piles that are not shipped."""
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return Path(os.environ.get("SIGNORINI_PILES", base / "signorini" / "piles"))


def settled_pile(kind: str, count: int, steps: int) -> PeerScene:
    """Return the pile of `count` bodies at rest; `kind` is settled (spheres), boxes or hulls."""
    pile, name = PILES[kind](count), f"{kind}_{count}"
    for folder in (SHIPPED, kept()):
        if (path := folder / f"{name}.npz").is_file():
            data = np.load(path)
            return settled(pile, name, data["position"], data["quaternion"], steps)
    motion = settle(pile)
    kept().mkdir(parents=True, exist_ok=True)
    np.savez_compressed(kept() / f"{name}.npz", position=motion.position, quaternion=motion.quaternion)
    return settled(pile, name, motion.position, motion.quaternion, steps)


def settle(pile: PeerScene) -> Motion:
    """Let a pile fall and come to rest in our engine."""
    engine, began = Ours(pile, "run"), time.perf_counter()
    chunk = 20
    quiet, rigid = QUIET * pile.h * float(np.linalg.norm(pile.gravity)), 0
    for taken in range(chunk, round(MOST_SECONDS / pile.h), chunk):
        engine.step(chunk)
        motion = engine.state()
        speed = float(np.median(np.linalg.norm(motion.velocity[:, :3], axis=1)))
        rigid = 0 if engine.is_compliant() else rigid + 1
        print(
            f"settling {pile.name}: {taken * pile.h:.2f} s, median speed {speed:.1e} m/s, "
            f"{time.perf_counter() - began:.0f} s by the clock",
            flush=True,
        )
        if speed < quiet and rigid >= RIGID:
            break
    return motion
