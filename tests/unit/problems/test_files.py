"""Files are known by their content; what is wrong with one is said in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from signorini.errors import FileError
from signorini.problems import LCP, load_problem


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nothing\.npz: cannot read: No such file"):
        load_problem(tmp_path / "nothing.npz")


def test_unknown_content(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    path.write_text("hello, world")
    with pytest.raises(FileError, match=r"text.npz: begins with b'hello, w', must be an .npz or FCLIB file"):
        load_problem(path)


def test_unknown_fields(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=1.0)
    with pytest.raises(FileError, match=r"fields are \['x'\], need 'kind', 'M' and 'q', or 'G', 'g' and 'mus'"):
        load_problem(tmp_path / "a.npz")


def test_unknown_kind(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", kind="sudoku")
    with pytest.raises(FileError, match=r"kind is 'sudoku', must be one of .*'lcp'"):
        load_problem(tmp_path / "a.npz")


def test_missing_field(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", kind="lcp", M=np.eye(2))
    with pytest.raises(FileError, match="field 'q' is missing"):
        load_problem(tmp_path / "a.npz")


def test_wrong_data_in_a_file_name_the_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", M=np.eye(2), q=np.ones(3))
    with pytest.raises(FileError, match=r"a.npz: LCP: M has shape \(2, 2\), must be \(3, 3\)"):
        load_problem(tmp_path / "a.npz")


def test_code_in_a_file_is_never_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", M=np.array([object()], dtype=object), q=np.ones(1), allow_pickle=True)
    with pytest.raises(FileError, match=r"'M\.npy' has the type 'object', must be numbers"):
        load_problem(tmp_path / "a.npz")


def test_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot write"):
        LCP([[1.0]], [1.0]).save(tmp_path / "no" / "such.npz")
