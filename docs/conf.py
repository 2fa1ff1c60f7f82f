"""Settings of the documentation; build with ``sphinx-build -W docs docs/_build``."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = "signorini"
author = "The signorini developers"
release = version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = ["sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"signorini {version}"

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings give shapes and units, which say more
numpydoc_show_class_members = False

sphinx_gallery_conf = {"examples_dirs": "../examples", "gallery_dirs": "gallery", "filename_pattern": ".*"}
