"""Where the files of a memory are."""

from pathlib import Path

from store.memory.engine.places import Places


def test_places_are_below_the_root(tmp_path: Path) -> None:
    assert Places(tmp_path).database == tmp_path / "memory" / "memory.sqlite3"
    assert Places(tmp_path).worlds == tmp_path / "memory" / "worlds"
