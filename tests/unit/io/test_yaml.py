from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from signorini.errors import FileError, InputError
from signorini.io import read_yaml, write_yaml


def read(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "data.yaml"
    path.write_text(text, encoding="utf-8")
    return read_yaml(path)


texts = st.text(st.characters(codec="utf-8"))
# Text that is a number, a word or punctuation to some reader of YAML.
LOOKS = "~|null|true|False|no|On|1|-1|1e3|1.|.5|.inf|.NaN|1:30|0x1f|*a|&a|!a|[|}|%a|@a|`a|'a'|\"a\"|---|...|<<|="
looks_like_something = st.sampled_from([*re.split(r"\|", LOOKS), "", "a: b", "# a", "- a", "? a", "a #b", " a", "a "])
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts, looks_like_something)
keys = st.one_of(texts, looks_like_something)
data = st.dictionaries(
    keys,
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=25
    ),
    max_size=5,
)


@given(data)
def test_round_trip_is_exact(tree: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_yaml(Path(folder) / "data.yaml", tree)
        # repr tells -0.0 from 0.0, 1 from 1.0 and True, and writes every nan alike.
        assert repr(read_yaml(Path(folder) / "data.yaml")) == repr(tree)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("-2e+1", -20.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("+7", 7),
        ("010", 10),
        ("-.inf", -math.inf),
        ("no", "no"),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("true", True),
        ("null", None),
        ("", None),
        ("[1, [2.5, a]]", [1, [2.5, "a"]]),
        ("{b: {}}", {"b": {}}),
    ],
)
def test_meaning_of_values(tmp_path: Path, text: str, value: Any) -> None:
    read_value = read(tmp_path, f"key: {text}\n")["key"]
    assert read_value == value
    assert type(read_value) is type(value)


def test_empty_file_is_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "# only a comment\n") is None


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, ""),
        ("a: 1\nb: 2\na: 3\n", 3, "key 'a' is given twice"),
        ("x: {r: 1, r: 2}\n", 1, "key 'r' is given twice"),
        ("1: 2\n", 1, "key '1' must be text"),
        ("a: 1\n? [b]\n: 2\n", 2, "must be text"),
        ("a: 1\nb: *x\n", 2, "alias '*x'"),
        ("a: &x\n- *x\n", 2, "alias '*x' must stand for a value that is complete"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a:\n\t- b\n", 2, ""),
        ("a: " + "9" * 5000, 1, "5000 digits"),
    ],
)
def test_mistakes_name_the_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    with pytest.raises(FileError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'data.yaml'}: line {line}: ")
    assert problem in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "tagged",
    ["!!python/object/apply:os.getcwd []", "!!python/name:os.system", "!!binary aGk=", "!!set {a}", "!mine {b: 1}"],
)
def test_no_tag_is_obeyed(tmp_path: Path, tagged: str) -> None:
    with pytest.raises(FileError, match=r"line 1: tag '.*' is not allowed, a file holds data only$"):
        read(tmp_path, f"a: {tagged}\n")


def test_alias_repeats_a_value(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &x [1, 2]\nb: *x\nc: [&y no, *y, *x]\n") == {
        "a": [1, 2],
        "b": [1, 2],
        "c": ["no", "no", [1, 2]],
    }


def test_file_of_aliases_cannot_blow_up(tmp_path: Path) -> None:
    """Eight lines, each ten times the one before, mean a hundred million values."""
    lines = ["a0: &a0 [1]"] + [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    with pytest.raises(FileError, match=r"line 8: the file means more than 10000000 values$"):
        read(tmp_path, "\n".join(lines))


def test_nesting_has_a_limit(tmp_path: Path) -> None:
    value = read(tmp_path, "a: " + "[" * 60 + "]" * 60)["a"]
    depth = 0
    while value:
        (value,) = value
        depth += 1
    assert depth == 59
    for depth in (65, 900, 100_000):
        with pytest.raises(FileError, match=r"line 1: lists and mappings are nested more than 64 deep$"):
            read(tmp_path, "a: " + "[" * depth + "]" * depth)


def test_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "data.yaml"
    path.write_bytes(b"a: \xff\xfe")
    with pytest.raises(FileError, match=f"^{path}: is not text in UTF-8$"):
        read_yaml(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=f"^{tmp_path / 'none.yaml'}: cannot read: No such file or directory$"):
        read_yaml(tmp_path / "none.yaml")


@pytest.mark.parametrize("value", [{"a": {1: 2}}, {"a": object()}, {3: 4}, {"a": [b"x"]}])
def test_what_cannot_be_written(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InputError, match="cannot be written as YAML, must be"):
        write_yaml(tmp_path / "data.yaml", value)
    assert list(tmp_path.iterdir()) == []


def test_layout(tmp_path: Path) -> None:
    """What fits stands on one line; a long list has a line for each item."""
    ball = {"name": "ball", "shape": {"sphere": {"radius": 1.0}}, "mass": 1.0, "position": [0.0, 0.0, 1.0]}
    long = {**ball, "velocity": [0.1234567890123] * 3}
    path = tmp_path / "data.yaml"
    write_yaml(path, {"gravity": [0, 0, -9.81], "fixed": [], "bodies": [ball, long]})
    assert path.read_text() == (
        "gravity: [0, 0, -9.81]\n"
        "fixed: []\n"
        "bodies:\n"
        "- {name: ball, shape: {sphere: {radius: 1.0}}, mass: 1.0, position: [0.0, 0.0, 1.0]}\n"
        "- name: ball\n"
        "  shape: {sphere: {radius: 1.0}}\n"
        "  mass: 1.0\n"
        "  position: [0.0, 0.0, 1.0]\n"
        "  velocity: [0.1234567890123, 0.1234567890123, 0.1234567890123]\n"
    )


def test_other_readers_understand(tmp_path: Path) -> None:
    tree = {"name": "no", "when": "1:30", "h": 0.001, "tiny": 1.5e-300, "on": True, "list": [{"a": None}, [1, 2]]}
    write_yaml(tmp_path / "data.yaml", tree)
    assert yaml.safe_load((tmp_path / "data.yaml").read_text()) == tree
