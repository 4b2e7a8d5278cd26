"""Thumbnails: small copies of pictures, created once and written atomically."""

from pathlib import Path

import pytest
from PIL import Image

from store.disk.files import content_hash
from store.disk.layout import Layout
from store.disk.thumbnails import SIZES, thumbnail
from store.errors import BadPicture


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "coin.jpg"
    Image.effect_noise((512, 512), 80).convert("RGB").save(path, quality=90)
    return path


@pytest.mark.parametrize("size", SIZES)
def test_a_thumbnail_is_a_webp_of_the_requested_size(tmp_path: Path, picture: Path, size: int) -> None:
    copy = thumbnail(Layout(tmp_path), picture, content_hash(picture.read_bytes()), size=size)
    with Image.open(copy) as image:
        assert (image.format, image.size) == ("WEBP", (size, size))


def test_a_thumbnail_is_created_only_once(tmp_path: Path, picture: Path) -> None:
    digest = content_hash(picture.read_bytes())
    first = thumbnail(Layout(tmp_path), picture, digest, size=320)
    made = first.stat().st_mtime_ns
    assert thumbnail(Layout(tmp_path), picture, digest, size=320) == first
    assert first.stat().st_mtime_ns == made


def test_an_unreadable_picture_leaves_no_thumbnail(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"not a picture")
    with pytest.raises(BadPicture):
        thumbnail(Layout(tmp_path), broken, "ab" * 32, size=320)
    assert not list(Layout(tmp_path).thumbnails.rglob("*.*"))


def test_a_failed_write_leaves_no_thumbnail(
    tmp_path: Path, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    with pytest.raises(OSError, match="No space left"):
        thumbnail(Layout(tmp_path), picture, "ab" * 32, size=320)
    assert not [path for path in Layout(tmp_path).thumbnails.rglob("*") if path.is_file()]


def test_only_the_supported_sizes_are_accepted(tmp_path: Path, picture: Path) -> None:
    with pytest.raises(BadPicture, match="320 and 512"):
        thumbnail(Layout(tmp_path), picture, "ab" * 32, size=5000)
