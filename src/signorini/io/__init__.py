"""Files to dicts and arrays and back; knows nothing of mechanics."""

from signorini.io.hdf5 import Axes, GrowingTree, read_damaged_tree, read_tree, remove_tree, write_tree
from signorini.io.limits import MOST_LETTERS, MOST_NAME, MOST_NESTING, check_claim, clipped, short
from signorini.io.replace import replacing
from signorini.io.yaml import read_yaml, write_yaml

__all__ = [
    "MOST_LETTERS",
    "MOST_NAME",
    "MOST_NESTING",
    "Axes",
    "GrowingTree",
    "check_claim",
    "clipped",
    "read_damaged_tree",
    "read_tree",
    "read_yaml",
    "remove_tree",
    "replacing",
    "short",
    "write_tree",
    "write_yaml",
]
