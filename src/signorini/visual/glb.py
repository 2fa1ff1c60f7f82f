"""A run as an animated binary glTF file, which Blender and system viewers open.

The layout is that of glTF 2.0: a JSON chunk that describes, and a binary chunk that holds meshes, times and poses. z up
becomes y up by a turn of the root; colours are a material for each, named by their numbers.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from signorini._arrays import Array, IntArray
from signorini.visual.film import Film
from signorini.visual.pieces import Pieces, linear, split

_FLOAT, _UNSIGNED = 5126, 5125
_VERTICES, _INDICES = 34962, 34963
_UPRIGHT = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # (x, y, z, w): z up to y up


class _Buffer:
    """Binary data, and the words that describe them."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.size = 0
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, values: Array | IntArray, kind: str, *, target: int | None = None, bounded: bool = False) -> int:
        """Return the number of an accessor for values, (n,) or (n, k)."""
        is_index = target == _INDICES
        data = np.ascontiguousarray(values, dtype=np.uint32 if is_index else np.float32)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self.size, "byteLength": data.nbytes}
        self.views.append(view | ({} if target is None else {"target": target}))
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _UNSIGNED if is_index else _FLOAT,
            "count": len(data),
            "type": kind,
        }
        if bounded:
            columns = data.reshape(len(data), -1)
            accessor |= {"min": columns.min(axis=0).tolist(), "max": columns.max(axis=0).tolist()}
        self.accessors.append(accessor)
        self.chunks.append(data.tobytes())
        self.size += data.nbytes
        return len(self.accessors) - 1


def glb(film: Film) -> bytes:
    """Return the file: a node for every piece of a body, named after it, moved by the one animation."""
    buffer = _Buffer()
    meshes: list[dict[str, Any]] = []
    materials: list[dict[str, Any]] = []
    nodes: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    time = buffer.add(film.time - film.time[0], "SCALAR", bounded=True) if len(film.time) > 1 else None
    colours: dict[tuple[float, ...], int] = {}
    for pieces in (*film.pieces, *film.joint_pieces):
        attributes = _geometry(buffer, pieces)
        positions, turns = pieces.poses(film.poses)
        made: dict[int, int] = {}  # meshes of this shape by their material
        for i, body in enumerate(pieces.body):
            colour = tuple(round(float(c), 4) for c in pieces.colour[i])
            material = colours.setdefault(colour, len(colours))
            if material == len(materials):
                look = {
                    "baseColorFactor": [*linear(np.array(colour)).tolist(), 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.8,
                }
                materials.append({"pbrMetallicRoughness": look})
            if material not in made:
                made[material] = len(meshes)
                meshes.append({"primitives": [{**attributes, "material": material}]})
            name = film.names[body] if body < len(film.names) else pieces.label
            x, e = positions[:, i], _continuous(turns[:, i])
            node = {
                "name": name,
                "mesh": made[material],
                "translation": x[0].tolist(),
                "rotation": _last_w(e[:1])[0].tolist(),
                "scale": pieces.scale[i].tolist(),
            }
            nodes.append(node)
            for path, values, kind in (("translation", x, "VEC3"), ("rotation", _last_w(e), "VEC4")):
                if time is not None and (values != values[:1]).any():
                    samplers.append({"input": time, "output": buffer.add(values, kind), "interpolation": "LINEAR"})
                    target = {"node": len(nodes) - 1, "path": path}
                    channels.append({"sampler": len(samplers) - 1, "target": target})
    root = {"name": film.title, "children": list(range(len(nodes)))}
    nodes.append(root if film.planar else root | {"rotation": _UPRIGHT})
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "signorini"},
        "scene": 0,
        "scenes": [{"nodes": [len(nodes) - 1]}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": materials,
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": buffer.size}],
    }
    if channels:
        document["animations"] = [{"name": film.title, "channels": channels, "samplers": samplers}]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary = b"".join(buffer.chunks)
    head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(binary))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary


def _geometry(buffer: _Buffer, pieces: Pieces) -> dict[str, Any]:
    vertices, faces = split(pieces.shape)
    normals = np.zeros_like(vertices)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    for k in range(3):
        np.add.at(normals, faces[:, k], np.cross(b - a, c - a))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return {
        "attributes": {
            "POSITION": buffer.add(vertices, "VEC3", target=_VERTICES, bounded=True),
            "NORMAL": buffer.add(normals, "VEC3", target=_VERTICES),
        },
        "indices": buffer.add(faces.reshape(-1), "SCALAR", target=_INDICES),
    }


def _continuous(turns: Array) -> Array:
    """Return quaternions of one body over time, each on the side of the one before it, as interpolation needs them."""
    flips = np.einsum("ij,ij->i", turns[1:], turns[:-1]) < 0.0
    signs = np.cumprod(np.where(np.concatenate([[False], flips]), -1.0, 1.0))
    out: Array = turns * signs[:, None]
    return out


def _last_w(quaternions: Array) -> Array:
    return quaternions[:, [1, 2, 3, 0]]
