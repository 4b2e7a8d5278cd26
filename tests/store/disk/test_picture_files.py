"""Pictures are told by their content, and complete pixels are a picture whatever stands beside them."""

import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from pillow_heif import from_pillow

from store.disk import images
from store.disk.picture_files import BEGINNING, is_picture
from store.errors import BadPicture

_SPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
SVG = f'<svg {_SPACES} viewBox="0 0 100 50">{{}}</svg>'


def drawing() -> Image.Image:
    image = Image.new("RGB", (200, 120), "white")
    draw = ImageDraw.Draw(image)
    draw.ellipse((20, 20, 100, 100), fill="red")
    draw.rectangle((120, 20, 180, 100), fill="blue")
    return image


def saved(kind: str, **how: object) -> bytes:
    file = BytesIO()
    drawing().save(file, kind, **how)
    return file.getvalue()


def heic() -> bytes:
    file = BytesIO()
    from_pillow(drawing()).save(file, quality=90)
    return file.getvalue()


def chunk(name: bytes, data: bytes, *, crc: int | None = None) -> bytes:
    found = zlib.crc32(name + data) if crc is None else crc
    return struct.pack(">I4s", len(data), name) + data + struct.pack(">I", found)


def with_chunk(added: bytes) -> bytes:
    png = saved("PNG")
    return png[:33] + added + png[33:]  # behind the header


def looks_like_the_drawing(content: bytes) -> bool:
    image = images.decode(content)
    wide, high = image.size
    red, blue = image.getpixel((int(wide * 0.3), high // 2)), image.getpixel((int(wide * 0.75), high // 2))
    return red[0] > 200 > 60 > red[2] and blue[2] > 200 > 60 > blue[0]


@pytest.mark.parametrize(
    "content",
    [
        *(saved(kind) for kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF", "TIFF", "JPEG2000")),
        heic(),
        with_chunk(chunk(b"zTXt", b"workflow\0\0" + zlib.compress(b"x" * 3_000_000))),
        with_chunk(chunk(b"iTXt", b"workflow\0\1\0\0\0" + zlib.compress(b"x" * 3_000_000))),
        with_chunk(chunk(b"tEXt", b"note\0wrong", crc=1)),
        saved("PNG")[:-12],  # without its last chunk
        saved("JPEG")[:-2],
        saved("JPEG", progressive=True)[:-2],
        saved("JPEG")[:-1],
    ],
    ids=[
        *("png", "jpeg", "gif", "webp", "bmp", "avif", "tiff", "jp2", "heic", "huge zTXt", "huge iTXt"),
        *(
            "wrong checksum of a text",
            "no IEND",
            "no end marker",
            "progressive, no end",
            "half an end marker",
        ),
    ],
)
def test_a_file_with_all_pixels_is_a_picture_whatever_it_is_called(content: bytes, tmp_path: Path) -> None:
    assert is_picture(content[:BEGINNING])
    assert looks_like_the_drawing(content)
    assert images.normalise(images.normalise(content)) == images.normalise(content)


@pytest.mark.parametrize(
    ("share", "progressive"), [(0.3, False), (0.6, False), (0.9, False), (0.3, True), (0.6, True)]
)
def test_a_picture_that_lacks_pixels_is_refused(share: float, progressive: bool) -> None:
    whole = saved("JPEG", progressive=progressive, quality=98)
    with pytest.raises(BadPicture, match="cut short"):
        images.decode(whole[: int(len(whole) * share)])
    png = saved("PNG")
    with pytest.raises(BadPicture, match="cut short"):
        images.decode(png[: int(len(png) * share)])


def test_a_progressive_picture_without_its_last_refinement_is_whole() -> None:
    whole = saved("JPEG", progressive=True, quality=90)
    scans = [at for at in range(len(whole)) if whole.startswith(b"\xff\xda\0", at)]
    for cut in (scans[-1] + 20, scans[-1] - 2, len(whole) - 2):
        assert looks_like_the_drawing(whole[:cut])
    with pytest.raises(BadPicture, match="cut short"):
        images.decode(whole[: scans[2] + 20])


@pytest.mark.parametrize(
    "root",
    [
        'svg width="64.000000pt" height="64pt" viewBox="0 0 9 9"',
        'svg width="20mm" height="20mm" viewBox="0 0 9 9"',
        'ns0:svg xmlns:ns0="http://www.w3.org/2000/svg" viewBox="0 0 9 9"',
    ],
)
def test_a_drawing_may_be_measured_in_points_and_have_a_prefix(root: str) -> None:
    prefix = "ns0:" if root.startswith("ns0:") else ""
    square = f'<{prefix}rect width="9" height="9" fill="#c00"/>'
    drawing = f'<{root} xmlns="http://www.w3.org/2000/svg">{square}</{prefix}svg>'
    assert is_picture(drawing.encode())
    assert images.decode(drawing.encode()).getpixel((9, 9))[0] > 150


def test_an_icon_is_read_at_its_largest_size() -> None:
    file = BytesIO()
    drawing().resize((64, 64)).save(file, "ICO", sizes=[(16, 16), (64, 64)])
    assert is_picture(file.getvalue())
    assert images.decode(file.getvalue()).size == (512, 512)


def test_a_drawing_is_rendered_large_without_anything_from_elsewhere(tmp_path: Path) -> None:
    Image.new("RGB", (50, 50), "red").save(tmp_path / "secret.png")
    shapes = '<rect width="50" height="50" fill="lime"/>'
    content = SVG.format(shapes).encode()
    assert is_picture(b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- made by hand -->" + content)
    image = images.decode(content)
    assert image.size == (512, 256)
    assert image.getpixel((100, 100)) == (0, 255, 0)
    path = tmp_path / "secret.png"
    for link in (
        f"href='{path}'",
        f'xlink:href="{path}"',
        f'HREF="{path}"',
        f'href = "file://{path}"',
        'href="&p;"',
    ):
        entity = f'<!DOCTYPE svg [<!ENTITY p "{path}">]>' if "&p;" in link else ""
        outside = entity + SVG.format(f"{shapes}<image {link} x='50' width='50' height='50'/>")
        try:
            found = images.decode(outside.encode())
        except BadPicture:
            continue
        assert found.getpixel((400, 128)) == (255, 255, 255), link


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"<svg", "text, not a picture"),
        (SVG.format("<g>").encode(), "cannot be read"),
        (SVG.format("").replace("0 0 100 50", "0 0 1 1000000").encode(), "times as long as wide"),
        (SVG.format("ä").encode("latin-1"), "UTF-8"),
        (b"<html><svg></svg></html>", "text"),
    ],
)
def test_a_drawing_that_cannot_be_rendered_says_why(content: bytes, why: str) -> None:
    with pytest.raises(BadPicture, match=why):
        images.decode(content)


@pytest.mark.parametrize(
    "text", [b"BMW is a car", b"{}", b"RIFF....WAVE", b"", b"II of this name", b"%PDF-1.7"]
)
def test_other_files_are_no_pictures(text: bytes) -> None:
    assert not is_picture(text)
