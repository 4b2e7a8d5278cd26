"""Verbs that decide about coins."""

import json
from pathlib import Path
from typing import NoReturn

import pytest

from store import demo
from store.embedding import open_embedder
from store.progress import Progress
from store.runtime import open_library
from store.tasks import tags
from tests.store.cli.program import ALSO_KEPT, CAPTIONED, KEPT, Run, tier
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars

# -- import ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_demo_library_can_be_searched_after_loading(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    some = demo.entries()[::8]  # all of them: tests/store/catalog/test_words.py
    monkeypatch.setattr(demo, "entries", lambda folder: some)
    assert run("demo").returncode == 0
    found = json.loads(run("search", "dog", "--json").stdout)
    assert found["compared"] == sum(entry.tier == "library" for entry in some) > 10


# -- commands that move and change -------------------------------------------------------------------------


def test_many_refusals_with_one_reason_are_printed_as_one_line(run: Run, root: Path) -> None:
    nobody = [address(number) for number in range(100, 130)]
    done = run("approve", *nobody, "--json")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "refused 30 for one reason" in line]
    assert len(lines) == 1
    assert nobody[0] in lines[0]
    assert nobody[20] not in done.stderr
    assert {refusal["item"] for refusal in json.loads(done.stdout)["refused"]} == set(nobody)


@pytest.mark.slow
def test_chroma_is_up_to_date_when_a_command_ends(run: Run, root: Path) -> None:
    run("promote", CAPTIONED)
    run("delete", ALSO_KEPT)
    chroma_agrees_with_the_sidecars(root, open_embedder("offline"))


def test_a_command_succeeds_and_warns_when_chroma_fails(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> NoReturn:
        raise OSError("too many open files")

    monkeypatch.setattr("store.chroma.follower.ChromaProcess", refuse)
    done = run("promote", CAPTIONED)
    assert done.returncode == 0
    assert "Chroma does not follow (OSError: too many open files); nothing is lost" in done.stderr
    assert tier(root, CAPTIONED) == "library"


# -- undo, redo, history -----------------------------------------------------------------------------------


def test_decisions_work_without_a_login_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 54321")

    monkeypatch.setattr("getpass.getuser", nameless)
    monkeypatch.setattr("store.permissions._known", {"name": "somebody"})
    with open_library(tmp_path, embedder=Hashed()) as library:
        open_library(tmp_path).add([coin(1)])
        assert open_library(tmp_path).undo().done == [address(1)]
        assert library.history(limit=1)[0].actor == "somebody"


# -- usage and output --------------------------------------------------------------------------------------


def test_a_name_cannot_inject_terminal_escape_sequences(run: Run, incoming: Path) -> None:
    sidecar = {
        **coin(10).sidecar,
        "token_name": "\x1b]0;owned\x07\x1b[2Jred\u202egpj",
        "description": "a\r\x1b[31mb",
    }
    (incoming / f"{address(10)}.json").write_text(json.dumps(sidecar))
    run("import", incoming)
    for output in (run("list").stdout, run("show", address(10)).stdout, run("history").stdout):
        assert "red" in output
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(output)


def tags_of(run: Run, address: str) -> tuple[list[str], list[str]]:
    record = json.loads(run("show", address, "--json").stdout)
    return record["tags"], record["tags_categories"]


@pytest.mark.parametrize(
    ("given", "edit", "category"), [("--set", "dog=pets", "pets"), ("--remove", "Dog", "other")]
)
def test_an_edit_of_the_taxonomy_that_was_interrupted_is_completed_by_giving_it_again(
    run: Run, root: Path, given: str, edit: str, category: str
) -> None:
    stopped = Progress()
    stopped.cancel()
    with open_library(root) as library:
        entries = {**library.taxonomy.entries, "dog": category}
        if given == "--remove":
            del entries["dog"]
        tags.change_taxonomy(library, entries, progress=stopped)
    assert tags_of(run, KEPT) == (["dog"], ["animals"])
    done = run("taxonomy", given, edit)
    assert (done.returncode, done.stderr) == (0, "gave other categories to 5\n")
    assert tags_of(run, KEPT) == (["dog"], [category])
    assert run("taxonomy", "--remove", "nothere").returncode == 1
