"""Pictures are normalised to one format, and anything else is refused with a reason."""

import contextlib
import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, ImageDraw

from store.disk import images
from store.disk.files import content_hash
from store.disk.images import MAX_BYTES, decode, normalise, stored_hashes, with_original
from store.errors import BadPicture

TOKENS = Path(__file__).parents[4] / "shared" / "data" / "tokens" / "images"


def encoded(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def opened(content):
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def is_near(pixel, colour, *, by=12):
    return all(abs(a - b) <= by for a, b in zip(pixel, colour, strict=True))


def png_with_declared_size(width, height):
    """A PNG of a few bytes whose header claims this size."""

    def chunk(kind, data):
        return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))

    header = struct.pack(">LLBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def test_a_picture_becomes_a_512_rgb_jpg_of_quality_90_without_metadata():
    noise = Image.effect_noise((300, 300), 80).convert("RGB")
    exif = Image.Exif()
    exif[0x010E] = "where I live"
    normal = opened(normalise(encoded(noise, "JPEG", exif=exif, comment=b"secret", dpi=(300, 300))))
    reference = opened(encoded(Image.new("RGB", (512, 512)), "JPEG", quality=90))
    assert (normal.format, normal.size, normal.mode) == ("JPEG", (512, 512), "RGB")
    assert normal.quantization == reference.quantization
    assert set(normal.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    assert not normal.getexif()


def test_transparent_pixels_become_white():
    clear = Image.new("RGBA", (512, 512), (255, 0, 0, 0))
    ImageDraw.Draw(clear).rectangle((128, 128, 384, 384), fill=(0, 0, 255, 255))
    normal = opened(normalise(encoded(clear)))
    assert is_near(normal.getpixel((20, 20)), (255, 255, 255))
    assert is_near(normal.getpixel((256, 256)), (0, 0, 255))


@pytest.mark.parametrize("mode", ["P", "LA", "RGB", "L"])
def test_every_kind_of_png_transparency_is_recognised(mode):
    image = Image.new(mode, (64, 64), 0 if mode in ("P", "L") else (0, 0) if mode == "LA" else (0, 0, 0))
    options = {} if mode == "LA" else {"transparency": (0, 0, 0) if mode == "RGB" else 0}
    assert is_near(opened(normalise(encoded(image, **options))).getpixel((256, 256)), (255, 255, 255))


def test_transparent_edges_do_not_show_the_hidden_colour():
    half = Image.new("RGBA", (128, 128), (0, 255, 0, 0))
    half.paste((255, 0, 0, 255), (64, 0, 128, 128))
    edge = np.asarray(decode(encoded(half)))[256]
    greenish = (edge[:, 1].astype(int) - edge[:, 2]).max()
    assert greenish < 20


@pytest.mark.parametrize(("size", "corner"), [((400, 100), (256, 5)), ((100, 400), (5, 256))])
def test_wide_and_tall_pictures_are_padded_with_white(size, corner):
    normal = opened(normalise(encoded(Image.new("RGB", size, (200, 0, 0)))))
    assert normal.size == (512, 512)
    assert is_near(normal.getpixel((256, 256)), (200, 0, 0))
    assert is_near(normal.getpixel(corner), (255, 255, 255))


@pytest.mark.parametrize("size", [(60_000, 1), (1, 60_000), (1, 1)])
def test_pictures_one_pixel_wide_or_high_are_accepted(size):
    assert opened(normalise(encoded(Image.new("RGB", size, "black")))).size == (512, 512)


def test_small_pictures_are_enlarged_smoothly():
    board = Image.new("L", (2, 2), 0)
    board.putpixel((0, 0), 255)
    shades = np.unique(np.asarray(decode(encoded(board)))[:, :, 0])
    assert len(shades) > 50


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_the_first_frame_of_an_animation_is_used(kind):
    frames = [Image.new("RGB", (64, 64), colour) for colour in ("red", "lime", "blue")]
    moving = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=100)
    assert is_near(decode(moving).getpixel((256, 256)), (255, 0, 0), by=20)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_picture_is_rotated_according_to_its_exif_orientation(kind):
    image = Image.new("RGB", (400, 200), "red")
    image.paste("blue", (0, 0, 200, 200))
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate 90° clockwise to display
    turned = decode(encoded(image, kind, exif=exif))
    assert turned.size == (256, 512)
    assert is_near(turned.getpixel((128, 60)), (0, 0, 255), by=20)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_the_original_is_as_large_as_it_is_seen(kind):
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate 90° clockwise to display
    content = encoded(Image.new("RGB", (1400, 200), "red"), kind, exif=exif)
    normal, original = with_original(content)
    assert original == (len(content), kind, 200, 1400)
    assert with_original(normal) == (normal, None)


def test_a_drawing_has_bytes_and_no_pixels():
    drawing = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
    )
    assert with_original(drawing)[1] == (len(drawing), "SVG", 0, 0)


