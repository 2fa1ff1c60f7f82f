"""Scene files: the words of :class:`~signorini.Scene` as YAML data.

The words and which of them are needed come from the signatures of ``Scene`` and from the fields of the shapes, so that
files and Python calls cannot drift apart. A file holds data only; unknown words are errors.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from signorini.errors import FileError, InputError, suggestion
from signorini.io import MOST_LETTERS, MOST_NAME, clipped, read_yaml, short, write_yaml
from signorini.model.layers import LAWS
from signorini.scene.flexible import Beam, Modes
from signorini.scene.mesh import Mesh
from signorini.scene.scene import Scene
from signorini.scene.shape import PlacedShape, Shape
from signorini.scene.shapes import SHAPES
from signorini.scene.writing import scene_to_dict

__all__ = ["load_scene", "save_scene", "scene_from_dict", "scene_from_text", "scene_to_dict", "scene_to_text"]

_KINDS: dict[str, type[Shape]] = SHAPES | {Mesh.word(): Mesh}

Words = Mapping[str, bool]
"""The words that may stand at a place, and whether each is needed."""


def load_scene(path: str | os.PathLike[str], *, outside: bool = False) -> Scene:
    """Read a scene file; files that it names lie in its folder or below, unless `outside` allows others.

    Raises
    ------
    FileError
        In one line: the file, the place in it, the value and what is needed.
    """
    _refuse_foreign(path)
    return scene_from_dict(read_yaml(path), os.fspath(path), Path(path).parent, outside=outside)


def save_scene(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Write a scene file from which :func:`load_scene` makes the same scene, bit for bit.

    Raises
    ------
    InputError
        If a motion, a force or a constraint is a Python function, which a file of data cannot hold.
    """
    _refuse_foreign(path)
    write_yaml(path, scene_to_dict(scene))


def scene_to_text(scene: Scene) -> str | None:
    """Return a scene as text to be kept inside another file; None if it contains Python functions."""
    try:
        # JSON, because it is written on every run: for a thousand bodies YAML takes seconds.
        return json.dumps(scene_to_dict(scene))
    except InputError:
        return None


