"""The installed packages are the tested ones, and the installed command finds the whole program."""

import re
import sys
import tomllib
from pathlib import Path
from typing import NoReturn

import pytest

from store import __version__
from store.cli import dashboard, main
from store.disk.layout import PROGRAM

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pinned(name: str) -> set[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {line.partition(";")[0].strip() for line in lines if line and not line.startswith("#")}


def test_the_pinned_requirements_match_the_package_dependencies() -> None:
    assert pinned("requirements.txt") >= set(PROJECT["dependencies"])
    assert pinned("requirements-clip.txt") >= set(PROJECT["optional-dependencies"]["clip"])


def test_nothing_is_pinned_twice() -> None:
    assert not pinned("requirements.txt") & pinned("requirements-clip.txt")


def test_pytorch_is_not_a_default_dependency() -> None:
    names = {re.split(r"[=\[]", line)[0] for line in pinned("requirements.txt")}
    assert not names & {"torch", "torchvision", "transformers", "kubernetes", "boto3"}


def test_the_version_matches_the_changelog(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"Memedex {__version__}\n"
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_run_starts_the_dashboard_with_the_given_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []

    def fake_execve(program: str, command: list[str], settings: dict[str, str]) -> NoReturn:
        started.append((command, settings))
        sys.exit()

    monkeypatch.setattr(dashboard.os, "execve", fake_execve)
    with pytest.raises(SystemExit):
        main(["--root", str(tmp_path), "run", "--port", "8600", "--", "--server.headless=true"])
    ((command, settings),) = started
    assert command[1:] == [
        "-m", "streamlit", "run", str(PROGRAM / "app.py"), "--server.port=8600", "--server.headless=true"
    ]  # fmt: skip
    assert settings["MEMEDEX_ROOT"] == str(tmp_path)
