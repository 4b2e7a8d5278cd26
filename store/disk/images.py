"""Decode untrusted pictures within limits, and convert them to the library's one format."""

import re
import struct
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from store.disk import picture_files
from store.disk.files import content_hash
from store.errors import BadPicture

SIDE = 512  # pixels; other programs' libraries have 512×512 RGB JPGs of quality 90 too
QUALITY = 90
MAX_BYTES = 50_000_000  # of a file, before it is decoded
MAX_PIXELS = 64_000_000  # read from the header, before memory is taken for them
LARGE_PIXELS = 16_000_000  # several of these at once, from several threads, could take all memory
# Raster formats that Pillow decodes by itself; never one that starts a program (EPS) or reads other files.
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF", "TIFF", "ICO", "JPEG2000")
SUFFIXES = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".pjpeg", ".pjp", ".png", ".apng", ".gif", ".webp", ".bmp", ".avif"),
    *(".tif", ".tiff", ".ico", ".jp2", ".heic", ".heif", ".svg"),
)
_NAMES = "PNG, JPEG, GIF, WebP, BMP, AVIF, TIFF, ICO, HEIC or SVG"

Fit = Callable[[Image.Image], Image.Image]

_one_large_at_a_time = Lock()


class Original(NamedTuple):
    """A picture as it came: its bytes and format, and its size in pixels, upright; a drawing has none."""

    bytes: int
    format: str
    width: int = 0
    height: int = 0


def normalise(picture: bytes | Path) -> bytes:
    """Convert a picture to a 512×512 RGB JPG of quality 90 without metadata.

    The whole picture is fitted and centred on white; small ones are enlarged. The result is deterministic,
    and normalising it again returns the same bytes. Raises BadPicture like `decode`.
    """
    return with_original(picture)[0]


def with_original(picture: bytes | Path) -> tuple[bytes, Original | None]:
    """The normalised picture, and what it was before; None for one that was normalised before."""
    return _normalised(_content(picture), _fitted)


def stored_hashes(picture: bytes | Path) -> list[str]:
    """The hashes of this picture in a library: as stored now, and before 1.7. Raises BadPicture."""
    content = _content(picture)
    return list(dict.fromkeys(content_hash(_normalised(content, fit)[0]) for fit in (_fitted, _by_pillow)))


