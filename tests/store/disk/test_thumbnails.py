"""Thumbnails: small copies of pictures, created once and written atomically."""

from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from store.disk.files import content_hash
from store.disk.images import normalise
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


def copied(tmp_path: Path, picture: Image.Image) -> Image.Image:
    """The large copy of this picture, which is stored as every picture is."""
    path = tmp_path / "given.png"
    picture.save(path)
    stored = normalise(path)
    (tmp_path / "stored.jpg").write_bytes(stored)
    path = thumbnail(Layout(tmp_path), tmp_path / "stored.jpg", content_hash(stored), size=512)
    with Image.open(path) as image:
        return image.convert("RGBA")


@pytest.mark.parametrize("ground", [(0, 0, 0, 0), (250, 234, 234, 255)], ids=["transparent", "pale"])
@pytest.mark.parametrize("radius", [216, 256])
def test_a_round_logo_has_no_corners(tmp_path: Path, radius: int, ground: tuple[int, ...]) -> None:
    logo = Image.new("RGBA", (512, 512), ground)
    ImageDraw.Draw(logo).circle((255.5, 255.5), radius, fill="#2f6f4f")
    alpha = copied(tmp_path, logo).getchannel("A")
    assert alpha.getpixel((255, 255)) == 255
    assert alpha.getpixel((255, 266 - radius)) == 255
    assert {alpha.getpixel((x, y)) for x in (0, 60, 451, 511) for y in (0, 60, 451, 511)} == {0}


@pytest.mark.parametrize(
    ("ground", "shape"), [("white", "square"), ("black", "circle"), ("white", "face"), ("white", "nothing")]
)
def test_other_pictures_keep_their_ground(tmp_path: Path, ground: str, shape: str) -> None:
    picture = Image.new("RGB", (512, 512), ground)
    draw = ImageDraw.Draw(picture)
    if shape == "square":
        draw.rectangle((100, 100, 411, 411), fill="red")
    elif shape == "circle":
        draw.circle((255.5, 255.5), 220, fill="red")
    elif shape == "face":  # a line around white
        draw.circle((255.5, 255.5), 220, outline="black", width=4)
    assert copied(tmp_path, picture).getchannel("A").getextrema() == (255, 255)


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
