"""Every array of the engine is declared once, beside its number, and used as it is declared."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import signorini as sg
from signorini._arena import Arena
from signorini.dynamics import flight
from signorini.engine import arrays as ea
from signorini.engine import cut
from signorini.engine.joints import arrays as ja
from signorini.engine.workspace import Options, Workspace
from signorini.posing import passive_law
from signorini.scene import compile_scene
from signorini.solvers import island_table
from tests.joint_scenes import everything
from tests.scenes import stack

ENGINE = Path(ea.__file__).parent
FILES = sorted(ENGINE.rglob("*.py"))
ACCESSORS = {
    "reals": ("float", 1),
    "real_rows": ("float", 2),
    "real_blocks": ("float", 3),
    "wholes": ("int", 1),
    "whole_rows": ("int", 2),
}
TABLES = {"signorini.engine.arrays": ea, "signorini.engine.joints.arrays": ja}


@dataclass(frozen=True)
class Declared:
    """An array as its table declares it."""

    number: int
    kind: str
    shape: tuple[str, ...]

    def width(self, axis: int) -> int | None:
        """Return the length of an axis, None where it is free."""
        word = self.shape[axis]
        if word.isdigit():
            return int(word)
        for module in (ea, ja, cut, passive_law, flight, island_table):
            if len(word) > 1 and word.isupper() and hasattr(module, word):
                return int(getattr(module, word))
        assert not re.fullmatch(r"[A-Z_]{2,}", word), word
        return None


@cache
def declared(table: ModuleType) -> dict[str, Declared]:
    """Return what a table declares, by name."""
    assert table.__file__ is not None
    first, _, _ = Path(table.__file__).read_text(encoding="utf-8").partition("    ARRAY_COUNT,\n")
    names = re.findall(r"^    (\w+),(.*)$", first, re.MULTILINE)
    found = {}
    for number, (name, comment) in enumerate(names):
        said = re.match(r"  # (float|int) \(((?:[^()]|\([^()]*\))*)\)(:|$)", comment)
        assert said, f"{name} is not declared"
        shape = [word.strip() for word in re.split(r",(?![^(]*\))", said[2]) if word.strip()]
        found[name] = Declared(number, said[1], tuple(shape))
    return found


@cache
def columns(table: ModuleType) -> dict[str, frozenset[str]]:
    """Return the names of the columns of arrays: those of the block under a comment that begins with their names."""
    assert table.__file__ is not None
    found = {}
    for block in re.split(r"\n\n+", Path(table.__file__).read_text(encoding="utf-8")):
        header, _, lines = block.partition("\n")
        arrays = re.match(r"# ([A-Z_0-9]+(?:, [A-Z_0-9]+)*)(?:\b[:,]| |$)", header)
        owners = [name for name in arrays[1].split(", ") if name in declared(table)] if arrays else []
        body = ast.parse(lines) if owners else ast.parse("")
        names = {node.id for node in ast.walk(body) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        found.update({owner: frozenset(names) for owner in owners})
    return found


@dataclass(frozen=True)
class Use:
    """A place where a kernel opens an array, or takes something out of it."""

    where: str
    table: ModuleType
    name: str
    accessor: str
    index: tuple[ast.expr, ...] | None


def imported(tree: ast.Module) -> dict[str, tuple[ModuleType, str]]:
    """Return the names of arrays that a file imports by themselves."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in TABLES:
            found.update({name.asname or name.name: (TABLES[node.module], name.name) for name in node.names})
    return found


