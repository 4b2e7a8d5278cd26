"""Pictures in a place that several machines reach."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from store.disk.files import content_hash
from store.errors import BadSource
from store.pictures.shared_pictures import SharedPictures
from tests.store.conftest import normal_picture

CONTENT = normal_picture(1)
HASH = content_hash(CONTENT)


@pytest.fixture
def shared(tmp_path: Path) -> SharedPictures:
    return SharedPictures(f"file://{tmp_path / 'shared'}", tmp_path / "kept")


def test_a_picture_is_fetched_once_and_kept(shared: SharedPictures, tmp_path: Path) -> None:
    assert shared.hashes() == set()
    assert shared.fetch(HASH) is None
    shared.write(HASH, CONTENT)
    assert shared.hashes() == {HASH}
    path = shared.fetch(HASH)
    assert path.read_bytes() == CONTENT
    next((tmp_path / "shared").rglob("*.jpg")).unlink()
    assert shared.fetch(HASH) == path


def test_a_picture_that_is_not_whole_is_not_there(shared: SharedPictures, tmp_path: Path) -> None:
    shared.write(HASH, CONTENT)
    next((tmp_path / "shared").rglob("*.jpg")).write_bytes(CONTENT[:100])
    assert shared.read(HASH) is None
    assert shared.fetch(HASH) is None
    assert not any((tmp_path / "kept").rglob("*.jpg"))


def test_many_browsers_that_ask_at_once_all_get_it(shared: SharedPictures, tmp_path: Path) -> None:
    shared.write(HASH, CONTENT)
    with ThreadPoolExecutor(16) as browsers:
        found = list(browsers.map(shared.fetch, [HASH] * 64))
    assert {path and path.read_bytes() for path in found} == {CONTENT}
    assert [path.name for path in (tmp_path / "kept").rglob("*") if path.is_file()] == [f"{HASH}.jpg"]


@pytest.mark.parametrize("address", ["nonsense://place", "file:///dev/null/pictures"])
def test_a_place_that_cannot_be_used_is_named(address: str, tmp_path: Path) -> None:
    shared = SharedPictures(address, tmp_path / "kept")
    with pytest.raises(BadSource, match=address):
        shared.write(HASH, CONTENT)
    assert shared.fetch(HASH) is None
