"""What a second import brings to coins that are here: the fields they lack, and a reason for all others."""

import json
from pathlib import Path
from typing import Any

import pytest

from store.importing import candidates
from store.importing.candidate import Candidate, RemoteLogo
from store.library import Library
from store.writing.completion import compared
from tests.store.conftest import address, coin, picture
from tests.store.invariants import holds

pytestmark = pytest.mark.usefixtures("without_chroma")
FIRST, SECOND = address(0), address(1)
FIELDS: dict[str, Any] = {
    "ticker": "FROG",
    "description": "A frog.",
    "created_at": 1_714_564_800,
    "decimals": 9,
    "logoURI": "https://frog.example/logo.png",
    "caption": {"entity": "a frog", "context": "the moon"},
    "tags": ["dog", "moon"],
    "unknown": {"kept": True},
}


def bare(number: int, **more: Any) -> Candidate:
    """A coin of which only the picture is known, called by its file."""
    fields = {"token_name": f"frog {number}", "token_address": address(number), **more}
    return Candidate(f"frog {number}.png", fields, picture(number), picture_name=f"frog {number}")


def test_every_field_that_a_coin_lacks_comes_in_with_one_undo(library: Library) -> None:
    library.add([bare(0)])
    before = library.get(FIRST).sidecar
    report = library.add([bare(0, **FIELDS), bare(1)], source="table")
    assert (report.done, report.completed, report.not_taken) == ([SECOND], [FIRST], [])
    sidecar = library.get(FIRST).sidecar
    assert {key: sidecar[key] for key in FIELDS} == FIELDS
    assert sidecar["tags_categories"] == ["animals", "space"]
    assert "created_at_is_import_time" not in sidecar
    holds(library)
    again = library.add([bare(0, **FIELDS)])
    assert (again.completed, again.not_taken, again.decision) == ([], [], None)
    library.undo()
    assert library.get(FIRST).sidecar == before
    assert library.get(SECOND).tier == "trash"


def test_a_name_that_is_only_its_files_gives_way_to_a_real_one(library: Library) -> None:
    library.add([bare(0)])
    report = library.add(
        [Candidate("row", {**bare(0).sidecar, "token_name": "Pepe"}, picture(0), picture_name="frog 0")]
    )
    assert (report.completed, library.get(FIRST).name) == ([FIRST], "Pepe")
    assert library.add([bare(0)]).not_taken == [], "a file's name states nothing"


def test_what_the_coin_has_stays_and_the_report_names_the_verb_that_takes_it(library: Library) -> None:
    library.add([bare(0, **FIELDS)])
    other = {"caption": {"entity": "a toad"}, "tags": ["cat"], "ticker": "TOAD", "created_at": 5}
    before = library.get(FIRST).sidecar
    report = library.add([bare(0, **other)])
    assert library.get(FIRST).sidecar == before
    own, editor = "already there: the coin has its own here", "change it in the coin's JSON file"
    assert sorted(report.notes) == [
        f"not taken: caption.entity of 1 {own}; import-captions takes it",
        f"not taken: created_at of 1 {own}; {editor}",
        f"not taken: tags of 1 {own}; import-captions takes it",
        f"not taken: ticker of 1 {own}; {editor}",
    ]


def test_what_a_person_removed_does_not_come_back_unless_that_was_undone(library: Library) -> None:
    library.add([bare(0, tags=["dog"], caption={"entity": "a frog", "visual": "green"})])
    library.edit_tags([FIRST], remove=["dog"])
    library.caption(FIRST, caption={"entity": None, "visual": ""})
    again = bare(0, tags=["dog"], caption={"entity": "a frog", "visual": "green"})
    report = library.add([again])
    assert report.completed == []
    assert {(one.field, one.reason.partition(";")[0]) for one in report.not_taken} == {
        ("tags", "it was removed here"),
        ("caption.entity", "it was removed here"),
        ("caption.visual", "the coin has its own here"),  # "" is left empty on purpose
    }


def test_an_undone_completion_may_come_in_again(library: Library) -> None:
    library.add([bare(0)])
    library.add([bare(0, tags=["dog"])])
    library.undo()
    assert library.get(FIRST).tags == []
    assert library.add([bare(0, tags=["dog"])]).completed == [FIRST]
    assert library.get(FIRST).tags == ["dog"]


def test_a_rejected_coin_gets_nothing_and_says_which_verb_helps(library: Library) -> None:
    library.add([bare(0)])
    library.reject([FIRST])
    report = library.add([bare(0, tags=["dog"])])
    assert [one.reason for one in report.not_taken] == ["the coin is rejected; restore it first"]
    library.restore([FIRST])
    assert library.add([bare(0, tags=["dog"])]).completed == [FIRST]


def test_a_field_that_was_filled_in_counts_as_lacking(library: Library) -> None:
    library.add([bare(0, filled_in=["token_name", "description"])])
    report = library.add([coin(0)])
    sidecar = library.get(FIRST).sidecar
    assert (report.completed, sidecar["token_name"], sidecar["description"]) == (
        [FIRST],
        "Coin 0",
        "The coin number 0.",
    )
    assert "filled_in" not in sidecar


def test_a_field_that_is_not_valid_refuses_that_coin_alone(library: Library) -> None:
    library.add([bare(0), bare(1)])
    report = library.add([bare(0, caption={"entity": 5}), bare(1, tags=["dog"])])
    assert (report.completed, [one.item for one in report.refused]) == ([SECOND], [FIRST])


def test_a_row_without_a_picture_completes_the_coin_on_its_chain(library: Library, tmp_path: Path) -> None:
    evm = "0x" + "ab" * 20
    library.add([Candidate("evm", {"token_name": "Frog", "token_address": evm, "chainId": 1}, picture(0))])
    rows = [
        {"address": evm, "chainId": "ethereum", "decimals": "18"},
        {"address": evm, "chainId": "bsc", "decimals": "9", "name": "Frog"},
        {"name": "Toad", "image": "https://toad.example/a.png"},
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    report = library.add(candidates([tmp_path / "rows.json"]))
    assert (report.done, report.completed, library.get(evm).sidecar["decimals"]) == ([], [evm], 18)
    assert [refusal.item.partition(" row ")[2] for refusal in report.refused] == ["2 Frog", "3 Toad"]
    toad = report.refused[1]
    assert isinstance(toad, RemoteLogo), "which fetch-logos downloads"
    assert (toad.uri, toad.address[:6]) == ("https://toad.example/a.png", "local-")


def test_a_coin_of_the_library_is_embedded_again_with_what_came_in(library: Library) -> None:
    library.add([bare(0, caption={"entity": "a frog", "context": "the moon"})])
    library.approve([FIRST])
    library.promote([FIRST])
    report = library.add([bare(0, caption={"visual": "green", "entity": "a frog"})])
    assert (report.completed, library.get(FIRST).caption["visual"]) == ([FIRST], "green")
    holds(library)


def test_the_history_is_read_only_for_coins_that_lack_something(library: Library) -> None:
    library.add([bare(0, tags=["dog"])])

    def never() -> list[dict[str, Any]]:
        raise AssertionError

    assert compared(library.get(FIRST), {"tags": ["dog"]}, earlier=never).fields == {}
