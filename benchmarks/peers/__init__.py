"""Scenes, engines and the checker of ``bench_peers.py``: other people's simulators beside ours, judged alike."""
