"""Small WebP copies of pictures for the pages: derived, made once, thrown away at will."""

import os
import threading
from pathlib import Path

from PIL import Image

from store.errors import BadPicture
from store.images import decode
from store.layout import Layout

SIZES = (320, 512)  # pixels of the longer side: a card on a sharp screen, the large view
_QUALITY = {320: 78, 512: 88}


def thumbnail(layout: Layout, picture: Path, image_hash: str, *, size: int) -> Path:
    """The picture's copy of this size, made now unless it is there already.

    `image_hash` is the SHA-256 of the picture and names the copy, so a copy never goes stale.
    BadPicture when the picture cannot be read any more, or for a size that is not one of SIZES.
    """
    if size not in SIZES:
        raise BadPicture(f"there are no copies of {size} pixels, only of {' and '.join(map(str, SIZES))}")
    path = layout.thumbnails / image_hash[:2] / f"{image_hash}-{size}.webp"
    if not path.exists():
        _write(path, decode(picture), size=size)
    return path


def _write(path: Path, image: Image.Image, *, size: int) -> None:
    image.thumbnail((size, size), Image.Resampling.LANCZOS)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Own name for each writer: two browsers asking at once must not write into one file.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}-{threading.get_ident()}")
    try:
        image.save(temporary, "WEBP", quality=_QUALITY[size], method=4)
        temporary.replace(path)  # no fsync: a copy lost in a power cut is made again
    finally:
        temporary.unlink(missing_ok=True)