def test_broken_exif_data_is_ignored():
    content = encoded(Image.new("RGB", (64, 64), "red"), "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff\0\0")
    assert is_near(decode(content).getpixel((256, 256)), (255, 0, 0))


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_unusual_and_broken_colour_profiles_are_accepted(kind):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()
    plain = Image.new("RGB", (64, 64), (200, 30, 30))
    odd = encoded(plain, kind, icc_profile=profile)
    broken = encoded(plain, kind, icc_profile=b"no profile at all")
    assert opened(normalise(odd)).mode == "RGB"
    assert is_near(decode(broken).getpixel((256, 256)), (200, 30, 30))


def test_an_srgb_profile_leaves_the_colours_unchanged():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for image in (
        Image.new("RGB", (64, 64), (10, 120, 240)),
        Image.new("RGBA", (64, 64), (10, 120, 240, 255)),
    ):
        found = decode(encoded(image, icc_profile=profile)).getpixel((256, 256))
        assert is_near(found, (10, 120, 240), by=2)


def test_cmyk_grey_palette_bilevel_and_16_bit_pictures_keep_their_colours():
    red = Image.new("RGB", (64, 64), (230, 40, 40))
    assert is_near(decode(encoded(red.convert("CMYK"), "JPEG")).getpixel((9, 9)), (230, 40, 40), by=20)
    assert is_near(decode(encoded(red.convert("P"))).getpixel((9, 9)), (230, 40, 40), by=30)
    assert is_near(decode(encoded(Image.new("1", (64, 64), 1))).getpixel((9, 9)), (255, 255, 255))
    assert is_near(decode(encoded(Image.new("L", (64, 64), 100), "JPEG")).getpixel((9, 9)), (100, 100, 100))
    half = Image.fromarray(np.full((64, 64), 32_768, np.uint16))
    assert is_near(decode(encoded(half)).getpixel((9, 9)), (128, 128, 128), by=2)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF"])
def test_every_supported_format_is_read(kind):
    assert opened(normalise(encoded(Image.new("RGB", (70, 50), "teal"), kind))).size == (512, 512)


def test_a_picture_is_known_under_the_hash_that_libraries_before_1_7_gave_it(monkeypatch):
    content = encoded(Image.effect_noise((300, 200), 80).convert("RGB"))
    now = normalise(content)
    monkeypatch.setattr(images, "_fitted", images._by_pillow)
    earlier = normalise(content)
    monkeypatch.undo()
    assert earlier != now
    assert stored_hashes(content) == [content_hash(now), content_hash(earlier)]
    assert stored_hashes(earlier) == [content_hash(earlier)]


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "CMYK"])
@pytest.mark.parametrize("size", [(500, 300), (512, 512), (700, 900), (2_500, 1_900)])
def test_a_picture_of_any_size_and_mode_looks_as_pillow_would_fit_it(mode, size):
    blurred = Image.effect_noise((40, 40), 60).resize(size, Image.Resampling.BICUBIC)
    image = blurred.convert("RGB").convert(mode)
    now, earlier = (np.asarray(fit(image), np.int16) for fit in (images._fitted, images._by_pillow))
    assert now.shape == earlier.shape
    assert np.abs(now - earlier).mean() < 1


