"""Scenes count their edits: whoever compiled one can tell by a number whether it is still the same.

The dicts, lists and sets of a scene are its public face, so they count what is done to them, by whichever method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_EDITS: dict[type, str] = {
    dict: "__setitem__ __delitem__ __ior__ clear pop popitem setdefault update",
    list: "__setitem__ __delitem__ __iadd__ __imul__ append clear extend insert pop remove reverse sort",
    set: "__iand__ __ior__ __isub__ __ixor__ add clear difference_update discard intersection_update pop remove "
    "symmetric_difference_update update",
}


class Revision:
    """How often a scene was edited."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


def _counting(base: type, name: str) -> Callable[..., Any]:
    """Return a method of `base` that counts as an edit."""
    method = getattr(base, name)

    def edit(self: Any, *arguments: Any, **words: Any) -> Any:
        self.revision.count += 1
        return method(self, *arguments, **words)

    return edit


def _counted(base: type, words: dict[str, Any]) -> type:
    methods = {name: _counting(base, name) for name in _EDITS[base].split()}
    # Copies and pickles are filled before they know their revision: until then they count in one that is nobody's.
    return type(f"Counted{base.__name__.capitalize()}", (base,), {**methods, "revision": Revision(), **words})


CountedDict = _counted(dict, {"__module__": __name__})
CountedList = _counted(list, {"__module__": __name__})
CountedSet = _counted(set, {"__module__": __name__})

C = TypeVar("C", dict[Any, Any], list[Any], set[Any])


def counted(container: C, revision: Revision) -> C:
    """Return a copy of a dict, list or set that counts its edits in `revision`."""
    kinds: dict[type, type] = {dict: CountedDict, list: CountedList, set: CountedSet}
    made: Any = kinds[type(container)](container)
    made.revision = revision
    return made  # type: ignore[no-any-return]
