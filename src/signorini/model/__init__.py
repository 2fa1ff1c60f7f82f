"""The nouns: Model, State and Contacts as arrays. No physics happens here."""

from signorini.model.contacts import Contacts
from signorini.model.model import Force, Materials, Model, ModelArrays, Motion
from signorini.model.shapes import Hulls, ShapeArrays, ShapeKind
from signorini.model.state import State

__all__ = [
    "Contacts",
    "Force",
    "Hulls",
    "Materials",
    "Model",
    "ModelArrays",
    "Motion",
    "ShapeArrays",
    "ShapeKind",
    "State",
]
