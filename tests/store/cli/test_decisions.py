"""Verbs that decide about coins."""

import json
from pathlib import Path
from typing import NoReturn

import pytest

from store import demo
from store.catalog.filters import Filter
from store.embedding import open_embedder
from store.progress import Progress
from store.reading.reader import Reader
from store.runtime import open_library
from store.tasks import tags
from tests.store.cli.program import ALSO_KEPT, APPROVED, CAPTIONED, KEPT, NOWHERE, PENDING, Run, caption, tier
from tests.store.conftest import address, coin, picture
from tests.store.hashed import Hashed
from tests.store.invariants import chroma_agrees_with_the_sidecars

# -- import ------------------------------------------------------------------------------------------------


def test_import_adds_valid_coins_and_names_refused_ones(run: Run, incoming: Path, tmp_path: Path) -> None:
    done = run("import", incoming)
    assert done.returncode == 1
    assert "added 2, already there 0, refused 1" in done.stderr
    assert address(12) in done.stderr
    with Reader(tmp_path / "res") as reader:
        assert set(reader.addresses(Filter(tier="pending"))) == {address(10), address(11)}


@pytest.mark.slow
def test_import_reports_the_tier_of_existing_records(run: Run, root: Path, incoming: Path) -> None:
    (incoming / f"{address(12)}.png").unlink()
    (incoming / f"{address(12)}.json").unlink()
    (incoming / f"{KEPT}.json").write_text(json.dumps(coin(3).sidecar))
    (incoming / f"{KEPT}.png").write_bytes(picture(3))
    done = run("import", incoming, "--json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert sorted(report["added"]) == sorted([address(10), address(11)])
    assert report["present"] == {KEPT: "library"}
    assert report["refused"] == []
    assert "1 in library" in done.stderr


def test_import_names_a_missing_path(run: Run, incoming: Path) -> None:
    done = run("import", "no such folder")
    assert done.returncode == 1
    assert "no such folder" in done.stderr


@pytest.mark.slow
def test_the_demo_library_can_be_searched_after_loading(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    some = demo.entries()[::8]  # all of them: tests/store/catalog/test_words.py
    monkeypatch.setattr(demo, "entries", lambda folder: some)
    assert run("demo").returncode == 0
    found = json.loads(run("search", "dog", "--json").stdout)
    assert found["compared"] == sum(entry.tier == "library" for entry in some) > 10


# -- commands that move and change -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "key", "goal"),
    [
        ("approve", PENDING, "approved"),
        ("back-to-review", APPROVED, "pending"),
        ("reject", PENDING, "trash"),
        ("promote", CAPTIONED, "library"),
        ("remove", KEPT, "approved"),
        ("delete", KEPT, "trash"),
    ],
)
def test_each_command_moves_a_record_to_its_target_tier(
    run: Run, root: Path, verb: str, key: str, goal: str
) -> None:
    done = run(verb, key, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"done": [key], "unchanged": [], "refused": []}
    assert tier(root, key) == goal


def test_restore_returns_a_record_to_its_former_tier(run: Run, root: Path) -> None:
    run("delete", KEPT)
    assert run("restore", KEPT).returncode == 0
    assert tier(root, KEPT) == "library"


def test_many_refusals_with_one_reason_are_printed_as_one_line(run: Run, root: Path) -> None:
    nobody = [address(number) for number in range(100, 130)]
    done = run("approve", *nobody, "--json")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "refused 30 for one reason" in line]
    assert len(lines) == 1
    assert nobody[0] in lines[0]
    assert nobody[20] not in done.stderr
    assert {refusal["item"] for refusal in json.loads(done.stdout)["refused"]} == set(nobody)


def test_approve_names_refused_records_and_approves_the_rest(run: Run, root: Path) -> None:
    done = run("approve", PENDING, KEPT, NOWHERE)
    assert done.returncode == 1
    assert f"refused {KEPT}" in done.stderr
    assert f"refused {NOWHERE}: no record has this address" in done.stderr
    assert tier(root, PENDING) == "approved"


def test_caption_changes_only_the_given_facets(run: Run, root: Path) -> None:
    assert run("caption", KEPT, "--context", "up and away", "--emotions", "").returncode == 0
    assert caption(root, KEPT) == {
        "entity": "a dog in a space suit",
        "context": "up and away",
        "visual": "pixel art",
        "emotions": "",
    }


def test_caption_writes_tags_and_their_categories(run: Run, root: Path) -> None:
    run("caption", APPROVED, "--tags", " cat, moon ,")
    with Reader(root) as reader:
        record = reader.get(APPROVED)
    assert (record.tags, record.categories) == (["cat", "moon"], ["animals", "space"])
    assert record.caption == {}


def test_caption_with_nothing_to_write_is_wrong_usage(run: Run, root: Path) -> None:
    assert run("caption", KEPT).returncode == 2


