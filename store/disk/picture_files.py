"""What kind of picture a file is, by its content, and the content in a form that Pillow decodes.

    is_picture   whether a file begins as a picture does, whatever it is called
    readable     the same picture without what only hinders: an SVG drawn, a PNG without its texts
    with_end     a JPEG that lacks its end, with it

A PNG's chunks are those of https://www.w3.org/TR/png-3; those that say nothing about its pixels are left
out, since one damaged or huge text would cost the picture. The pixels of a JPEG that lacks its end marker
are complete if bytes put in the marker's place change none of them, or if only refinements are missing.
"""

import re
import struct
import zlib
from functools import partial
from io import BytesIO

from store.errors import BadPicture

BEGINNING = 512  # bytes that tell a picture from other files
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_STARTS = (
    *(_PNG, _JPEG, b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"\0\0\1\0"),
    *(b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51"),  # JPEG 2000
)
_BRANDS = {b"avif", b"avis", b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"}
_HEIF = _BRANDS - {b"avif", b"avis"}
_SVG = re.compile(rb"^\s*(?:<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*>|\s)*<(?:[\w-]+:)?svg[\s/>]", re.DOTALL)
_MARK = b"\xef\xbb\xbf"  # of UTF-8
_CHUNKS = {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"eXIf", b"acTL",
           b"fcTL", b"fdAT", b"sBIT"}  # fmt: skip
_LONGEST = (
    1_000_000  # bytes of a chunk beside the pixels: Pillow refuses a larger profile, and the picture with it
)
_PIXELS = {b"IDAT", b"fdAT"}
_END = b"\xff\xd9"  # of a JPEG
_SCAN = re.compile(rb"\xff\xda\0", re.DOTALL)
_ELSEWHERE = re.compile(
    r"""(\bhref\s*=\s*)(["'])(?!\s*(?:\#|data:image/(?!svg))).*?\2""", re.DOTALL | re.IGNORECASE
)
_ENTITIES = re.compile(r"<!DOCTYPE[^>\[]*\[.*?\]\s*>", re.DOTALL | re.IGNORECASE)
_ROOT = re.compile(r"<(?:[\w-]+:)?svg\b[^>]*>", re.DOTALL)
_BOX = re.compile(r"""\bviewBox\s*=\s*["']\s*[-\d.e+]+[\s,]+[-\d.e+]+[\s,]+([\d.e+]+)[\s,]+([\d.e+]+)""")
_DPI = 96  # as browsers have it
_NARROWEST = 40  # times as long as wide


def is_picture(beginning: bytes) -> bool:
    """Whether a file with these first bytes is a picture of a kind that is read."""
    if beginning.startswith(_STARTS) or _is_svg(beginning):
        return True
    if beginning.startswith(b"BM"):  # a bitmap, where its four reserved bytes are zero
        return beginning[6:10] == b"\0\0\0\0"
    is_webp = beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP"
    return is_webp or (beginning[4:8] == b"ftyp" and beginning[8:12] in _BRANDS)


def is_heif(content: bytes) -> bool:
    """Whether it is a picture as telephones take them (HEIC), which Pillow reads through pillow-heif."""
    return content[4:8] == b"ftyp" and content[8:12] in _HEIF


def readable(content: bytes, *, side: int) -> bytes:
    """The picture as Pillow reads it; an SVG is drawn with this longer side in pixels. Raises BadPicture."""
    if content.startswith(_PNG):
        return _without_texts(content)
    return _drawn(content, side=side) if _is_svg(content[:65_536]) else content


def with_end(content: bytes) -> bytes | None:
    """A JPEG that lacks its end, with it; None if pixels are missing, or it is no such file."""
    from PIL import Image

    if not content.startswith(_JPEG) or content.rstrip(b"\0").endswith(_END):
        return None
    if sketch := _with_first_passes(content):
        return sketch
    found = []
    for filling in (b"", b"\x55" * 4096):  # data that a decoder takes for pixels, if it still wants some
        try:
            with Image.open(BytesIO(content.rstrip(b"\xff") + filling + _END), formats=("JPEG",)) as image:
                found.append(image.tobytes())
        except Exception:  # noqa: BLE001  decoders raise anything at all on a damaged file
            return None
    return content.rstrip(b"\xff") + _END if found[0] == found[1] else None


def _with_first_passes(content: bytes) -> bytes | None:
    """The complete scans of a progressive JPEG that is cut, if these have the first pass of each coefficient.

    Scans as in ITU-T T.81, annex G: one with a high bit position of 0 is a first pass, others refine it.
    """
    frame = content.rfind(b"\xff\xc2\0")
    if frame < 0 or len(content) < frame + 10:
        return None
    names = content[frame + 10 : frame + 10 + 3 * content[frame + 9] : 3]
    found: dict[int, set[int]] = {name: set() for name in names}
    cut = max(content.rfind(b"\xff\xda\0"), content.rfind(b"\xff\xc4\0"))  # the scan, or its table
    for scan in (match.start() for match in _SCAN.finditer(content, frame, cut)):
        count = content[scan + 4]
        first, last, bits = content[scan + 5 + 2 * count : scan + 8 + 2 * count]
        for name in content[scan + 5 : scan + 5 + 2 * count : 2]:
            if bits >> 4 == 0 and name in found:
                found[name].update(range(first, last + 1))
    is_whole = bool(found) and all(len(coefficients) == 64 for coefficients in found.values())
    return content[:cut] + _END if is_whole else None


def _is_svg(beginning: bytes) -> bool:
    return bool(_SVG.match(beginning.removeprefix(_MARK)))


def _without_texts(content: bytes) -> bytes:
    """The chunks about pixels, with right checksums: those of the pixels themselves are in their own data."""
    kept, at = [content[:8]], 8
    while at + 8 <= len(content):
        length, name = struct.unpack(">I4s", content[at : at + 8])
        data = content[at + 8 : at + 8 + length]
        if len(data) < length and name not in _PIXELS:
            break
        if name in _CHUNKS and (name in _PIXELS or length <= _LONGEST):
            kept.append(
                struct.pack(">I4s", len(data), name) + data + struct.pack(">I", zlib.crc32(name + data))
            )
        if name == b"IEND":
            return b"".join(kept)
        at += 12 + length
    return b"".join([*kept, _chunk(b"IEND", b"")])


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I4s", len(data), name) + data + struct.pack(">I", zlib.crc32(name + data))


def _drawn(content: bytes, *, side: int) -> bytes:
    """An SVG as PNG, without anything from elsewhere: no file, no network, no script."""
    from resvg_py import svg_to_bytes

    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadPicture("the SVG drawing is not text in UTF-8") from error
    text = _ELSEWHERE.sub(r"\1\2\2", _ENTITIES.sub("", text))
    wide, high = _proportions(text)
    if max(wide, high) > _NARROWEST * min(wide, high):
        raise BadPicture(f"the SVG drawing is more than {_NARROWEST} times as long as wide")
    # Lengths in points and millimetres are nothing without a resolution.
    draw = partial(svg_to_bytes, svg_string=text, skip_system_fonts="<text" not in text, dpi=_DPI)
    try:
        return bytes(draw(width=side) if wide >= high else draw(height=side))
    except ValueError as error:
        raise BadPicture(f"the SVG drawing cannot be read ({error})"[:200]) from error


def _proportions(text: str) -> tuple[float, float]:
    """Width and height of a drawing, in any unit; a square where it names neither."""
    root = _ROOT.search(text)
    found = _BOX.search(root[0]) if root else None
    sizes = (
        found.groups() if found else [_length(root[0], name) if root else "" for name in ("width", "height")]
    )
    try:
        wide, high = (float(size) for size in sizes)
    except ValueError:
        return 1.0, 1.0
    return (wide, high) if wide > 0 and high > 0 else (1.0, 1.0)


def _length(root: str, name: str) -> str:
    found = re.search(rf"""\b{name}\s*=\s*["']\s*([\d.]+(?:e[+-]?\d+)?)""", root)
    return found[1] if found else ""
