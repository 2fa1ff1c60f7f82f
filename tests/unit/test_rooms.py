"""The rooms of the house: folders, tests, import contracts and the map of ``developing.rst`` agree."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "signorini"
TESTED_ELSEWHERE = {"reproduce"}  # by tests/papers
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]


def rooms_in(folder: Path) -> list[str]:
    """Return the folders of a package and of the packages in it, as ``engine`` and ``engine/joints``."""
    return sorted(path.parent.relative_to(folder).as_posix() for path in folder.glob("*/**/__init__.py"))


ROOMS = rooms_in(PACKAGE)


def rooms_on_the_map() -> list[str]:
    """Return the rooms of the table in ``developing.rst``, from top to bottom."""
    text = (ROOT / "docs" / "developing.rst").read_text(encoding="utf-8")
    section = re.search(r"^The rooms\n-+\n(.*?)^[^\n]+\n-+$", text, re.MULTILINE | re.DOTALL)
    assert section is not None
    table = re.search(r"^=[= ]+$(.*)^=[= ]+$", section[1], re.MULTILINE | re.DOTALL)
    assert table is not None
    return re.findall(r"^``([\w/]+)``", table[1], re.MULTILINE)


def layers() -> list[list[str]]:
    """Return the rooms and modules of the contract, layer by layer, from top to bottom."""
    lines: list[str] = CONTRACTS[0]["layers"]
    return [[name.strip("() ").removeprefix("signorini.") for name in line.split("|")] for line in lines]


def test_rooms_are_found() -> None:
    """Empty lists would pass all tests below."""
    assert {"io", "engine", "engine/joints"} <= set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_room_says_what_it_is_for(room: str) -> None:
    assert ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")))


def test_every_folder_of_modules_is_a_room() -> None:
    """A folder without ``__init__.py`` could be imported all the same."""
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")} - {"."}
    assert folders == set(ROOMS)


def test_map_shows_every_room_once_and_no_other() -> None:
    assert sorted(rooms_on_the_map()) == ROOMS


def test_every_room_is_under_contract_and_every_contract_has_its_room() -> None:
    """A room that no contract names could import anything."""
    named = [name for layer in layers() for name in layer]
    assert sorted(name for name in named if not (PACKAGE / f"{name}.py").exists()) == [r for r in ROOMS if "/" not in r]
    assert CONTRACTS[-1]["source_modules"] == ["signorini"]  # the door to Numba


def test_map_is_in_the_order_of_the_contract() -> None:
    """Who reads it from top to bottom reads whom each room may import: those below."""
    height = {name: -k for k, layer in enumerate(layers()) for name in layer}
    heights = [height[room.partition("/")[0]] for room in rooms_on_the_map()]
    assert heights == sorted(heights, reverse=True)


def test_modules_that_contracts_name_are_there() -> None:
    """The linter passes over some names that are not."""
    named = set()
    for contract in CONTRACTS:
        roots = contract.get("containers", [""])
        lines = [
            *contract.get("layers", ()),
            *contract.get("source_modules", ()),
            *contract.get("forbidden_modules", ()),
        ]
        for line in lines:
            named |= {f"{root}.{name.strip('() ')}".lstrip(".") for root in roots for name in line.split("|")}
    places = [ROOT / "src" / name.replace(".", "/") for name in named - {"numba"}]
    assert [place for place in places if not place.is_dir() and not place.with_suffix(".py").exists()] == []


def test_unit_tests_have_the_same_rooms() -> None:
    assert rooms_in(ROOT / "tests" / "unit") == [room for room in ROOMS if room not in TESTED_ELSEWHERE]
