"""Files to dicts and arrays and back; knows nothing of mechanics."""

from signorini.io.hdf5 import GrowingTree, read_tree, remove_tree, write_tree
from signorini.io.replace import replacing
from signorini.io.yaml import read_yaml, write_yaml

__all__ = ["GrowingTree", "read_tree", "read_yaml", "remove_tree", "replacing", "write_tree", "write_yaml"]
