"""`from store import …` provides every name it lists, and the examples in docs/python.md run."""

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import store
from store.disk.layout import RESOURCES
from tests.test_structure import DOORS

ROOT = Path(__file__).resolve().parents[2]
SHOWN = "\n".join(
    re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.S)
)


def test_every_exported_name_can_be_imported() -> None:
    assert sorted([*store._FROM, "demo"]) == sorted(store.__all__)
    for name, module in store._FROM.items():
        assert getattr(store, name) is getattr(import_module(module), name)


def test_docs_python_md_lists_every_exported_name() -> None:
    table = (ROOT / "docs" / "python.md").read_text(encoding="utf-8").partition("## Names")[2]
    named = set(re.findall(r"`(\w+)`", table.partition("More is in")[0]))
    assert named == set(store.__all__)


@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_what_it_lists(door: str) -> None:
    package = import_module(door)
    for name in getattr(package, "__all__", ()):
        assert hasattr(package, name) or import_module(f"{door}.{name}")


def test_an_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        store.nothing_of_the_kind  # noqa: B018


@pytest.mark.usefixtures("own_interpreter")
def test_importing_the_package_loads_no_submodules_and_lets_the_threads_of_numpy_sleep() -> None:
    code = (
        "import os, sys, store; print([name for name in sys.modules if name.startswith(('store.', 'numpy'))],"
        "os.environ['OPENBLAS_THREAD_TIMEOUT'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[] 4"


def test_the_examples_in_docs_python_md_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    coins = tmp_path / "coins"
    coins.mkdir()
    for name in ("local-demo-zen-frog", "local-demo-soup-frog"):
        for ending in (".json", ".jpg"):
            shutil.copy(RESOURCES / "demo" / f"{name}{ending}", coins)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMEDEX_EMBEDDER", "offline")
    names: dict[str, object] = {}
    exec(compile(SHOWN, "docs/python.md", "exec"), names)
    assert (tmp_path / "coins.zip").is_file()
    with store.open_reader(tmp_path / "res") as reader:
        assert reader.counts()["library"] == 1
        assert [decision.verb for decision in reader.decisions()][-1] == "import"
    store.close_all()  # as at the end of the program: the last example leaves a memory open
    printed = capsys.readouterr().out
    assert "The team prefers short tickers" in printed
    assert "2 added; []" in printed