def test_promote_all_promotes_captioned_records_and_names_the_rest(run: Run, root: Path) -> None:
    done = run("promote", "--all")
    assert done.returncode == 1
    assert f"refused {APPROVED}: caption" in done.stderr
    assert tier(root, CAPTIONED) == "library"
    assert tier(root, APPROVED) == "approved"


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


@pytest.mark.parametrize("addresses", [[], ["--all", PENDING]])
def test_promote_requires_either_addresses_or_all(run: Run, root: Path, addresses: list[str]) -> None:
    assert run("promote", *addresses).returncode == 2


# -- undo, redo, history -----------------------------------------------------------------------------------


def test_undo_and_redo_apply_to_the_last_decisions(run: Run, root: Path) -> None:
    run("approve", PENDING)
    run("delete", CAPTIONED)
    assert run("undo", 2).returncode == 0
    assert (tier(root, PENDING), tier(root, CAPTIONED)) == ("pending", "approved")
    assert run("redo", 2).returncode == 0
    assert (tier(root, PENDING), tier(root, CAPTIONED)) == ("approved", "trash")


def test_undo_does_not_affect_another_users_decisions(run: Run, root: Path) -> None:
    run("approve", PENDING)
    done = run("undo", "--actor", "bob")
    assert done.returncode == 1
    assert "nothing to undo" in done.stderr
    assert tier(root, PENDING) == "approved"


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


@pytest.mark.parametrize(
    ("verb", "key", "reason"),
    [
        ("remove", PENDING, "it is in review, not in the library"),
        ("back-to-review", KEPT, "it is in the library, not approved"),
        ("restore", APPROVED, "it is approved, not rejected"),
        ("reject", KEPT, "it is in the library, not in review or approved"),
    ],
)
def test_a_refusal_names_tiers_as_the_pages_do(
    run: Run, root: Path, verb: str, key: str, reason: str
) -> None:
    assert f"refused {key}: {reason}\n" in run(verb, key).stderr


def test_an_empty_address_is_refused_visibly(run: Run, root: Path) -> None:
    assert "refused '': no record has this address\n" in run("approve", "").stderr


@pytest.mark.parametrize("verb", ["promote", "draft", "accept"])
def test_addresses_and_all_exclude_each_other(run: Run, root: Path, verb: str) -> None:
    both = run(verb, PENDING, "--all")
    assert (both.returncode, both.stderr.splitlines()[-1].partition("Error: ")[2]) == (
        2,
        "give addresses or --all, not both",
    )


def tags_of(run: Run, address: str) -> tuple[list[str], list[str]]:
    record = json.loads(run("show", address, "--json").stdout)
    return record["tags"], record["tags_categories"]


@pytest.mark.usefixtures("root")
def test_tags_are_added_and_removed_for_several_records(run: Run) -> None:
    assert run("tag", APPROVED, PENDING, "--add", "moon, new", "--remove", "dog").returncode == 0
    assert tags_of(run, APPROVED) == (["moon", "new"], ["space", "other"])
    assert run("undo").returncode == 0
    assert tags_of(run, PENDING) == (["dog"], ["animals"])


@pytest.mark.usefixtures("root")
def test_renaming_a_tag_everywhere_can_be_undone(run: Run) -> None:
    renamed = run("rename-tag", "dog", "--to", "hound")
    assert renamed.returncode == 0
    assert "renamed on 5" in renamed.stderr
    assert tags_of(run, KEPT) == (["hound"], ["animals"])
    assert json.loads(run("taxonomy", "--json").stdout)["hound"] == "animals"
    run("undo")
    assert tags_of(run, KEPT) == (["dog"], ["animals"])


@pytest.mark.usefixtures("root")
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


@pytest.mark.usefixtures("root")
def test_nothing_to_add_or_remove_is_wrong_usage(run: Run) -> None:
    assert run("tag", KEPT).returncode == 2
    assert run("taxonomy", "--set", "dog").returncode == 2


@pytest.mark.usefixtures("root")
def test_what_changes_nothing_is_not_counted_as_changed(run: Run) -> None:
    done = run("tag", APPROVED, "--remove", "neverthere")
    assert (done.returncode, done.stderr) == (0, "tagged 0, unchanged 1\n")


@pytest.mark.usefixtures("root")
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


@pytest.mark.usefixtures("root")
def test_a_word_that_is_added_and_removed_at_once_is_known(run: Run) -> None:
    done = run("unfit-words", "--add", "dogecoin", "--remove", "dogecoin")
    assert (done.returncode, done.stderr) == (0, "added: none; removed: none\n")


@pytest.mark.usefixtures("root")
def test_a_known_tag_is_renamed_although_another_is_unknown(run: Run) -> None:
    renamed = run("rename-tag", "dog", "nope", "--to", "hound")
    assert renamed.returncode == 1
    assert "renamed on 5, refused 1" in renamed.stderr
    assert tags_of(run, KEPT) == (["hound"], ["animals"])
