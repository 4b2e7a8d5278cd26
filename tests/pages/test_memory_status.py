"""The text memory in Settings: kinds, models, files of worlds."""

from pathlib import Path

import pytest
import streamlit as st

from components.overview import model_choice
from store.memory.memory import Memory
from tests.pages.conftest import finish_jobs, is_locked, opened, press, rerun, words
from tests.store.memory.bags import Bags


def test_the_system_status_reports_an_unusable_file_and_shows_all_kinds(
    memory: Memory, tmp_path: Path
) -> None:
    memory.close()
    st.cache_resource.clear()
    path = memory.places.database
    path.write_bytes(b"rubbish" * 1000)
    app = opened("settings", section="System status")
    assert "The text memory cannot be used:" in words(app)
    assert f"{path} cannot be read" in words(app)
    assert len(app.metric) == 5
    Memory.open(tmp_path).close()  # the one that the page opened


def test_the_system_status_lists_every_concern_with_its_remedy(memory: Memory) -> None:
    app = opened("settings", section="System status")
    labels = [expander.label for expander in app.expander]
    assert any("worlds without lore" in label for label in labels)
    assert "Remedy: " in words(app)
    press(app, "Check the text memory")
    finish_jobs()
    assert "blank_atlas has no lore" in rerun(app).dataframe[-1].value["what"].to_list()[0]


def test_a_world_file_edited_while_the_dashboard_runs_is_reported_and_reloaded(memory: Memory) -> None:
    changed = "files of worlds that are new or changed"
    assert not any(
        changed in expander.label for expander in opened("settings", section="System status").expander
    )
    (memory.places.worlds / "blank_atlas.yaml").write_text("id: blank_atlas\nlore: A page is filled at last.")
    (memory.places.worlds / "broken.yml").write_text("- no world")
    app = opened("settings", section="System status")
    assert any(changed in expander.label and "· 2" in expander.label for expander in app.expander)
    assert "broken.yml" in words(app)
    press(app, "Read it again")
    finish_jobs()
    assert memory.lore.query_lore("blank_atlas", "page") == (["A page is filled at last."], False)
    assert memory.lore.unread_files() == ["broken.yml"]


def test_a_broken_world_is_named_with_an_example_and_the_good_one_beside_it_is_imported(
    memory: Memory,
) -> None:
    app = opened("memory", view="Browse", kind="world_lore")
    good = ("frogland.yaml", b"id: frogland\nlore: Frogs rule the ponds.", "text/yaml")
    bad = ("broken.yaml", b"id: peaks\nname: Peaks\nlore: a: b", "text/yaml")
    app.file_uploader[0].set_value([good, bad])
    message = words(rerun(app)) + "\n".join(code.value for code in app.code)
    assert "broken\\.yaml cannot be imported" in message
    assert "line 3: this is not YAML: mapping values are not allowed here" in message
    assert "a world looks like this:\nid: frogland\nname: Frogland\nlore: " in message
    press(app, "Import 1 world")
    finish_jobs()
    assert memory.lore.query_lore("frogland", "ponds") == (["Frogs rule the ponds."], False)
    assert not (memory.places.worlds / "broken.yaml").exists()
    assert "cannot be imported" not in words(app), "the place for files is empty again"
    assert is_locked("import-worlds")


def test_two_worlds_of_one_file_name_are_both_imported(memory: Memory) -> None:
    app = opened("memory", view="Browse", kind="world_lore")
    files = [("world.yaml", f"id: {id}\nlore: {id} rule.".encode(), "text/yaml") for id in ("frogs", "goats")]
    app.file_uploader[0].set_value(files)
    press(rerun(app), "Import 2 worlds")
    finish_jobs()
    for id in ("frogs", "goats"):
        assert memory.lore.query_lore(id, "rule") == ([f"{id} rule."], False)


def test_the_model_of_one_kind_can_be_changed_in_the_settings(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.memory.memory.open_embedder", lambda name: Bags(name="other"))
    monkeypatch.setattr(model_choice, "open_embedder", lambda name: Bags(name="other"))
    app = opened("settings", section="Embedding model")
    app.selectbox(key="memory-model-kind").set_value("memories")
    press(rerun(app), "Embed them with it")
    finish_jobs()
    assert memory.kinds["memories"].model == "other"
    assert memory.kinds["world_lore"].model != "other"
    assert "other · 14" in words(opened("settings", section="System status"))
