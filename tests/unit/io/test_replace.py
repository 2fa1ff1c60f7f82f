from __future__ import annotations

from pathlib import Path

import pytest

from signorini.errors import FileError
from signorini.io import replacing


def test_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "result"
    with replacing(path) as part:
        part.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("trouble", [ValueError, KeyboardInterrupt])
def test_failure_leaves_the_old_file_whole(tmp_path: Path, trouble: type[BaseException]) -> None:
    path = tmp_path / "result"
    path.write_text("old")
    with pytest.raises(trouble), replacing(path) as part:
        part.write_text("half of the n")
        raise trouble
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["file/result", "missing/result", "folder"])
def test_place_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    """A path below a regular file stands for a directory without permission, which root would not notice."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match=f"^{tmp_path / place}: cannot write: [^\n]+$"), replacing(tmp_path / place):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
