"""``signorini view``: a run in the browser."""

from __future__ import annotations

from pathlib import Path

from signorini.simulation import Trajectory


def view(path: Path, *, port: int, open_browser: bool) -> int:
    """Show the run in a file until the user interrupts."""
    viewer = Trajectory.load(path).view(port=port, open_browser=open_browser)
    print(f"{path} is shown at {viewer.url}; Ctrl+C ends it", flush=True)
    try:
        viewer.wait()
    finally:
        viewer.close()
    return 0
