"""Importing captions: a preview of the changes, then one decision and one undo."""

import json

import pytest

from store.catalog.filters import Filter
from store.exporting import export
from store.importing import candidates
from store.importing.captions import captions_at, captions_dropped
from store.library import Library
from store.tasks.import_captions import Preview, preview, start
from tests.store.conftest import address, approved_with_caption, coin, picture
from tests.store.exporting.coins import LOSSLESS

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def coins(library: Library) -> list[str]:
    """Three coins with captions, one of them with emotions declared empty."""
    coins = approved_with_caption(library, 0, 1, 2)
    library.caption(coins[1], caption={"emotions": ""}, tags=["dog", "new one"])
    return coins


def import_and_wait(library: Library, shown: Preview) -> None:
    job = start(library, shown.changes)
    assert library.jobs.wait(job.id, timeout=60)
    assert library.jobs.get(job.id).refused == 0


@pytest.mark.parametrize("ending", ["", ".zip"])
@pytest.mark.parametrize("form", LOSSLESS)
def test_importing_an_export_restores_only_captions_changed_since(
    library: Library, coins: list[str], tmp_path, form: str, ending: str
) -> None:
    records = library.find(Filter(tier="approved"))
    out = tmp_path / f"out{ending}"
    export(records, library.picture, destination=out, format=form)
    shown = preview(library, captions_at([out], facet="context"))
    assert (shown.changes, shown.same, shown.refused) == ([], 3, [])

    library.caption(coins[1], caption={"context": "something else"})
    shown = preview(library, captions_at([out], facet="context"))
    (change,) = shown.changes
    assert (change.record.address, change.caption, change.tags) == (
        coins[1],
        {"context": "text 1 context"},
        None,
    )
    import_and_wait(library, shown)
    assert library.get(coins[1]).sidecar == {record.address: record for record in records}[coins[1]].sidecar


def test_an_edited_text_file_is_imported_unless_its_facets_are_ambiguous(
    library: Library, coins: list[str], tmp_path
) -> None:
    for texts in ("context", "joined"):
        export(
            [library.get(coins[0])], library.picture, destination=tmp_path / texts, format="txt", texts=texts
        )
        (tmp_path / texts / f"{coins[0]}.txt").write_text("edited elsewhere\n")
    shown = preview(library, captions_at([tmp_path / "context"], facet="entity"))
    assert [(one.caption, one.tags) for one in shown.changes] == [({"context": "edited elsewhere"}, None)]
    shown = preview(library, captions_at([tmp_path / "joined"], facet="entity"))
    assert (shown.changes, shown.same) == ([], 1)
    assert "change its line in records.jsonl instead" in shown.refused[0].reason


def test_one_undo_reverts_the_whole_import(library: Library, coins: list[str]) -> None:
    lines = [{"token_address": coin, "entity": f"new {coin}", "tags": ["moon"]} for coin in coins]
    dropped = [("captions.jsonl", "\n".join(map(json.dumps, lines)).encode())]
    shown = preview(library, captions_dropped(dropped, facet="entity"))
    assert [(one.caption["entity"], one.tags) for one in shown.changes] == [
        (f"new {coin}", ["moon"]) for coin in coins
    ]
    import_and_wait(library, shown)
    found = library.get(coins[0])
    assert (found.caption["entity"], found.caption["context"]) == (f"new {coins[0]}", "text 0 context")
    assert (found.tags, found.categories) == (["moon"], ["space"])
    library.undo()
    assert library.get(coins[0]).caption["entity"] == "text 0 entity"


def test_invalid_rows_are_reported_and_the_others_are_imported(library: Library, coins: list[str]) -> None:
    rows = ["address,entity", f"{coins[0]},fine", f"{address(77)},whose?", "no address,x", f"{coins[1]},"]
    shown = preview(library, captions_dropped([("a.csv", "\n".join(rows).encode())], facet="entity"))
    assert [one.caption for one in shown.changes] == [{"entity": "fine"}]
    assert shown.same == 1
    assert len(shown.refused) == 2
    space = [(f"{coins[1]}.csv", f'address,entity\n{coins[1]}," text 1 entity "'.encode())]
    assert preview(library, captions_dropped(space, facet="entity")).same == 1, (
        "space around is no other text"
    )
    assert "no record has the address" in "".join(refusal.reason for refusal in shown.refused)