def test_normalisation_is_deterministic_and_idempotent():
    content = encoded(Image.effect_noise((200, 90), 60).convert("RGB"))
    once = normalise(content)
    assert normalise(content) == once
    assert normalise(once) == once


def test_extra_bytes_in_a_normalised_picture_are_removed():
    once = normalise(encoded(Image.new("RGB", (64, 64), "red")))
    assert b"<script>" not in normalise(once + b"<script>alert(1)</script>")
    assert b"<script>" not in normalise(once[:-2] + b"\xff\xfe\0\x0a<script>\xff\xd9")


def test_the_format_is_detected_from_the_content_not_the_file_name(tmp_path):
    content = encoded(Image.new("RGB", (64, 64), "red"))
    path = tmp_path / "red.txt"
    path.write_bytes(content)
    assert normalise(path) == normalise(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"hello, I am a picture", "text, not a picture"),
        (b"<html><body>404</body></html>", "text, not a picture"),
        (b"  <svg xmlns='http://www.w3.org/2000/svg'><g>", "SVG"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n", "text, not a picture"),
        (b"\0\1\2\3" * 100, "no picture"),
        (b"\xff\xd8\xff", "damaged"),
        (png_with_declared_size(20_000, 20_000), "megapixels"),
        (png_with_declared_size(10_000, 10_000), "at most 64 million"),
        (png_with_declared_size(0, 5), "damaged|no picture"),
        (b"\0" * (MAX_BYTES + 1), "larger than 50 MB"),
    ],
    ids=lambda value: value[:12] if isinstance(value, bytes) else value,
)
def test_an_unusable_picture_is_refused_with_the_reason(content, reason):
    with pytest.raises(BadPicture, match=reason):
        normalise(content)


def test_a_huge_canvas_is_refused_before_memory_is_allocated():
    size = (16_383).to_bytes(3, "little")
    canvas = b"VP8X" + struct.pack("<L", 10) + b"\x02\0\0\0" + size + size
    with pytest.raises(BadPicture, match="at most 64 million"):
        normalise(b"RIFF" + struct.pack("<L", len(canvas) + 4) + b"WEBP" + canvas)
    with pytest.raises(BadPicture):
        normalise(b"GIF89a" + struct.pack("<HHBBB", 60_000, 60_000, 0, 0, 0) + b",")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "nothing.png", tmp_path):
        with pytest.raises(BadPicture, match="no such file"):
            normalise(path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_a_truncated_picture_is_refused_or_read_without_a_crash(kind):
    content = encoded(Image.effect_noise((80, 80), 60).convert("RGB"), kind)
    refused = 0
    for length in range(1, len(content), max(1, len(content) // 40)):
        try:
            normalise(content[:length])
        except BadPicture:
            refused += 1
    assert refused >= 30


@settings(max_examples=60, deadline=None)
@given(
    place=st.integers(0, 10_000),
    value=st.integers(0, 255),
    kind=st.sampled_from(["PNG", "GIF", "WEBP", "BMP"]),
)
def test_a_corrupted_picture_is_refused_or_read_without_a_crash(place, value, kind):
    content = bytearray(encoded(Image.new("P", (40, 30), 7), kind))
    content[place % len(content)] = value
    with contextlib.suppress(BadPicture):
        assert opened(normalise(bytes(content))).size == (512, 512)


@pytest.mark.skipif(not TOKENS.is_dir(), reason="the real tokens in ../shared/data are not here")
def test_every_real_logo_is_normalised():
    for path in sorted(TOKENS.iterdir()):
        assert opened(normalise(path)).size == (512, 512)
