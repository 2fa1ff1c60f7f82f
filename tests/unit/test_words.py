"""One word, one meaning: names use the words of ``developing.rst`` only where they mean what they are said to mean."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "signorini"
NOWHERE = "no name"
ALIASES = {"signorini.engine.arrays": "ea", "signorini.engine.joints.arrays": "ja"}


def words() -> dict[str, tuple[str, ...]]:
    """Return the words of the table, and where names may have them: files or folders of the package."""
    text = (ROOT / "docs" / "developing.rst").read_text(encoding="utf-8")
    table = re.search(r"^Words\n-+\n.*?(^=+ +=+ +=+$.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    ruler, _, _, *lines = table[1].splitlines()
    begins = [match.start() for match in re.finditer(r"=+", ruler)]
    found: dict[str, str] = {}
    word = ""
    for line in lines:
        word = line[: begins[1]].strip() or word
        if not line.startswith("="):
            found[word] = f"{found.get(word, '')} {line[begins[2] :]}".strip()
    places = {word: re.findall(r"[\w/]+(?:\.py)?", where) for word, where in found.items() if where != NOWHERE}
    return {word: tuple(places.get(word, ())) for word in found}


WORDS = words()


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the names that a file gives: itself, classes, functions, what they keep, constants, modules it imports."""
    tree, found = ast.parse(path.read_text(encoding="utf-8")), {path.stem}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name, body=body):
                fields = [line.target for line in body if isinstance(line, ast.AnnAssign)]
                found |= {name, *(field.id for field in fields if isinstance(field, ast.Name))}
            case ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(asname=str(name)):
                found.add(name)
    constants = [line for line in tree.body if isinstance(line, ast.Assign | ast.AnnAssign)]
    stored = [node for line in constants for node in ast.walk(line) if isinstance(node, ast.Name)]
    found |= {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    return frozenset(found)


def is_in(word: str, name: str) -> bool:
    """Tell whether a name has a word, in one of its forms, among those that it is made of."""
    pieces = re.findall(r"[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]+", name)
    return any(re.fullmatch(rf"{word.removesuffix('e')}(e|s|es|ed|d|ing|ion|able)?", piece.lower()) for piece in pieces)


def uses(word: str) -> dict[str, list[str]]:
    """Return the names that have a word, by file."""
    found = {path.relative_to(PACKAGE).as_posix(): names_in(path) for path in sorted(PACKAGE.rglob("*.py"))}
    return {file: own for file, names in found.items() if (own := sorted(name for name in names if is_in(word, name)))}


def test_words_are_found() -> None:
    """An empty table would pass all tests below."""
    assert {"excerpt", "part", "room", "capacity", "detect"} <= set(WORDS)
    assert [is_in("part", name) for name in ("_in_parts", "MOST_PARTED", "PartOf", "partial", "apart")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def is_within(file: str, folder: str) -> bool:
    """Tell whether a file is this one, or in this folder."""
    return f"{file}/".startswith(f"{folder}/")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_used_only_where_it_has_its_meaning(word: str) -> None:
    used = uses(word)
    assert {file: used[file] for file in used if not any(is_within(file, folder) for folder in WORDS[word])} == {}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_used_where_it_is_said_to_be(word: str) -> None:
    assert [folder for folder in WORDS[word] if not any(is_within(file, folder) for file in uses(word))] == []


def test_modules_of_arrays_have_one_name_each() -> None:
    """``at``, which is where something begins, is none."""
    other = []
    for path in (path for folder in ("src", "tests", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                aliases = {f"{node.module}.{one.name}": one.asname for one in node.names if one.asname}
                wrong = [name for name, alias in aliases.items() if alias == "at" or ALIASES.get(name, alias) != alias]
                other += [f"{path.relative_to(ROOT)}: {name}" for name in wrong]
    assert other == []
