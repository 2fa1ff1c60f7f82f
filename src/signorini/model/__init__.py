"""The nouns: Model, State and Contacts as arrays. No physics happens here."""

from signorini.model.contacts import Contacts
from signorini.model.model import Materials, Model, ModelArrays
from signorini.model.shapes import Hulls, ShapeArrays, ShapeKind
from signorini.model.state import State

__all__ = ["Contacts", "Hulls", "Materials", "Model", "ModelArrays", "ShapeArrays", "ShapeKind", "State"]
