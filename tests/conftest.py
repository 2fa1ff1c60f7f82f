"""Settings shared by all tests."""

from __future__ import annotations

import matplotlib
from hypothesis import settings

matplotlib.use("Agg")

# Compilation inside an example breaks any deadline; the seed is fixed so that a failure can be repeated.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
