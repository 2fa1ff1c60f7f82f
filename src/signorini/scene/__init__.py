"""Where people write: scenes of bodies with shapes, contact data and loads, and their passage into arrays."""

from signorini.scene.compile import compile_scene
from signorini.scene.files import (
    load_scene,
    save_scene,
    scene_from_dict,
    scene_from_text,
    scene_to_dict,
    scene_to_text,
)
from signorini.scene.scene import Body, Fixed, Scene
from signorini.scene.shapes import (
    SHAPES,
    Box,
    Capsule,
    ConvexHull,
    Disc,
    HalfSpace,
    PlacedShape,
    Polygon,
    Segment,
    Shape,
    Sphere,
)

__all__ = [
    "SHAPES",
    "Body",
    "Box",
    "Capsule",
    "ConvexHull",
    "Disc",
    "Fixed",
    "HalfSpace",
    "PlacedShape",
    "Polygon",
    "Scene",
    "Segment",
    "Shape",
    "Sphere",
    "compile_scene",
    "load_scene",
    "save_scene",
    "scene_from_dict",
    "scene_from_text",
    "scene_to_dict",
    "scene_to_text",
]