def _normalised(content: bytes, fit: Fit) -> tuple[bytes, Original | None]:
    image, original = _decoded(content, fit)
    if _is_normalised(content):
        return content, None  # encoding it a second time would lose quality and give it another hash
    if image.size == (SIDE, SIDE):
        image.info = {}  # a comment or a profile would be written along
        return jpeg(image), original
    canvas = Image.new("RGB", (SIDE, SIDE), "white")
    canvas.paste(image, ((SIDE - image.width) // 2, (SIDE - image.height) // 2))
    return jpeg(canvas), original


def decode(picture: bytes | Path) -> Image.Image:
    """Decode the first frame as RGB, upright, on white, at most 512 pixels long. Raises BadPicture."""
    return _decoded(_content(picture), _fitted)[0]


def _content(picture: bytes | Path) -> bytes:
    if isinstance(picture, Path):
        try:
            if not picture.is_file():
                raise BadPicture("there is no such file")
            with picture.open("rb") as file:
                picture = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise BadPicture(f"the picture cannot be read: {error.strerror}") from error
    if not picture:
        raise BadPicture("the picture is empty")
    if len(picture) > MAX_BYTES:
        raise BadPicture(f"the picture is larger than {MAX_BYTES // 1_000_000} MB")
    return picture


def _decoded(given: bytes, fit: Fit) -> tuple[Image.Image, Original]:
    _check_webp(given)
    content = picture_files.readable(given, side=SIDE)
    try:
        image, original = _opened(content, fit)
    except BadPicture:
        if (whole := picture_files.with_end(content)) is None:
            raise
        image, original = _opened(whole, fit)
    is_drawing = content is not given and not given.startswith(b"\x89PNG")
    return image, Original(len(given), "SVG") if is_drawing else original._replace(bytes=len(given))


def _opened(content: bytes, fit: Fit) -> tuple[Image.Image, Original]:
    formats: tuple[str, ...] = FORMATS
    if picture_files.is_heif(content):
        from pillow_heif import register_heif_opener

        register_heif_opener()
        formats = (*FORMATS, "HEIF")
    try:
        # Pillow's warnings about odd files (bombs, broken EXIF or APNG) are no use to anybody here.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"PIL\.")
            with Image.open(BytesIO(content), formats=formats) as image:
                _check_size(*image.size)
                original = Original(len(content), image.format or "", *image.size)
                is_large = image.width * image.height > LARGE_PIXELS
                with _one_large_at_a_time if is_large else nullcontext():
                    image.draft(None, (2 * SIDE, 2 * SIDE))  # large JPEGs need not be decoded in full
                    fitted = fit(_plain(image))
                    lying = fitted.size
                    upright = _upright(fitted)
                    if upright.size != lying:
                        original = original._replace(width=original.height, height=original.width)
                    return _on_white(upright), original
    except BadPicture:
        raise
    except Image.DecompressionBombError as error:
        raise BadPicture(f"the picture has more than {MAX_PIXELS // 1_000_000} megapixels") from error
    except UnidentifiedImageError as error:
        raise BadPicture(_what_it_is(content)) from error
    except Exception as error:  # decoders raise anything at all on a damaged file
        raise BadPicture(f"the picture is cut short or damaged ({error})"[:200]) from error


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise BadPicture(
            f"the picture has {width:,}×{height:,} pixels; at most {MAX_PIXELS // 1_000_000} million are read"
        )


def _check_webp(content: bytes) -> None:
    # Pillow opens a WebP by making room for its whole canvas, so its size is read from the header first.
    if content[:4] == b"RIFF" and content[8:16] == b"WEBPVP8X" and len(content) >= 30:
        _check_size(
            int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
        )


def _what_it_is(content: bytes) -> str:
    if picture_files.is_picture(content[: picture_files.BEGINNING]):
        return "the picture is cut short or damaged"
    start = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if b"\0" not in start and start.isascii():
        return f"this is text, not a picture; pictures are {_NAMES}"
    return f"this is no picture that can be read; pictures are {_NAMES}"


def _plain(image: Image.Image) -> Image.Image:
    """Convert to an 8-bit mode that can be resampled: L, RGB, RGBA or CMYK."""
    if image.mode.startswith("I"):  # 16 bits of grey; `convert` would clip them, not scale them
        grey = Image.fromarray((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8))
        grey.info = {key: image.info[key] for key in ("exif", "icc_profile") if key in image.info}
        return grey
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image if image.mode in ("L", "RGB", "CMYK") else image.convert("RGB")


def _fitted(image: Image.Image) -> Image.Image:
    """The picture with a longer side of 512 pixels, by the filters that OpenCV recommends for `resize`."""
    if (times := max(image.size) // (2 * SIDE)) > 1:  # keeps the memory of huge pictures small
        image = image.reduce(times)
    if (size := _fitted_size(image)) == image.size:
        return image.copy()
    import cv2  # which no picture of the library itself needs

    # Alpha is multiplied in meanwhile, or the colours of transparent pixels would show at edges.
    plain = image.convert("RGBa") if image.mode == "RGBA" else image
    by = cv2.INTER_CUBIC if max(image.size) < SIDE else cv2.INTER_AREA
    pixels = cv2.resize(np.asarray(plain), size, interpolation=by)
    fitted = Image.frombuffer(plain.mode, size, pixels, "raw", plain.mode, 0, 1).convert(image.mode)
    fitted.info = image.info
    return fitted


def _by_pillow(image: Image.Image) -> Image.Image:
    """The picture as `_fitted` gave it before 1.7, taking ten times as long."""
    return image.resize(_fitted_size(image), Image.Resampling.LANCZOS, reducing_gap=3.0)


def _fitted_size(image: Image.Image) -> tuple[int, int]:
    scale = SIDE / max(image.size)
    return max(1, round(image.width * scale)), max(1, round(image.height * scale))


def _upright(image: Image.Image) -> Image.Image:
    with suppress(Exception):  # broken EXIF says nothing about which way is up
        ImageOps.exif_transpose(image, in_place=True)
    return image


def _on_white(image: Image.Image) -> Image.Image:
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    colours = _in_srgb(
        image.convert("RGB") if alpha is not None else image, profile=image.info.get("icc_profile")
    )
    if alpha is None:
        return colours
    white = Image.new("RGB", image.size, "white")
    white.paste(colours, mask=alpha)
    return white


def _in_srgb(image: Image.Image, *, profile: bytes | None) -> Image.Image:
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(BytesIO(profile))
            space = source.profile.xcolor_space.strip()
            mode = {"RGB": "RGB", "GRAY": "L", "CMYK": "CMYK"}.get(space)
            if mode and (mode == "CMYK") == (image.mode == "CMYK"):
                converted = ImageCms.profileToProfile(image.convert(mode), source, _srgb(), outputMode="RGB")
                if converted is not None:
                    return converted
        except (ImageCms.PyCMSError, OSError, ValueError):
            pass  # a broken profile: the colours are taken as they are
    return image if image.mode == "RGB" else image.convert("RGB")  # `convert` would copy it


@lru_cache(maxsize=1)
def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def jpeg(image: Image.Image) -> bytes:
    """The JPG of a picture of 512×512 pixels, as `normalise` writes it."""
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


@lru_cache(maxsize=1)
def _own_header() -> bytes:
    """The bytes before the pixel data, identical in every JPG that `normalise` writes."""
    blank = jpeg(Image.new("RGB", (SIDE, SIDE), "white"))
    scan = blank.index(b"\xff\xda")
    (length,) = struct.unpack(">H", blank[scan + 2 : scan + 4])
    return blank[: scan + 2 + length]


def _is_normalised(content: bytes) -> bool:
    header = _own_header()
    # Nothing but pixels may follow, or a stranger's bytes could ride along behind the picture.
    return (
        content.startswith(header)
        and re.fullmatch(rb"(?:[^\xff]|\xff\x00)*+\xff\xd9", content[len(header) :]) is not None
    )