def scene_from_text(text: str, where: str = "scene") -> Scene:
    """Make a scene from what :func:`scene_to_text` returned."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise FileError(f"{where}: the scene inside is damaged: {clipped(str(error), 150)}") from error
    return scene_from_dict(data, where)


def scene_from_dict(data: Any, where: str = "scene", folder: Path = Path(), *, outside: bool = False) -> Scene:
    """Make a scene from the content of a scene file in `folder`; errors begin with `where`."""
    place_of_files = _Folder(folder, outside)
    _check_words(data, _SCENE, where)
    planar = data.get("planar", False)
    if not isinstance(planar, bool):
        raise FileError(f"{where}: planar is {planar!r}, must be true or false")
    with _at(where, "scene: "):
        scene = Scene(gravity=_numbers(data["gravity"], "gravity") if "gravity" in data else None, planar=planar)
    for place, entry in _entries(data, "fixed", _FIXED, where):
        with _at(place, f"fixed body {entry.get('name')!r}: "):
            wall = scene.add_fixed(_shapes(entry, place, place_of_files), **_arguments(entry))
            _set_layer(scene, wall.name, entry, place)
    for place, entry in _entries(data, "bodies", _BODY, where):
        with _at(place, f"body {entry.get('name')!r}: "):
            body = scene.add_body(_shapes(entry, place, place_of_files), **_arguments(entry))
            _set_layer(scene, body.name, entry, place)
    for place, entry in _entries(data, "flexible", _FLEXIBLE, where):
        with _at(place, f"flexible body {entry.get('name')!r}: "):
            scene.add_flexible(_bending(entry, place), **_flexible_arguments(entry, place, place_of_files))
    if "contact" in data:
        _check_words(data["contact"], _CONTACT, f"{where}: contact")
        with _at(where):
            scene.set_contact(**_arguments(data["contact"]))
    for place, entry in _entries(data, "pairs", _PAIR, where):
        with _at(place):
            scene.set_contact(**_arguments(entry))
    for k, pair in enumerate(_list(data, "exclude", where)):
        with _at(f"{where}: exclude[{k}]"):
            scene.exclude(*_pair(pair, "pair"))
    for place, entry in _entries(data, "forces", _FORCE, where):
        with _at(place):
            scene.add_force(**_arguments(entry))
    for place, entry in _entries(data, "joints", _JOINT, where):
        with _at(place, f"joint {entry.get('name')!r}: "):
            scene.add_joint(**{"body_a": None, **_arguments(entry)})
    for place, entry in _entries(data, "springs", _SPRING, where):
        with _at(place, f"spring {entry.get('name')!r}: "):
            scene.add_spring(**{"body_a": None, **_arguments(entry)})
    if "simulate" in data:
        _check_words(data["simulate"], _SIMULATE, f"{where}: simulate")
        with _at(f"{where}: simulate"):
            for word, value in data["simulate"].items():
                if word in ("h", "duration", "tolerance") and not (_is_number(value) and value >= 0.0):
                    raise InputError(f"{word} is {_short(value)}, must be a number >= 0")
        scene.simulate = dict(data["simulate"])
    return scene


class _Folder(NamedTuple):
    """Where a scene file lies, and whether files that it names may lie elsewhere."""

    path: Path
    outside: bool

    def checked(self, name: Any, what: str) -> None:
        """Raise `InputError` unless `name` is a file in this folder or below."""
        if not isinstance(name, str) or not 0 < len(name) <= MOST_NAME or "\0" in name:
            raise InputError(f"{what} is {_short(name)}, must be the name of a file, of at most {MOST_NAME} letters")
        if not self.outside and (PurePath(name).is_absolute() or ".." in PurePath(name).parts):
            raise InputError(
                f"{what} is {_short(name)}, must lie in the folder of the scene, or load with outside=True"
            )


def _keywords(function: Callable[..., Any], *without: str) -> dict[str, bool]:
    """Return the words of a call that a file may use, and whether each is needed."""
    return {
        name: parameter.default is parameter.empty
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("self", "shape", *without)
    }


def _optional(*words: str) -> dict[str, bool]:
    return dict.fromkeys(words, False)


_SCENE = _optional(
    "gravity",
    "planar",
    "contact",
    "pairs",
    "exclude",
    "fixed",
    "bodies",
    "flexible",
    "forces",
    "joints",
    "springs",
    "simulate",
)
_FIXED = _optional("shape", "shapes") | _keywords(Scene.add_fixed, "motion") | _optional("layer")
_BODY = _optional("shape", "shapes") | _keywords(Scene.add_body) | _optional("layer")
_FLEXIBLE = _optional("beam", "modes") | _keywords(Scene.add_flexible, "what")
_BEAM, _MODES = _keywords(Beam), _keywords(Modes)
_CONTACT = _keywords(Scene.set_contact, "between")
_PAIR = _keywords(Scene.set_contact) | {"between": True}
_LAYER = _keywords(Scene.set_layer, "body")
_FORCE = _keywords(Scene.add_force)
# Without body_a a joint holds its body to the world.
_JOINT = _keywords(Scene.add_joint, "motion", "effort_limit") | {"body_a": False}
_SPRING = _keywords(Scene.add_spring) | {"body_a": False}
_SIMULATE = _optional("duration", "h", "formulation", "tolerance", "record")
_PLACE = _optional("position", "orientation")


def _refuse_foreign(path: str | os.PathLike[str]) -> None:
    if Path(path).suffix.lower() in (".urdf", ".xml"):
        raise FileError(f"{path}: URDF and MJCF are not part of this version, must be a YAML scene file")


@contextmanager
def _at(place: str, named: str = "") -> Iterator[None]:
    """Add the place in the file to a complaint of the scene, whose own naming of the thing is `named`."""
    try:
        yield
    except FileError:
        raise
    except InputError as error:
        raise FileError(f"{place}: {clipped(str(error).removeprefix(named), MOST_LETTERS - 100)}") from error
    except ArithmeticError as error:
        raise FileError(
            f"{place}: its numbers leave the range, must have sizes and masses that can be meant"
        ) from error


def _check_words(data: Any, words: Words, place: str) -> None:
    if not isinstance(data, dict):
        raise FileError(f"{place} is {_short(data)}, must be a mapping with {', '.join(words)}")
    for key in data:
        if key not in words:
            raise FileError(f"{place}: unknown key {short(key)}{suggestion(key, words)}")
    for word, needed in words.items():
        if needed and word not in data:
            raise FileError(f"{place}: {word} is missing, must be given")


def _list(data: dict[str, Any], key: str, where: str) -> list[Any]:
    value = data.get(key, [])
    if not isinstance(value, list):
        raise FileError(f"{where}: {key} is {_short(value)}, must be a list")
    return value


def _entries(data: dict[str, Any], key: str, words: Words, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the content of every entry of a list of mappings."""
    for k, entry in enumerate(_list(data, key, where)):
        place = f"{where}: {key}[{k}]"
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            place += f" {short(entry['name'], 40)}"
        _check_words(entry, words, place)
        yield place, entry


