"""Bodies, contacts and joints in a viser server: one batched handle for each shape, never a node for each body."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from signorini._arrays import Array
from signorini.errors import InputError
from signorini.visual.film import Film, Forces
from signorini.visual.pieces import Pieces, linear, split

FORCES = {
    "normal": (60, 98, 168),
    "friction that sticks": (63, 143, 79),
    "friction that slips": (200, 60, 52),
}
"""Arrows at contacts, by name, with their colours."""
POINTS = {"touching": (43, 47, 54), "overlapping": (214, 38, 170)}
_NOWHERE = 1e3  # times the scene's size: where what is not there is put, for nothing may be empty
_LIGHT = 1.6
_LOOK = np.array([0.42, -1.0, 0.52])  # from the scene to the camera
_LOOK_PLANAR = np.array([0.0, 0.0, 1.0])
_MANY = 500  # contacts: of more the forces are lines, which are drawn much faster than arrows
_FAR = 1.0  # times the scene's size
_FINE = 2.0**-13  # of the scene's size: what is recorded is rounded to this, which takes less room when it is packed


def server_of(port: int = 8080, host: str = "127.0.0.1") -> Any:
    """Return a server that only this machine reaches, unless another `host` is asked for."""
    try:
        import viser
    except ImportError as error:
        raise InputError("needs the package 'viser', which is not installed: pip install signorini[view]") from error
    with redirect_stdout(StringIO()):  # it would tell its address, which is not for the user
        return viser.ViserServer(host=host, port=port, verbose=False)


class Display:
    """The nodes of a film in a server, which can be set to any of its moments."""

    def __init__(self, server: Any, film: Film, *, live: bool = False) -> None:
        self._film, self._scene = film, server.scene
        self._far = np.full((1, 3), _NOWHERE * film.extent[1], dtype=np.float32)
        self._set_up(server)
        poses = film.poses[0]
        self.bodies: dict[str, Any] = {}
        self._moving: list[tuple[Pieces, Any]] = []
        for pieces in (*film.pieces, *film.joint_pieces):
            handle = self._add(pieces, poses)
            self.bodies[f"/{pieces.label}"] = (pieces, handle)
            if live or not _rests(pieces, film):
                self._moving.append((pieces, handle))
        self._arrows: dict[str, Any] = {}
        self._points: dict[str, Any] = {}
        if film.forces:
            self._add_contacts()
        self.show(0)

    def named(self, name: str) -> list[Any]:
        """Return the handles of a kind of arrows or points, or of the joints, by the words of the panel."""
        if name == "joints":
            return [handle for label, (_, handle) in self.bodies.items() if label.startswith("/joints/")]
        found = self._arrows.get(name) or self._points.get(name.removeprefix("points "))
        return [found] if found else []

    def _set_up(self, server: Any) -> None:
        middle, size = self._film.extent
        planar = self._film.planar
        self._scene.set_up_direction("+y" if planar else "+z")
        # The lights of the client make colours pale.
        self._scene.configure_environment_map(None)
        self._scene.configure_default_lights(enabled=False)
        self._scene.add_light_hemisphere("/light/sky", ground_color=(150, 150, 150), intensity=_LIGHT)
        sun = (-0.42, 0.75, 0.5) if planar else (-0.42, -0.5, 0.75)
        self._scene.add_light_directional("/light/sun", intensity=_LIGHT, cast_shadow=False, position=sun)
        self._scene.world_axes.visible = False
        look = _LOOK_PLANAR if planar else _LOOK / np.linalg.norm(_LOOK)
        camera = server.initial_camera
        camera.position = tuple(middle + _FAR * size * look)
        camera.look_at = tuple(middle)
        camera.fov = np.deg2rad(50.0)
        camera.near, camera.far = 1e-3 * size, 1e3 * size

    def _add(self, pieces: Pieces, poses: Array) -> Any:
        vertices, faces = split(pieces.shape)
        positions, turns = pieces.poses(poses)
        return self._scene.add_batched_meshes_simple(
            f"/{pieces.label}",
            vertices.astype(np.float32),
            faces.astype(np.uint32),
            turns.astype(np.float32),
            positions.astype(np.float32),
            batched_scales=pieces.scale.astype(np.float32),
            batched_colors=np.round(255.0 * linear(pieces.colour)).astype(np.uint8),  # it takes amounts of light
            flat_shading=pieces.shape.is_flat,
            lod="off",
            cast_shadow=False,
        )

    def _add_contacts(self) -> None:
        size = self._film.extent[1]
        nothing = np.repeat(self._far[:, None], 2, axis=1)
        many = max(len(forces.point) for forces in self._film.forces) > _MANY
        for name, colour in FORCES.items():
            label = f"/contacts/{name}"
            if many:
                light = np.array(_light(colour), dtype=np.uint8)
                self._arrows[name] = self._scene.add_line_segments(label, nothing, light, line_width=2.0)
                continue
            self._arrows[name] = self._scene.add_arrows(
                label,
                nothing,
                _light(colour),
                shaft_radius=0.004 * size,
                head_radius=0.011 * size,
                head_length=0.025 * size,
            )
        for name, colour in POINTS.items():
            point_size = (0.012 if name == "touching" else 0.025) * size
            self._points[name] = self._scene.add_point_cloud(
                f"/contacts/points {name}",
                self._far,
                _light(colour),
                point_size=point_size,
                point_shape="circle",
                precision="float32",
            )

    def show(self, k: int) -> None:
        """Show a moment."""
        self.show_poses(self._film.poses[k])
        if self._arrows:
            self.show_forces(self._film.forces[k])

    def show_poses(self, poses: Array) -> None:
        """Put the bodies where they are, (n_b, 7)."""
        for pieces, handle in self._moving:
            positions, turns = pieces.poses(poses)
            handle.batched_positions = self._near(positions)
            handle.batched_wxyzs = _rounded(turns, _FINE)

    def _near(self, points: Array) -> Any:
        """Return places as accurately as they can be seen."""
        return _rounded(points, _FINE * 2.0 ** np.ceil(np.log2(self._film.extent[1])))

    def show_forces(self, forces: Forces) -> None:
        """Show points and arrows of contacts."""
        film = self._film
        normal, friction = film.arrow(forces.normal), film.arrow(forces.friction)
        presses = np.any(forces.normal != 0.0, axis=1)
        rubs = np.any(forces.friction != 0.0, axis=1)
        chosen = {
            "normal": (presses, normal),
            "friction that sticks": (rubs & ~forces.slips, friction),
            "friction that slips": (rubs & forces.slips, friction),
        }
        for name, (rows, arrows) in chosen.items():
            start = forces.point[rows]
            ends = self._near(np.stack([start, start + arrows[rows]], axis=1))
            self._arrows[name].points = ends if len(ends) else np.repeat(self._far[:, None], 2, axis=1)
        for name, rows in (("touching", presses & ~forces.overlaps), ("overlapping", forces.overlaps)):
            points = self._near(forces.point[rows])
            self._points[name].points = points if len(points) else self._far


def _rests(pieces: Pieces, film: Film) -> bool:
    moved = film.poses[:, np.unique(pieces.body)]
    return bool((moved == moved[:1]).all())


def _rounded(values: Array, step: float) -> Any:
    """Return multiples of a power of two, which single precision holds exactly."""
    return (np.round(values / step) * step).astype(np.float32)


def _light(colour: tuple[int, int, int]) -> tuple[int, ...]:
    """Return a colour of the screen as the client takes it, in amounts of light."""
    return tuple(np.round(255.0 * linear(np.array(colour) / 255.0)).astype(int).tolist())
