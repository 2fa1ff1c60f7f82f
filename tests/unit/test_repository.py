"""The repository agrees with itself."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import yaml

import signorini as sg

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "signorini"
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = ROOT / ".ci" / "run"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

TEXT = {"", ".py", ".md", ".rst", ".toml", ".yaml", ".yml", ".cff", ".txt", ".cfg", ".typed"}
# Folders that git ignores, besides those whose name begins with a dot.
NOT_OURS = {"build", "dist", "docs/_build", "docs/gallery", "docs/sg_execution_times.rst", "signorini-out"}
HIDDEN_BUT_OURS = {".ci"}


def our_files() -> list[Path]:
    """Return the text files of the repository."""
    found: list[Path] = []
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if path.is_file() and path.suffix in TEXT and path.name != ".git":  # a file in a further work tree
                found.append(path)
            hidden = path.name.startswith(".") and path.name not in HIDDEN_BUT_OURS
            made = path.name == "__pycache__" or path.relative_to(ROOT).as_posix() in NOT_OURS
            if path.is_dir() and not hidden and not made:
                folders.append(path)
    return found


def blocks(language: str) -> list[str]:
    """Return the code blocks of the README in one language."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in fenced if name == language]


def commands() -> list[str]:
    return [line for block in blocks("") for line in block.splitlines()]


def test_files_are_found() -> None:
    """The tests below look at these files; an empty list would pass them all."""
    names = {path.relative_to(ROOT).as_posix() for path in our_files()}
    assert {"README.md", ".ci/run", "docs/developing.rst", "src/signorini/errors.py", "LICENSE"} <= names


def test_no_paths_of_a_machine() -> None:
    """A path of somebody's machine is of no use to anybody else."""
    machine = re.compile(r"(?<![\w./~$}])/(?:home|root|Users|tmp|work|opt|mnt|scratch)/\w|\b[A-Z]:\\\\?Users")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in our_files()
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if machine.search(line)
    ]
    assert found == []


def test_versions_agree() -> None:
    version = PROJECT["project"]["version"]
    changelog = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert changelog is not None
    assert {"changelog": changelog[1], "citation": citation["version"], "package": sg.__version__} == {
        "changelog": version,
        "citation": version,
        "package": version,
    }


def test_licences_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert PROJECT["project"]["license"] == citation["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", [".venv/bin/signorini demo", "-m pytest -n 2 --dist worksteal"])
def test_readme_has_both_commands(ending: str) -> None:
    """Each is one line that sets up everything on a machine with nothing but Python."""
    found = [line for line in commands() if line.endswith(ending)]
    assert len(found) == 1
    assert re.match(r'python3 -m venv \.venv && \.venv/bin/pip install (\.|"\.\[(test|view)\]") && ', found[0])


def found_by_ci(what: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Let the function of .ci/run that reads the README, with the settings of .ci/run, look for a command."""
    text = CI.read_text(encoding="utf-8")
    function = re.search(r"^readme_command\(\) \{.*?^\}$", text, re.MULTILINE | re.DOTALL)
    assert function is not None
    settings = "\n".join(re.findall(r"^(?:set|shopt) -.*$", text, re.MULTILINE))
    script = f'{settings}\n{function[0]}\nfound=$(readme_command "{what}")\necho "$found"'
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)


WANTED_BY_CI = re.findall(r'\$\(readme_command "(.*?)"\)', CI.read_text(encoding="utf-8"))


def test_ci_runs_the_commands_of_the_readme() -> None:
    """What .ci/run reads from the README are exactly the lines that a reader sees there."""
    found = [found_by_ci(what, ROOT).stdout.rstrip("\n") for what in WANTED_BY_CI]
    assert sorted(found) == sorted(commands())
    assert CI.stat().st_mode & 0o111, ".ci/run must be executable"


LANES = """
good() { step "one" echo first; step "two" echo second; }
bad() { step "three" true; step "four" false; step "five" echo never; }
worse() { step "six" echo third; step "seven" exit 3; }
"""


@pytest.mark.parametrize(
    ("lanes", "failed"), [("good", ""), ("good bad", "four"), ("bad good", "four"), ("bad worse", "four|seven")]
)
def test_ci_names_what_failed_beside_others(lanes: str, failed: str) -> None:
    """All that the lanes said is shown, the parts that failed are named, and nothing follows them."""
    functions = CI.read_text(encoding="utf-8").partition('now="reading the README"\n')[0]
    script = functions.replace('cd "$(dirname', 'true "$(dirname') + LANES + f"side_by_side {lanes}\necho passed"
    outcome = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (outcome.returncode == 0) == ("passed" in outcome.stdout) == (failed == "")
    assert ("first\n" in outcome.stdout) == ("second\n" in outcome.stdout) == ("good" in lanes)
    assert "never" not in outcome.stdout
    named = outcome.stderr.partition(".ci/run: failed: ")[2].strip()
    assert sorted(named.split(",")) == failed.split("|")


@pytest.mark.parametrize("what", WANTED_BY_CI)
@pytest.mark.parametrize("times", [0, 2])
def test_ci_fails_if_the_readme_has_no_such_command(tmp_path: Path, what: str, times: int) -> None:
    """Without its line in the README nothing would be run; that must not pass."""
    others = [line for line in commands() if what not in line]
    (tmp_path / "README.md").write_text("\n".join(others + times * [f"python3 -m venv .venv && {what}"]) + "\n")
    outcome = found_by_ci(what, tmp_path)
    assert outcome.returncode != 0
    assert outcome.stderr == f"README.md: needs exactly one line 'python3 -m venv ... {what}'\n"


def test_readme_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten lines do what their comments say: sliding ends at 5/7 of the speed."""
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    if find_spec("viser") is None:  # the extra of the first command, which the tests do without
        page = [line for line in code.splitlines() if "animate(" in line]
        assert len(page) == 1
        code = code.replace(page[0], "")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "README.md", "exec"), {})
    plt.close("all")
    velocity = re.match(r"\[\s*(\S+)", output.getvalue())
    assert velocity is not None
    assert abs(float(velocity[1]) - 10.0 / 7.0) < 1e-8
    assert (tmp_path / "ball.h5").exists()


def test_readme_scene_file_is_the_scene_of_the_ten_lines(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    (tmp_path / "ball.yaml").write_text(text)
    scene = sg.Scene.load(tmp_path / "ball.yaml")
    assert list(scene.fixed) == ["floor"]
    assert scene.bodies["ball"].velocity.tolist() == [2.0, 0.0, 0.0]
    assert scene.contact.friction == 0.2


def test_readme_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)|`(docs/[\w/.]+)`", README)
    targets = [a or b for a, b in links]
    assert len(targets) >= 5
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_public_name_is_documented() -> None:
    missing = [name for name in sg.__all__ if not (getattr(sg, name).__doc__ or "").strip()]
    assert missing == []
