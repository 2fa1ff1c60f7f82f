"""YAML as data and nothing else.

The language is the part of YAML that people mean: mappings with string keys, lists, text, ``true`` and ``false``,
``null`` and decimal numbers. Tags, aliases and merges are refused, so that a file can neither run code nor grow in
memory. YAML 1.1 reads ``1e-3`` as text, ``1:30`` as ninety and ``no`` as false; here the first is a number and
the others are text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml

from signorini.errors import FileError
from signorini.io.replace import reason, replacing

WIDTH = 120
"""Columns of a written file; a mapping or list that fits stands on one line."""

_NULL = re.compile(r"~|null|")
_BOOL = re.compile(r"true|false|True|False")
_INT = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
# The first pattern that matches the whole text decides; a whole number also matches the pattern of floats.
_KINDS = (("null", _NULL), ("bool", _BOOL), ("int", _INT), ("float", _FLOAT))


class _DataResolver(yaml.resolver.BaseResolver):
    """What plain text means: shared by reading and writing, so that text which looks like a number is quoted."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            for name, pattern in _KINDS:
                if pattern.fullmatch(value):
                    return f"tag:yaml.org,2002:{name}"
        return {
            yaml.ScalarNode: "tag:yaml.org,2002:str",
            yaml.SequenceNode: "tag:yaml.org,2002:seq",
            yaml.MappingNode: "tag:yaml.org,2002:map",
        }[kind]


class _Loader(
    yaml.reader.Reader,
    yaml.scanner.Scanner,
    yaml.parser.Parser,
    yaml.composer.Composer,
    yaml.constructor.BaseConstructor,
    _DataResolver,
):
    """Reads data: every other tag is an error, and so are aliases and repeated keys."""

    def __init__(self, stream: bytes) -> None:
        yaml.reader.Reader.__init__(self, stream)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)
        yaml.composer.Composer.__init__(self)
        yaml.constructor.BaseConstructor.__init__(self)
        _DataResolver.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(
                problem=f"alias '*{event.anchor}' is not allowed, write the value itself", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind == "map" and isinstance(node, yaml.MappingNode):
            return self._construct_map(node)
        if kind == "seq" and isinstance(node, yaml.SequenceNode):
            return [self.construct_object(item) for item in node.value]
        if kind in _READ and isinstance(node, yaml.ScalarNode):
            try:
                return _READ[kind](node.value)
            except (ValueError, KeyError) as error:
                problem = f"{node.value[:40]!r} cannot be read as {kind}"
                raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark) from error
        problem = f"tag '{node.tag}' is not allowed, a file holds data only"
        raise yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)

    def _construct_map(self, node: Any) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != "tag:yaml.org,2002:str":
                problem = f"key {key!r} must be text" if isinstance(key, str) else "a key must be text"
                raise yaml.constructor.ConstructorError(problem=problem, problem_mark=key_node.start_mark)
            if key in data:
                problem = f"key {key!r} is given twice"
                raise yaml.constructor.ConstructorError(problem=problem, problem_mark=key_node.start_mark)
            data[key] = self.construct_object(value_node)
        return data


def _float(text: str) -> float:
    return float(text.replace(".inf", "inf").replace(".nan", "nan")) if text[-1] in "fn" else float(text)


_READ: dict[str, Any] = {
    "null": lambda text: {"~": None, "null": None, "": None}[text],
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": int,
    "float": lambda text: _float(text.lower()),
    "str": str,
}


class _Dumper(yaml.emitter.Emitter, yaml.serializer.Serializer, yaml.representer.SafeRepresenter, _DataResolver):
    """Writes data; text that would be read as something else is quoted."""

    def __init__(self, stream: Any) -> None:
        yaml.emitter.Emitter.__init__(self, stream, width=WIDTH, allow_unicode=True)
        yaml.serializer.Serializer.__init__(self)
        yaml.representer.SafeRepresenter.__init__(self, sort_keys=False)
        _DataResolver.__init__(self)

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent(self, data: Any) -> None:
        node = self.represent_data(data)
        _lay_out(node, 0)
        self.serialize(node)


def _lay_out(node: Any, depth: int) -> None:
    """Put on one line what fits there; the outermost level always has a line for each key."""
    if isinstance(node, yaml.ScalarNode):
        return
    items = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    numbers = isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in items)
    node.flow_style = not items or numbers or (depth > 0 and _length(node) + 4 * depth + 12 <= WIDTH)
    for item in items:
        _lay_out(item, depth + 1)


def _length(node: Any) -> int:
    """Return the columns that a node takes on one line."""
    if isinstance(node, yaml.ScalarNode):
        return len(node.value) + 2
    if isinstance(node, yaml.MappingNode):
        return 2 + sum(_length(key) + 2 + _length(value) for key, value in node.value)
    return 2 + sum(_length(item) for item in node.value)


def read_yaml(path: str | os.PathLike[str]) -> Any:
    """Read a YAML file as dicts, lists, text, numbers, booleans and None.

    Raises
    ------
    FileError
        If the file cannot be read or is not such data; the message names the line.
    """
    try:
        loader = _Loader(Path(path).read_bytes())
        return loader.get_single_data()
    except OSError as error:
        raise FileError(f"{path}: cannot read: {reason(error)}") from error
    except RecursionError as error:
        raise FileError(f"{path}: is nested too deeply") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" line {mark.line + 1}:" if mark is not None else ""
        raise FileError(f"{path}:{line} {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise FileError(f"{path}: is not text in UTF-8: {reason(error)}") from error


def write_yaml(path: str | os.PathLike[str], data: Any) -> None:
    """Write dicts, lists, text, numbers, booleans and None so that :func:`read_yaml` gives them back exactly.

    Vectors and everything else that fits stand on one line.
    """
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        dumper = _Dumper(file)
        dumper.open()
        dumper.represent(data)
        dumper.close()
