"""Exporting coins and importing captions from the page."""

import shutil
from pathlib import Path

import pytest

from components.captions import import_captions
from components.editor.rows import EditorRow
from store.catalog.filters import Filter
from store.exporting import FORMATS
from store.importing.captions import captions_at
from store.library import Library
from store.tasks.import_captions import preview
from tests.browser.coins import COINS
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, words
from tests.store.conftest import picture
from tests.store.other_systems import three_tier_library, transcript_database


def test_filtered_coins_are_exported_as_a_downloadable_zip(library: Library) -> None:
    app = opened("settings")
    app.selectbox(key="export-from").set_value("Library")
    app.selectbox(key="export-format").set_value("imagefolder")
    press(rerun(app), f"Export {len(COINS)} coins")
    finish_jobs()
    (out,) = library.layout.exports.iterdir()
    assert out.name in words(opened("settings")), "also for another session"
    shown = preview(library, captions_at([out], facet="entity"))
    assert (shown.same, shown.changes, shown.refused) == (len(COINS), [], [])


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_described(library: Library, form: str) -> None:
    app = opened("settings")
    app.selectbox(key="export-format").set_value(form)
    rerun(app)
    assert not app.exception


def test_captions_are_imported_after_a_preview_and_undone_as_one(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[EditorRow] = []
    monkeypatch.setattr(import_captions, "show_rows", lambda key, library, rows, **_: seen.extend(rows))
    before = {coin.address: library.get(coin.address).caption for coin in COINS}
    rows = [f"{coin.address},Taken in for {number}" for number, coin in enumerate(COINS)]
    (tmp_path / "captions.csv").write_text("\n".join(["address,entity", *rows]))
    app = opened("settings")
    app.text_input(key="import-captions-path-0").set_value(str(tmp_path / "captions.csv"))
    seen.clear()
    rerun(app)
    assert f"{len(COINS)} would change" in words(app)
    assert [row.after for row in seen] == [f"Taken in for {number}" for number in range(len(COINS))]
    assert [row.text for row in seen] == [before[row.record.address]["entity"] for row in seen]
    press(app, f"Import {len(COINS)} changes")
    finish_jobs()
    assert library.get(COINS[0].address).caption["entity"] == "Taken in for 0"
    send(opened(), "undo")
    assert {coin.address: library.get(coin.address).caption for coin in COINS} == before


def test_an_import_is_previewed_and_taken_as_a_person_says(empty: Library, tmp_path: Path) -> None:
    frogs = tmp_path / "frogs"
    frogs.mkdir()
    (frogs / "one.png").write_bytes(picture(1))
    (frogs / "one.txt").write_text("frog, green, très long", encoding="cp1252")
    (frogs / "t.xlsx").write_bytes(b"PK")
    app = opened("settings")
    press(app, "Import path", path=str(frogs), then="Look first")
    shown = words(app)
    assert "1 coin would come in" in shown
    assert "1 hold tags" in shown
    assert "tags: frog, green, très long" in shown
    assert "which is not read" in shown
    assert not empty.counts()["pending"]
    (texts,) = [one for one in app.segmented_control if one.label == "Texts beside pictures hold"]
    texts.set_value("sentence")
    rerun(app)
    assert "1 a sentence" in words(app)
    press(app, "Import frogs")
    finish_jobs()
    (coin,) = empty.find(Filter())
    assert coin.caption == {"entity": "frog, green, très long"}
    assert "Windows" in words(rerun(app))


def test_another_programs_folder_is_looked_at_then_taken_over(empty: Library, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "one.png").write_bytes(picture(1))
    (other / "one.txt").write_text("A dog.")
    app = opened("settings")
    app.text_input(key="memedex.adopt_text").set_value(str(other))
    press(app, "Preview")
    assert "Pictures with captions next to them" in words(app)
    assert "one decision" not in words(app)
    assert not empty.counts()["pending"]
    press(app, "Import")
    finish_jobs()
    assert empty.counts()["pending"] == 1
    assert "1 imported, 0 already there, 0 refused" in words(opened("settings"))


def test_the_preview_says_that_several_systems_are_one_decision(empty: Library, tmp_path: Path) -> None:
    three_tier_library(tmp_path / "other", range(1))
    transcript_database(tmp_path / "other" / "s.db", ["How do I deploy?"])
    app = opened("settings")
    app.text_input(key="memedex.adopt_text").set_value(str(tmp_path / "other"))
    press(app, "Preview")
    assert "These 2 systems are one decision, with one undo for all." in words(app)


def test_a_root_with_another_programs_chroma_offers_to_take_it_over(tmp_path: Path, empty: Library) -> None:
    aside = empty.layout.chroma / "foreign-20260101-000000-abcdef"
    three_tier_library(tmp_path / "other", range(2))
    shutil.copytree(tmp_path / "other" / "memecoins" / "rag_db", aside)
    app = opened("settings")
    assert "another program's Chroma with 6 vectors" in words(app)
    app.button(key="adopt-own").click()
    rerun(app)
    assert "Meme library of three tiers" in words(app)
