"""The nouns: Model, State and Contacts as arrays. No physics happens here."""

from signorini.model.contacts import Contacts
from signorini.model.joints import (
    WORLD,
    Constraint,
    JointArrays,
    Joints,
    KnownMotion,
    RowKind,
    RowTable,
    Tree,
    no_joints,
)
from signorini.model.layers import HuntCrossley, Layer, LinearLayer, Response, make_layer, refuse_layers
from signorini.model.model import Force, Materials, Model, ModelArrays, Motion
from signorini.model.shapes import Hulls, ShapeArrays, ShapeKind
from signorini.model.state import State

__all__ = [
    "WORLD",
    "Constraint",
    "Contacts",
    "Force",
    "Hulls",
    "HuntCrossley",
    "JointArrays",
    "Joints",
    "KnownMotion",
    "Layer",
    "LinearLayer",
    "Materials",
    "Model",
    "ModelArrays",
    "Motion",
    "Response",
    "RowKind",
    "RowTable",
    "ShapeArrays",
    "ShapeKind",
    "State",
    "Tree",
    "make_layer",
    "no_joints",
    "refuse_layers",
]
