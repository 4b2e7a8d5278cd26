"""Many small pictures in one, so that a map with hundreds of them needs a handful of requests."""

import io
from collections.abc import Collection, Sequence
from functools import cache

from PIL import Image, ImageDraw

from components.shell.session import safe_mode
from store import Library
from store.disk import thumbnails
from store.errors import BadPicture

COLUMNS = 8
_SIDE = thumbnails.TINY  # pixels
MOST = COLUMNS * COLUMNS  # pictures of one sheet
_QUALITY = 82
_ROUND = 0.16  # radius of a corner, of the side


def drawn(
    library: Library, addresses: Sequence[str], *, is_safe: bool, clicked: Collection[str] = ()
) -> bytes:
    """A WebP with the pictures of these coins in rows of eight, transparent where there is none.

    In safe mode, those that are unfit for the screen are blurred, except coins that the user clicked.
    """
    hidden = library.unfit.pictures() if is_safe else frozenset()
    lines = max(1, -(-len(addresses) // COLUMNS))
    sheet = Image.new("RGBA", (COLUMNS * _SIDE, lines * _SIDE))
    hashes = {record.address: record.image_hash for record in library.records(filter(None, addresses))}
    for number, address in enumerate(addresses):
        image_hash = hashes.get(address, "")
        picture = _picture(library, image_hash, is_blurred=image_hash in hidden and address not in clicked)
        if picture is not None:
            sheet.paste(picture, (number % COLUMNS * _SIDE, number // COLUMNS * _SIDE), _corners())
    content = io.BytesIO()
    sheet.save(content, "WEBP", quality=_QUALITY, method=1)  # method 4 takes three times as long
    return content.getvalue()


def _picture(library: Library, image_hash: str, *, is_blurred: bool) -> Image.Image | None:
    path = library.picture_by_hash(image_hash) if image_hash else None
    if path is None:
        return None
    try:
        small = thumbnails.thumbnail(library.layout, path, image_hash, size=_SIDE)
        with Image.open(io.BytesIO(safe_mode.blurred(small)) if is_blurred else small) as image:
            own = image.convert("RGBA")
    except (BadPicture, OSError):  # the point keeps its dot
        return None
    ground = Image.new("RGBA", (_SIDE, _SIDE), "white" if own.size != (_SIDE, _SIDE) else (0, 0, 0, 0))
    ground.paste(own, ((_SIDE - own.width) // 2, (_SIDE - own.height) // 2), own)
    return ground


@cache
def _corners() -> Image.Image:
    mask = Image.new("L", (_SIDE * 4, _SIDE * 4))
    ImageDraw.Draw(mask).rounded_rectangle(
        (0, 0, _SIDE * 4 - 1, _SIDE * 4 - 1), radius=round(_SIDE * 4 * _ROUND), fill=255
    )
    return mask.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)
