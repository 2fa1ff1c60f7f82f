"""The nouns: Model, State and Contacts as arrays. No physics happens here."""

from signorini.model.beams import Section, Shapes, beam_points, make_beam
from signorini.model.contacts import Contacts
from signorini.model.flexible import Deformable, Flexible, Line, Points, frame_rows, refuse_flexible
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
    "Deformable",
    "Flexible",
    "Force",
    "Hulls",
    "HuntCrossley",
    "JointArrays",
    "Joints",
    "KnownMotion",
    "Layer",
    "Line",
    "LinearLayer",
    "Materials",
    "Model",
    "ModelArrays",
    "Motion",
    "Points",
    "Response",
    "RowKind",
    "RowTable",
    "Section",
    "ShapeArrays",
    "ShapeKind",
    "Shapes",
    "State",
    "Tree",
    "beam_points",
    "frame_rows",
    "make_beam",
    "make_layer",
    "no_joints",
    "refuse_flexible",
    "refuse_layers",
]
