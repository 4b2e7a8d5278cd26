"""Tags and the taxonomy on the command line."""

import json
from pathlib import Path

import pytest

from tests.store.cli.program import APPROVED, KEPT, PENDING, Run

pytestmark = pytest.mark.usefixtures("root")


def tags_of(run: Run, address: str) -> tuple[list[str], list[str]]:
    record = json.loads(run("show", address, "--json").stdout)
    return record["tags"], record["tags_categories"]


def test_tags_are_added_and_removed_for_several_records(run: Run) -> None:
    assert run("tag", APPROVED, PENDING, "--add", "moon, new", "--remove", "dog").returncode == 0
    assert tags_of(run, APPROVED) == (["moon", "new"], ["space", "other"])
    assert run("undo").returncode == 0
    assert tags_of(run, PENDING) == (["dog"], ["animals"])


def test_renaming_a_tag_everywhere_can_be_undone(run: Run) -> None:
    renamed = run("rename-tag", "dog", "--to", "hound")
    assert renamed.returncode == 0
    assert "renamed on 5" in renamed.stderr
    assert tags_of(run, KEPT) == (["hound"], ["animals"])
    assert json.loads(run("taxonomy", "--json").stdout)["hound"] == "animals"
    run("undo")
    assert tags_of(run, KEPT) == (["dog"], ["animals"])


def test_editing_the_taxonomy_updates_the_categories(run: Run, tmp_path: Path) -> None:
    assert run("taxonomy", "--set", "dog=pets", "--remove", "cat").returncode == 0
    assert json.loads((tmp_path / "res/taxonomy.json").read_text()) == {"dog": "pets", "moon": "space"}
    assert tags_of(run, KEPT) == (["dog"], ["pets"])


def test_nothing_to_add_or_remove_is_wrong_usage(run: Run) -> None:
    assert run("tag", KEPT).returncode == 2
    assert run("taxonomy", "--set", "dog").returncode == 2
