"""The pages of the documentation say what is true: their examples run, and what they name is there."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import signorini as sg
from signorini._jit import announce_compilation

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "signorini"
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.rst")) if "gallery" not in page.parts]
THEORY = [page for page in PAGES if page.parent.name == "theory"]


def name(page: Path) -> str:
    return page.relative_to(ROOT / "docs").as_posix()


def test_pages_are_found() -> None:
    """An empty list would pass all tests below."""
    assert {"extending.rst", "theory/time_stepping.rst"} <= {name(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_examples_run(page: Path) -> None:
    assert doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_pages_name_are_there(page: Path) -> None:
    named = set(re.findall(r"``([\w/]+/\w+\.py)``", page.read_text(encoding="utf-8")))
    assert {file for file in named if not (PACKAGE / file).exists() and not (ROOT / file).exists()} == set()


@pytest.mark.parametrize("page", THEORY, ids=name)
def test_names_of_code_in_tables_of_symbols_are_there(page: Path) -> None:
    """The third column of a table of symbols names code; each of its words is a name somewhere in the sources."""
    text = page.read_text(encoding="utf-8")
    table = re.search(r"^Symbols\n-+\n\n(=[= ]+)\n.*?\n\1\n(.*?)\n\1$", text, re.MULTILINE | re.DOTALL)
    if page.name == "impacts.rst":  # laws of our own, explained where they are used
        assert table is None
        return
    assert table is not None, "has no table of symbols"
    columns = [match.span() for match in re.finditer("=+", table[1])]
    cells = [line[slice(*columns[2])] for line in table[2].splitlines()]
    words = {
        word for cell in cells for code in re.findall(r"``(.+?)``", cell) for word in re.findall(r"[A-Za-z]\w*", code)
    }
    assert len(words) > 5
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    assert {word for word in words if not re.search(rf"\b{word}\b", sources)} == set()


@pytest.mark.parametrize("page", [page for page in THEORY if page.name != "impacts.rst"], ids=name)
def test_pages_of_papers_tell_their_errata(page: Path) -> None:
    assert re.search(r"^Errata of the (paper|slides)\n-+\n", page.read_text(encoding="utf-8"), re.MULTILINE)


def in_api() -> set[str]:
    """Return the names that the page of the interface describes, with their modules."""
    module, found = "", set()
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    for directive, argument in re.findall(r"^\.\. (\w+):: (\S+)$", text, re.MULTILINE):
        if directive == "currentmodule":
            module = argument
        else:
            assert f"{module}.{argument}" not in found, f"{argument} is described twice"
            found.add(f"{module}.{argument}")
    return found


def public_names() -> set[str]:
    """Return all names that the package and its rooms offer; what the package offers counts there alone."""
    rooms = [import_module(f"signorini.{path.parent.name}") for path in sorted(PACKAGE.glob("*/__init__.py"))]
    offered = {
        f"{room.__name__}.{name}" for room in rooms for name in getattr(room, "__all__", ()) if name not in sg.__all__
    }
    return offered | {f"signorini.{name}" for name in sg.__all__}


def test_interface_describes_every_public_name_and_no_other() -> None:
    assert in_api() == public_names()


FIRST_RUN = "what steps need, on two cores in 10 to 60 seconds"
WHILE_STEPPING = "by a second process while steps are already taken"


@pytest.mark.parametrize("page", ["README.md", "docs/start.rst", "docs/developing.rst"])
def test_first_compilation_is_told_one_way(page: str) -> None:
    words = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"compiles {FIRST_RUN}; what bodies at rest need is compiled {WHILE_STEPPING}" in words


def test_message_of_the_first_compilation_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    announce_compilation.__wrapped__()
    assert "(10 to 60 seconds on two cores)" in capsys.readouterr().err


def test_nobody_tells_of_another_time_for_compilation() -> None:
    """No other sentence on compilation speaks of minutes."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES, *PACKAGE.rglob("*.py")]
    other = re.compile(r"compil(?:es|ed|ing|ation)[^.;:]*\bminutes?\b|\bminutes?\b[^.;:]*compil(?:es|ed|ing|ation)")
    assert [file.name for file in files if other.search(" ".join(file.read_text(encoding="utf-8").split()))] == []
