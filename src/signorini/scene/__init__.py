"""Where people write: scenes of bodies with shapes, contact data and loads, and their passage into arrays."""

from signorini.scene.body import Body, Fixed
from signorini.scene.compile import compile_scene
from signorini.scene.files import (
    load_scene,
    save_scene,
    scene_from_dict,
    scene_from_text,
    scene_to_dict,
    scene_to_text,
)
from signorini.scene.flexible import Beam, FlexibleBody, Modes
from signorini.scene.implicit_shape import Implicit, Intersection
from signorini.scene.mesh import Mesh
from signorini.scene.scene import Scene
from signorini.scene.shapes import (
    SHAPES,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Disc,
    Ellipse,
    Ellipsoid,
    HalfSpace,
    PlacedShape,
    Point,
    Polygon,
    Segment,
    Shape,
    Sphere,
    Superellipsoid,
)

__all__ = [
    "SHAPES",
    "Beam",
    "Body",
    "Box",
    "Capsule",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Disc",
    "Ellipse",
    "Ellipsoid",
    "Fixed",
    "FlexibleBody",
    "HalfSpace",
    "Implicit",
    "Intersection",
    "Mesh",
    "Modes",
    "PlacedShape",
    "Point",
    "Polygon",
    "Scene",
    "Segment",
    "Shape",
    "Sphere",
    "Superellipsoid",
    "compile_scene",
    "load_scene",
    "save_scene",
    "scene_from_dict",
    "scene_from_text",
    "scene_to_dict",
    "scene_to_text",
]