def uses(path: Path) -> list[Use]:
    """Return all places of a file where the name of an array stands by itself in an accessor."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known, found, where = imported(tree), [], path.relative_to(ENGINE).as_posix()

    def opened(node: ast.AST) -> tuple[ModuleType, str, str] | None:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ACCESSORS):
            return None
        match node.args[1]:
            case ast.Name(id=name) if name in known:
                return *known[name], node.func.id
            case ast.Attribute(value=ast.Name(id="ja"), attr=name):
                return ja, name, node.func.id
        return None

    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        variables: dict[str, set[tuple[ModuleType, str, str] | None]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                target, value = node.targets[0], node.value
                both = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                pairs = zip(target.elts, value.elts, strict=True) if both else [(target, value)]  # type: ignore[attr-defined]
                for one, what in pairs:
                    if isinstance(one, ast.Name):
                        variables.setdefault(one.id, set()).add(opened(what))
            if here := opened(node):
                found.append(Use(f"{where}:{node.lineno}", *here, None))  # type: ignore[attr-defined]
        for node in ast.walk(function):
            if not isinstance(node, ast.Subscript):
                continue
            base = opened(node.value)
            if isinstance(node.value, ast.Name) and len(variables.get(node.value.id, ())) == 1:
                (base,) = variables[node.value.id]
            if base:
                index = tuple(node.slice.elts) if isinstance(node.slice, ast.Tuple) else (node.slice,)
                found.append(Use(f"{where}:{node.lineno}", *base, index))
    return found


def called_in(index: ast.expr) -> frozenset[str]:
    """Return the names in an index, those left out that stand in indices of its own."""
    match index:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return frozenset({name})
        case ast.BinOp(left=left, right=right):
            return called_in(left) | called_in(right)
    return frozenset()


USES = [use for path in FILES for use in uses(path)]


def test_uses_are_found() -> None:
    """An empty list would pass all tests below."""
    assert len({use.name for use in USES if use.index is not None}) > 100
    assert len(USES) > 1500


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_array_is_declared(table: ModuleType) -> None:
    assert {name: int(getattr(table, name)) for name in declared(table)} == {
        name: said.number for name, said in declared(table).items()
    }
    assert len(declared(table)) == int(table.ARRAY_COUNT)
    for said in declared(table).values():
        assert [said.width(axis) for axis in range(len(said.shape))]


def test_kernels_open_arrays_as_they_are_declared() -> None:
    wrong = [
        f"{use.where}: {use.accessor}(..., {use.name})"
        for use in USES
        if ACCESSORS[use.accessor] != (declared(use.table)[use.name].kind, len(declared(use.table)[use.name].shape))
    ]
    assert wrong == []


def test_no_index_is_beyond_its_array() -> None:
    """Numba checks no bounds."""
    wrong = []
    for use in (use for use in USES if use.index is not None):
        said = declared(use.table)[use.name]
        assert use.index is not None
        beyond = len(use.index) > len(said.shape)
        for axis, index in enumerate(use.index[: len(said.shape)]):
            width = said.width(axis)
            if isinstance(index, ast.Constant) and isinstance(index.value, int) and width is not None:
                beyond |= index.value >= width
        if beyond:
            wrong.append(f"{use.where}: {use.name}")
    assert wrong == []


def test_columns_with_names_are_called_by_them() -> None:
    """By their own: no bare numbers, no columns of another array."""
    every = frozenset(name for table in TABLES.values() for group in columns(table).values() for name in group)
    wrong = []
    for use in (use for use in USES if use.index is not None):
        own, said = columns(use.table).get(use.name), declared(use.table)[use.name]
        assert use.index is not None
        if own is None or len(use.index) != len(said.shape):
            continue
        last = use.index[-1]
        first = last.left if isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add) else last
        bare = isinstance(first, ast.Constant)
        if bare and not called_in(last) & own:
            wrong.append(f"{use.where}: {use.name}[..., {ast.unparse(last)}]")
        if not called_in(last) & every <= own:
            wrong.append(f"{use.where}: {use.name}[..., {called_in(last) & every - own}]")
    assert wrong == []


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_named_columns_belong_to_arrays(table: ModuleType) -> None:
    """No two columns of a table of columns are the same, apart from those of the log; all are in their array."""
    assert len(columns(table)) > 8
    for owner, names in columns(table).items():
        width = declared(table)[owner].width(-1)
        numbers = [int(getattr(table, name)) for name in names if not name.endswith(("_COLUMNS", "_COUNT", "LOG_MODE"))]
        assert len(set(numbers)) == len(numbers), owner
        assert width is None or all(number < width for number in numbers), owner


def test_no_column_has_two_names() -> None:
    """Nothing in the engine calls an array or a column by another name."""
    aliases = []
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = imported(tree) if path.stem != "arrays" else dict.fromkeys(vars(ea) | vars(ja))
        given = [line for line in tree.body if isinstance(line, ast.Assign) and isinstance(line.value, ast.Name)]
        aliases += [f"{path.name}: {ast.unparse(line)}" for line in given if ast.unparse(line.value) in known]
    assert aliases == []


def workspace_of(scene: sg.Scene, **more: Any) -> Workspace:
    options = {"gyroscopic": "conserving", "soft": True, **more}
    return Workspace(compile_scene(scene), 1e-3, 1e-8, Options(**options))


def with_couples() -> sg.Scene:
    scene = stack(2)
    scene.contact = replace(scene.contact, torsional=0.01)
    return scene


def differing(arena: Arena, table: ModuleType) -> dict[str, Any]:
    """Return the arrays that are not what their table declares; those without rows may be of any kind."""
    wrong = {}
    for name, said in declared(table).items():
        array = arena[said.number]
        if array.shape[0] == 0:
            continue
        widths = [said.width(axis) for axis in range(len(said.shape))]
        fits = array.dtype == (np.float64 if said.kind == "float" else np.int64) and array.ndim == len(widths)
        if not fits or any(w is not None and w != n for w, n in zip(widths, array.shape, strict=True)):
            wrong[name] = (array.dtype, array.shape)
    return wrong


@pytest.mark.parametrize(
    "make",
    [
        lambda: workspace_of(stack(3), sleeps=True),
        lambda: workspace_of(stack(2), restitution="poisson"),
        lambda: workspace_of(with_couples()),
        lambda: workspace_of(everything()),
    ],
    ids=["stack", "phases", "couples", "joints"],
)
def test_arrays_are_made_as_they_are_declared(make: Any) -> None:
    made = make()
    made.log(3, keep_contacts=True)
    assert differing(made.arena, ea) == {}
    if made.joints is not None:
        assert differing(made.joints.arena, ja) == {}
