"""A run as a film of pictures, without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from signorini.errors import InputError
from signorini.visual.film import Film
from signorini.visual.picture import stills

_ASPECT = 1.6
_QUALITY = 8  # of ten


def write_video(film: Film, path: Path, *, rate: float, width: int) -> None:
    """Write an ``.mp4`` or ``.gif`` of so many pictures a second."""
    if path.suffix == ".gif":
        _write_gif(film, path, rate, width)
        return
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise InputError(
            f"{path}: needs the package 'imageio-ffmpeg', which is not installed: pip install signorini[video]"
        ) from error
    width += width % 16 and 16 - width % 16
    height = 16 * round(width / _ASPECT / 16)
    writer = imageio_ffmpeg.write_frames(str(path), (width, height), fps=rate, quality=_QUALITY)
    writer.send(None)
    try:
        for still in _stills(film, width, height):
            writer.send(still.tobytes())
    finally:
        writer.close()


def _write_gif(film: Film, path: Path, rate: float, width: int) -> None:
    from PIL import Image  # matplotlib brings it

    pictures = [Image.fromarray(still) for still in _stills(film, width, round(width / _ASPECT))]
    # One palette for all, else colours flicker.
    palette = pictures[len(pictures) // 2].quantize(128)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=1000.0 / rate, loop=0, optimize=True)


def _stills(film: Film, width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    for still in stills(film.solids, film.poses, film.fixed_count, width, height, planar=film.planar):
        yield np.ascontiguousarray(np.round(255.0 * still).astype(np.uint8))
