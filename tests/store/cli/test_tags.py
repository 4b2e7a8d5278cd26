"""Tags and the taxonomy on the command line."""

import json
from pathlib import Path

import pytest

from store.progress import Progress
from store.runtime import open_library
from store.tasks import tags
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


def test_nothing_to_add_or_remove_is_wrong_usage(run: Run) -> None:
    assert run("tag", KEPT).returncode == 2
    assert run("taxonomy", "--set", "dog").returncode == 2


def test_what_changes_nothing_is_not_counted_as_changed(run: Run) -> None:
    done = run("tag", APPROVED, "--remove", "neverthere")
    assert (done.returncode, done.stderr) == (0, "tagged 0, unchanged 1\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["rename-tag", "dogg", "--to", "x"], "refused dogg: there is no such tag; the nearest: dog"),
        (["rename-tag", "", "--to", "x"], "refused '': there is no such tag"),
        (["taxonomy", "--remove", "nothere"], "refused nothere: there is no such tag"),
        (["unfit-words", "--remove", "neverthere"], "refused neverthere: it is no word of the list"),
    ],
)
def test_an_unknown_tag_or_word_is_named(run: Run, given: list[str], message: str) -> None:
    done = run(*given)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()
    assert "rename tag" not in run("history").stdout
    assert run("unfit-words").stderr == "added: none; removed: none\n"


def test_a_word_that_is_added_and_removed_at_once_is_known(run: Run) -> None:
    done = run("unfit-words", "--add", "dogecoin", "--remove", "dogecoin")
    assert (done.returncode, done.stderr) == (0, "added: none; removed: none\n")


def test_a_known_tag_is_renamed_although_another_is_unknown(run: Run) -> None:
    renamed = run("rename-tag", "dog", "nope", "--to", "hound")
    assert renamed.returncode == 1
    assert "renamed on 5, refused 1" in renamed.stderr
    assert tags_of(run, KEPT) == (["hound"], ["animals"])