def _arguments(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the entry, without its shapes, as arguments of a call; what is neither a name nor numbers is refused."""
    checks: dict[str, Callable[[Any, str], Any]] = {"between": _pair, "friction": _friction}
    checks |= dict.fromkeys(("name", "body", "body_a", "body_b", "kind"), _text)
    return {
        key: checks.get(key, _numbers)(value, key)
        for key, value in entry.items()
        if key not in ("shape", "shapes", "layer")
    }


def _bending(entry: dict[str, Any], place: str) -> Beam | Modes:
    """Make what bends from ``beam`` or ``modes``."""
    if ("beam" in entry) == ("modes" in entry):
        raise FileError(f"{place}: must have either beam or modes")
    if "modes" in entry:
        _check_words(entry["modes"], _MODES, f"{place}: modes")
        return Modes(**{key: _numbers(value, f"modes: {key}") for key, value in entry["modes"].items()})
    _check_words(entry["beam"], _BEAM, f"{place}: beam")
    words = dict(entry["beam"])
    given: dict[str, Any] = {"modes": words.pop("modes", None)}
    if "shapes" in words:
        shapes = _mapping(words.pop("shapes"), "beam: shapes")
        given["shapes"] = {key: _numbers(value, f"beam: shapes: {key}", ragged=True) for key, value in shapes.items()}
    return Beam(**{key: _numbers(value, f"beam: {key}") for key, value in words.items()}, **given)


def _flexible_arguments(entry: dict[str, Any], place: str, folder: _Folder) -> dict[str, Any]:
    """Return the entry of a flexible body, without what bends, as arguments of a call."""
    out: dict[str, Any] = {}
    for key, value in entry.items():
        if key in ("masses", "points"):
            out[key] = {name: _numbers(one, f"{key}: {name}") for name, one in _mapping(value, key).items()}
        elif key == "contacts":
            out[key] = {
                name: [
                    _shape(shape, f"{place}: contacts: {name}", folder)
                    for shape in (some if isinstance(some, list) else [some])
                ]
                for name, some in _mapping(value, key).items()
            }
        elif key == "damping" and isinstance(value, dict):
            out[key] = {word: _numbers(one, f"damping: {word}") for word, one in value.items()}
        elif key in ("name", "geometric"):
            out[key] = _text(value, key)
        elif key not in ("beam", "modes"):
            out[key] = _numbers(value, key)
    return out


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InputError(f"{what} is {_short(value)}, must be a mapping from names")
    return value


def _set_layer(scene: Scene, name: str, entry: dict[str, Any], place: str) -> None:
    """Give a body the layer that its entry tells of."""
    if "layer" not in entry:
        return
    words = entry["layer"]
    _check_words(words, _LAYER, f"{place}: layer")
    with _at(place, f"layer of {name!r}: "):
        given = {key: _numbers(value, f"layer: {key}") for key, value in words.items() if key != "law"}
        if "law" in words:
            given["law"] = _law(words["law"], f"{place}: layer: law")
        scene.set_layer(name, **given)


def _law(data: Any, place: str) -> Any:
    """Make the law of a layer, ``{hunt_crossley: {stiffness: 1.0e6}}``."""
    _check_words(data, _optional(*LAWS), place)
    if len(data) != 1:
        raise FileError(f"{place} is {_short(data)}, must be one of {', '.join(LAWS)}")
    ((word, values),) = data.items()
    _check_words(values, _keywords(LAWS[word], "max_deflection"), f"{place}: {word}")
    return LAWS[word](**{key: _numbers(value, key) for key, value in values.items()})


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} is {_short(value)}, must be a name")
    return value


def _friction(value: Any, what: str) -> Any:
    """Take a number, or the law of a joint whose friction follows its load."""
    if isinstance(value, list) and value[:1] == ["load"]:
        return ("load", *_numbers(value[1:], what))
    return _numbers(value, what)


def _pair(value: Any, what: str) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise InputError(f"{what} is {_short(value)}, must be a pair of names")
    return _text(value[0], what), _text(value[1], what)


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 2**1023)


def _numbers(value: Any, what: str, *, ragged: bool = False) -> Any:
    """Refuse what NumPy would take for numbers, such as "1" and true, integers beyond its range and, mostly, rows of
    different lengths.
    """

    def fine(part: Any) -> bool:
        return all(map(fine, part)) if isinstance(part, list) else _is_number(part)

    def shape(part: Any) -> tuple[int, ...] | None:
        if not isinstance(part, list):
            return ()
        inner = {shape(one) for one in part}
        return (len(part), *(inner.pop() or ())) if len(inner) == 1 and None not in inner else None if part else (0,)

    if not fine(value):
        raise InputError(f"{what} is {_short(value)}, must be numbers")
    if not ragged and shape(value) is None:
        raise InputError(f"{what} is {_short(value)}, must be numbers in rows of equal length")
    return value


def _shapes(entry: dict[str, Any], place: str, folder: _Folder) -> list[PlacedShape]:
    """Make the shapes of a body from ``shape`` or ``shapes``."""
    if ("shape" in entry) == ("shapes" in entry):
        raise FileError(f"{place}: must have either shape or shapes")
    if "shape" in entry:
        return [_shape(entry["shape"], f"{place}: shape", folder)]
    return [_shape(one, f"{place}: shapes[{k}]", folder) for k, one in enumerate(_list(entry, "shapes", place))]


def _shape(data: Any, place: str, folder: _Folder) -> PlacedShape:
    """Make a shape from ``{word: {field: value}}`` with an optional place on the body."""
    if not isinstance(data, dict):
        raise FileError(f"{place} is {_short(data)}, must be like {{sphere: {{radius: 1.0}}}}")
    kinds = [key for key in data if key not in _PLACE]
    for key in kinds:
        if key not in _KINDS:
            raise FileError(f"{place}: unknown shape {short(key)}{suggestion(key, [*_KINDS, *_PLACE])}")
    if len(kinds) != 1:
        raise FileError(f"{place} has {len(kinds)} kinds of shape, must have one; list several under shapes")
    kind = _KINDS[kinds[0]]
    values = {} if data[kinds[0]] is None else data[kinds[0]]
    _check_words(values, kind.words(), f"{place}: {kinds[0]}")
    with _at(place):
        for key, value in values.items():
            if key == "file" and key in kind.text_words:
                folder.checked(value, f"{kinds[0]}: file")
            elif not (isinstance(value, str) and key in kind.text_words):
                _numbers(value, f"{kinds[0]}: {key}", ragged=key in kind.text_words)
        shape = kind.from_words(values, folder.path)
        return shape.at(**{key: _numbers(data[key], key) for key in _PLACE if key in data})


def _short(value: Any) -> str:
    """Return a value for a message of one line."""
    return "empty" if value is None else short(value)
