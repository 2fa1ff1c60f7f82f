"""Settings shared by all tests."""

from __future__ import annotations

import matplotlib
import pytest
from hypothesis import settings

matplotlib.use("Agg")

# Compilation inside an example breaks any deadline; the seed is fixed so that a failure can be repeated.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before several workers run the whole suite, compile once what all of them need."""
    config = session.config
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if whole and getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        from tests.compile_ahead import compile_ahead

        compile_ahead()
