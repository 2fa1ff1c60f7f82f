"""SciPy's parts, each loaded when first used: a run that is solved by sweeps needs none of them.

They take a fifth of a second, as long as all of the library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scipy import linalg, sparse
    from scipy.sparse import linalg as sparse_linalg
else:
    from importlib import import_module

    class _Late:
        """A module that is imported when something in it is first asked for."""

        def __init__(self, name):
            self._name = name

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            found = getattr(import_module(self._name), name)
            setattr(self, name, found)
            return found

    linalg, sparse, sparse_linalg = map(_Late, ("scipy.linalg", "scipy.sparse", "scipy.sparse.linalg"))

__all__ = ["linalg", "sparse", "sparse_linalg"]
