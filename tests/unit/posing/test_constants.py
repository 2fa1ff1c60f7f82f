"""No hidden dials: every constant of the step stands in one table, described, and nowhere else."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import signorini
from signorini._constants import Constant, read
from signorini.posing.constants import table

SOURCE = Path(signorini.__file__).parent
TABLE = {constant.name: constant for constant in table()}
LAYOUT = {
    "dynamics/flight.py": {"TURNED", "SPUN", "FLIGHT_COLUMNS"},
    "engine/arrays.py": {"CLOSE"},
    "engine/joints/close.py": {"CLOSES", "CLOSES_NEXT", "GOES_ON", "FAILS"},
    "engine/meet.py": {"FREE_WAYS", "POSE_AGAIN", "TOO_SMALL"},
    "engine/mend.py": {"CLEAR", "POSE_AGAIN", "TOO_SMALL"},
    "engine/excerpt.py": {"_HEAD", "_NUMBERS"},
    "engine/poisson_tables.py": {"_BLOCKS", "_BY_PYTHON"},
    "engine/run.py": {"UNKNOWN"},
    "posing/passive_law.py": {"SETTLED"},
    "solvers/island_couples.py": {"PATH_COLUMNS"},
    "solvers/island_lu.py": {"_WORD", "_WIDE"},
    "solvers/island_table.py": {"VECTORS", "NODE_VECTORS", "LINE"},
}
"""Numbers of columns, words and outcomes, by file: no quantities."""
FORMULAE: dict[str, set[float]] = {
    "dynamics/flight.py": {10395.0, 1260.0, 21.0, 4725.0, 210.0},  # the continued fraction of tan
    "engine/joints/springs.py": {0.75, 0.25},  # means of a spring's stretch, see dynamics/joint_springs
    "solvers/island_couple_interior.py": {1000.0},  # as good as no bound of a step
    "engine/cut.py": {1e300, -1e300},  # as good as infinite
}
"""Numbers that follow from an equation, or stand for none."""
HALVES_AND_WHOLES = {0.0, 0.5, 1.0, 2.0, 3.0}


def step_files() -> list[Path]:
    names = ("engine/**/*.py", "posing/gap_law.py", "posing/passive_law.py", "solvers/island_*.py")
    files = [path for name in names for path in SOURCE.glob(name)]
    files += [SOURCE / "dynamics" / name for name in ("bodies.py", "flight.py", "joint_springs.py", "limits.py")]
    return sorted(path for path in files if path.name != "island_constants.py")


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def number_of(node: ast.AST) -> float | None:
    """Return the number that an expression is by itself, if it is one."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return number_of(inner)
        case ast.BinOp(left=left, right=right):
            return 0.0 if None not in (number_of(left), number_of(right)) else None
    return None


def own_constants(tree: ast.Module) -> set[str]:
    """Return the names that a file gives to numbers."""
    found = set()
    for line in tree.body:
        if isinstance(line, ast.Assign | ast.AnnAssign) and line.value is not None:
            target: Any = line.targets[0] if isinstance(line, ast.Assign) else line.target
            names: list[Any] = target.elts if isinstance(target, ast.Tuple) else [target]
            values = line.value.elts if isinstance(line.value, ast.Tuple) else [line.value]
            if len(names) == len(values):
                found |= {n.id for n, v in zip(names, values, strict=True) if number_of(v) is not None}
    return found


@pytest.mark.parametrize("path", step_files(), ids=name)
def test_no_file_of_the_step_has_constants_of_its_own(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert own_constants(tree) == LAYOUT.get(name(path), set())
    functions = [line for line in tree.body if isinstance(line, ast.FunctionDef)]
    bare = {n.value for f in functions for n in ast.walk(f) if isinstance(n, ast.Constant) and type(n.value) is float}
    allowed = HALVES_AND_WHOLES | {abs(x) for x in FORMULAE.get(name(path), set())}
    assert bare <= allowed, bare - allowed


def test_every_name_stands_once_for_a_plain_number() -> None:
    """Kernels freeze plain numbers; the table gives what kernels were given."""
    assert len(TABLE) == len(table())
    for constant in TABLE.values():
        assert type(constant.value) in (int, float), constant.name
        assert constant.unit
        assert constant.reason.endswith((".", "..."))
        assert constant.found.endswith(".")


def test_constants_that_are_not_described_are_refused() -> None:
    module = ModuleType("undescribed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "undescribed", module)
        patch.setattr("inspect.getsource", lambda _: 'ONE: Final = 1.0\n"""Law [m]. So long. Found: measured."""\n')
        module.ONE = 1.0  # type: ignore[attr-defined]
        assert read(module) == (Constant("ONE", 1.0, True, "m", "So long.", "measured."),)
        patch.setattr("inspect.getsource", lambda _: 'ONE: Final = 1.0\n"""A metre."""\n')
        with pytest.raises(ValueError, match=r"undescribed\.ONE"):
            read(module)


def test_every_constant_is_used() -> None:
    """What nothing reads is deleted."""
    words: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        if path.name not in ("constants.py", "island_constants.py"):
            words |= {n.id for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Name)}
    own = ast.parse((SOURCE / "posing" / "constants.py").read_text(encoding="utf-8"))
    words |= {n.id for n in ast.walk(own) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert set(TABLE) <= words, set(TABLE) - words
