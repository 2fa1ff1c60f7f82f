"""The command line as on a machine where everything is compiled already."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def compiled_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the word about the first run, and its second process, out of tests that count lines."""
    monkeypatch.setattr("signorini.cli.output.is_cold", lambda: False)
    monkeypatch.setattr("signorini.engine.warming.is_compiled", lambda _: True)