def test_a_record_changed_after_the_preview_is_not_overwritten(library: Library, coins: list[str]) -> None:
    dropped = [(f"{coins[0]}.txt", b"from a file")]
    shown = preview(library, captions_dropped(dropped, facet="entity"))
    library.caption(coins[0], caption={"entity": "a person's"})
    job = start(library, shown.changes)
    library.jobs.wait(job.id, timeout=60)
    (refused,) = library.jobs.items(job.id, state="refused")
    assert "changed since you looked" in refused.reason
    assert library.get(coins[0]).caption["entity"] == "a person's"


def test_an_import_keeps_typed_drafts(library: Library, coins: list[str]) -> None:
    library.drafts.save(coins[0], {"entity": "half a sen"})
    import_and_wait(
        library, preview(library, captions_dropped([(f"{coins[0]}.txt", b"a file's")], facet="entity"))
    )
    assert library.drafts.own(coins[0]) == {"entity": "half a sen"}


def test_a_text_beside_a_picture_is_of_the_coin_with_that_picture(library: Library, tmp_path) -> None:
    folder = tmp_path / "frogs"
    folder.mkdir()
    for number in range(4):
        (folder / f"frog {number}.png").write_bytes(picture(number))
    library.add(candidates([folder / "frog 0.png", folder / "frog 1.png"]))  # known by their pictures
    library.add([coin(2)])  # known by its address, and called otherwise in that folder
    (folder / "frog 0.txt").write_text("A green frog, on a lily pad.")
    (folder / "frog 1.txt").write_text("frog, lily pad, moon")
    (folder / "frog 2.txt").write_text("A dog.")
    (folder / "frog 3.txt").write_text("Nobody knows it.")
    (folder / "frog 4.txt").write_text("It is beside nothing.")
    rows = [{"file_name": "frog 1.png", "text": "A frog."}, {"file_name": "frog 9.png", "text": "?"}]
    (folder / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    shown = preview(library, captions_at([folder], facet="visual"))
    assert [(one.caption, one.tags) for one in shown.changes] == [
        ({"entity": "A frog."}, ["frog", "lily pad", "moon"]),
        ({"visual": "A green frog, on a lily pad."}, None),
        ({"visual": "A dog."}, None),
    ]
    assert [refusal.reason.partition(",")[0] for refusal in shown.refused] == [
        "no coin has the address",
        "no coin has the address",
        "no coin has the address",
    ]
    import_and_wait(library, shown)
    assert library.get(address(2)).caption == {"visual": "A dog."}


def test_a_caption_that_comes_later_finds_its_coin_by_name(library: Library, tmp_path) -> None:
    later = tmp_path / "later"
    later.mkdir()
    library.add([coin(number) for number in range(3)])
    names = [library.get(address(number)).name for number in range(3)]
    (later / f"{names[0]}.png.txt").write_text("A dog, seen by nobody.")
    (later / f"{names[1].upper()}.caption").write_text("frog, lily pad, moon")
    rows = [{"name": names[2], "text": "A cat."}, {"file_name": "img/unknown.png", "text": "?"}]
    (later / "list.json").write_text(json.dumps({"data": rows}))
    shown = preview(library, captions_at([later], facet="entity"))
    assert {one.record.name: (one.caption, one.tags) for one in shown.changes} == {
        names[0]: ({"entity": "A dog, seen by nobody."}, None),
        names[1]: ({}, ["frog", "lily pad", "moon"]),
        names[2]: ({"entity": "A cat."}, None),
    }
    assert [refusal.reason.partition(",")[0] for refusal in shown.refused] == ["no coin has the address"]


def test_other_fields_come_in_where_the_coin_lacks_them(library: Library, coins: list[str]) -> None:
    row = {"address": coins[0], "entity": "new", "decimals": "9", "ticker": "OTHER"}
    shown = preview(library, captions_dropped([("a.jsonl", json.dumps(row).encode())], facet="entity"))
    assert [(one.caption, one.others) for one in shown.changes] == [({"entity": "new"}, {"decimals": 9})]
    assert [(one.address, one.field) for one in shown.not_taken] == [(coins[0], "ticker")]
    import_and_wait(library, shown)
    assert (library.get(coins[0]).sidecar["decimals"], library.get(coins[0]).ticker) == (9, "C0")
