"""Files to dicts and arrays and back; knows nothing of mechanics."""

from signorini.io.hdf5 import read_tree, write_tree
from signorini.io.replace import replacing
from signorini.io.yaml import read_yaml, write_yaml

__all__ = ["read_tree", "read_yaml", "replacing", "write_tree", "write_yaml"]
