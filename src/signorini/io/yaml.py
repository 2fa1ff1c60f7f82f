"""YAML as data and nothing else.

The language is the part of YAML that people mean: mappings with keys of text, lists, text, ``true`` and ``false``,
``null`` and decimal numbers. Tags are refused, so that a file can never run code. An alias stands for a value that is
complete, and a small file of aliases that means a huge one is refused. YAML 1.1 reads ``1e-3`` as text, ``1:30`` as
ninety and ``no`` as false; here the first is a number and the others are text.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

import yaml

from signorini.errors import FileError, InputError
from signorini.io.limits import MOST_NESTING, MOST_TEXT, clipped, short
from signorini.io.replace import reason, replacing

_MOST_VALUES = 10_000_000  # that a file may mean, aliases written out
_WIDTH = 120  # columns of a written file; a mapping or list that fits stands on one line
_NUMBER = re.compile(r"[-+]?(?:[0-9]+|(?P<float>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?))")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
_WORDS |= {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
_PLAIN = re.compile(r"[A-Za-z_](?:[\w .-]*[\w.-])?", re.ASCII)
_OTHERS_WORDS = {"yes", "no", "on", "off", "y", "n"}  # quoted for readers that keep to YAML 1.1
# The parser of PyYAML's compiled half is ten times as fast; both give the same events.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: str | os.PathLike[str]) -> Any:
    """Read a YAML file as dicts, lists, text, numbers, booleans and None.

    Raises
    ------
    FileError
        If the file cannot be read or is not such data; the message names the line.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_TEXT + 1)  # no more, whatever the file is: a device may never end
        if len(content) > MOST_TEXT:
            raise FileError(f"{path}: is longer than {MOST_TEXT >> 20} MB, the most that a scene file may be")
        return _document(content.decode("utf-8-sig"))
    except OSError as error:
        raise FileError(f"{path}: cannot read: {reason(error)}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not text in UTF-8") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" line {mark.line + 1}:" if mark is not None else ""
        raise FileError(f"{path}:{line} {clipped(error.problem or error.context or '', 150)}") from error
    except yaml.YAMLError as error:
        raise FileError(f"{path}: is not YAML: {clipped(reason(error), 150)}") from error


class _Open:
    """A list or mapping that is being read; `key` is the last key of a mapping whose value has not come yet."""

    __slots__ = ("anchor", "key", "size", "value")

    def __init__(self, value: Any, anchor: str | None = None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.size = 1


def _document(text: str) -> Any:
    """Build the data of a text with one document from its events, without recursion."""
    root = _Open([])
    stack = [root]
    anchors: dict[str, tuple[Any, int]] = {}  # value and size
    for event in yaml.parse(text, Loader=_LOADER):
        match event:
            case yaml.ScalarEvent():
                value = _scalar(event)
                _put(stack[-1], value, 1, event)
                if event.anchor:
                    anchors[event.anchor] = value, 1
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                _refuse_tag(event)
                inner = _Open({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor)
                _put(stack[-1], inner.value, 0, event)
                stack.append(inner)
                if len(stack) > MOST_NESTING:
                    raise _error(event, f"lists and mappings are nested more than {MOST_NESTING} deep")
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                done = stack.pop()
                stack[-1].size += done.size
                if done.anchor:
                    anchors[done.anchor] = done.value, done.size
            case yaml.AliasEvent():
                if event.anchor not in anchors:
                    raise _error(event, f"alias '*{event.anchor}' must stand for a value that is complete before it")
                _put(stack[-1], *anchors[event.anchor], event)
            case yaml.DocumentStartEvent() if root.value:
                raise _error(event, "a second document begins, there must be one")
    return root.value[0] if root.value else None


def _put(into: _Open, value: Any, size: int, event: Any) -> None:
    """Add a value to a list, or a key or a value to a mapping."""
    into.size += size
    if into.size > _MOST_VALUES:
        raise _error(event, f"the file means more than {_MOST_VALUES} values")
    if isinstance(into.value, list):
        into.value.append(value)
    elif into.key is not None:
        into.value[into.key] = value
        into.key = None
    elif not isinstance(value, str):
        raise _error(event, f"key {short(getattr(event, 'value', ''))} must be text")
    elif value in into.value:
        raise _error(event, f"key {short(value)} is given twice")
    else:
        into.key = value


def _scalar(event: Any) -> Any:
    """Return what a scalar means; quoted ones and blocks are text."""
    _refuse_tag(event)
    text = event.value
    if not event.implicit[0]:
        return text
    number = _NUMBER.fullmatch(text)
    if number is None:
        return _WORDS.get(text.lower(), text)
    if number["float"]:
        return float(text)
    try:
        return int(text)
    except ValueError as error:
        raise _error(event, f"the number has {len(text)} digits, must have fewer") from error


def _refuse_tag(event: Any) -> None:
    if event.tag is not None:
        raise _error(event, f"tag '{event.tag}' is not allowed, a file holds data only")


def _error(event: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


def write_yaml(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write dicts, lists, text, numbers, booleans and None so that :func:`read_yaml` gives them back exactly.

    Vectors, and everything else that fits, stand on one line.
    """
    _one_line(data)  # refuses what cannot be written
    lines = [line for key, value in data.items() for line in _entry(f"{_one_line(key)}:", value, 0)]
    with replacing(path) as part:
        part.write_text("\n".join(lines or ["{}"]) + "\n", encoding="utf-8", newline="\n")


def _entry(head: str, value: Any, indent: int) -> list[str]:
    """Return the lines of ``key: value`` or ``- value``, where `head` is ``key:`` or ``-``."""
    line = f"{' ' * indent}{head} {_one_line(value)}"
    if len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return [line]
    if isinstance(value, list):
        # The dashes stand below the key, or one level deeper inside another list.
        inner = indent + 2 if head == "-" else indent
        body = [line for item in value for line in _entry("-", item, inner)]
    else:
        body = [line for key, item in value.items() for line in _entry(f"{_one_line(key)}:", item, indent + 2)]
    if head != "-":
        return [f"{' ' * indent}{head}", *body]
    return [f"{' ' * indent}- {body[0].lstrip()}", *body[1:]]


def _one_line(value: Any) -> str:
    """Return data in the flow style of YAML."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else repr(value).replace("inf", ".inf").replace("nan", ".nan")
        case str():
            return value if _is_plain(value) else '"' + "".join(map(_escaped, value)) + '"'
        case list() | tuple():
            return "[" + ", ".join(map(_one_line, value)) + "]"
        case dict() if all(isinstance(key, str) for key in value):
            return "{" + ", ".join(f"{_one_line(key)}: {_one_line(item)}" for key, item in value.items()) + "}"
    raise InputError(
        f"{value!r} cannot be written as YAML, must be dicts with keys of text, lists, text, numbers or None"
    )


def _is_plain(text: str) -> bool:
    word = text.lower()
    return _PLAIN.fullmatch(text) is not None and word not in _WORDS and word not in _OTHERS_WORDS


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
