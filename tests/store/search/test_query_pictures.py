"""Trending pictures: the newest pictures of a folder, and no other files."""

import os
from pathlib import Path

import pytest

from store.disk.layout import Layout
from store.search import query_pictures
from store.settings import settings
from tests.store.conftest import picture


def test_pictures_are_listed_newest_first_without_links(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert query_pictures.trending_pictures(layout) == []
    folder = layout.memecoins / "trends"
    folder.mkdir(parents=True)
    for number in range(4):
        (folder / f"{number}.png").write_bytes(picture(number))
        os.utime(folder / f"{number}.png", (number, number))
    (folder / "notes.txt").write_text("no picture")
    (folder / "out.png").symlink_to(folder / "0.png")
    assert [path.name for path in query_pictures.trending_pictures(layout)] == [
        "3.png",
        "2.png",
        "1.png",
        "0.png",
    ]


def test_a_picture_deleted_meanwhile_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Layout(tmp_path).memecoins / "trends"
    folder.mkdir(parents=True)
    (folder / "0.png").write_bytes(picture(0))
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([folder / "gone.png", folder / "0.png"]))
    assert [path.name for path in query_pictures.trending_pictures(Layout(tmp_path))] == ["0.png"]


def test_the_setting_selects_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jpg").write_bytes(picture(1))
    monkeypatch.setenv("MEMEDEX_TRENDS_IMAGES_ROOT", str(tmp_path))
    settings.cache_clear()
    assert [path.name for path in query_pictures.trending_pictures(Layout(tmp_path / "other"))] == ["a.jpg"]
    monkeypatch.undo()
    settings.cache_clear()
