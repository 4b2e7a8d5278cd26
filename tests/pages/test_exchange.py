"""Exporting coins and importing captions from the page."""

from pathlib import Path

import pytest

from components.captions import import_captions
from components.editor.rows import EditorRow
from store.importing.captions import captions_at
from store.library import Library
from store.tasks.import_captions import preview
from tests.browser.coins import COINS
from tests.pages.conftest import finish_jobs, opened, press, rerun, send, words


def test_filtered_coins_are_exported_as_a_downloadable_zip(library: Library) -> None:
    app = opened("exchange")
    app.selectbox(key="export-from").set_value("Library")
    app.selectbox(key="export-format").set_value("imagefolder")
    app.button(key="export-go").click()  # in the same run as the last choice
    rerun(app)
    finish_jobs()
    (out,) = library.layout.exports.iterdir()
    assert out.name in words(opened("exchange")), "also for another session"
    shown = preview(library, captions_at([out], facet="entity"))
    assert (shown.same, shown.changes, shown.refused) == (len(COINS), [], [])


def test_captions_are_imported_after_a_preview_and_undone_as_one(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[EditorRow] = []
    monkeypatch.setattr(import_captions, "show_rows", lambda key, library, rows, **_: seen.extend(rows))
    before = {coin.address: library.get(coin.address).caption for coin in COINS}
    rows = [f"{coin.address},Taken in for {number}" for number, coin in enumerate(COINS)]
    (tmp_path / "captions.csv").write_text("\n".join(["address,entity", *rows]))
    app = opened("exchange")
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
