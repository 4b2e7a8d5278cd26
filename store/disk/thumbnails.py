"""Small WebP copies of pictures for the pages; derived, so they may be deleted at any time."""

import os
import threading
from pathlib import Path

from PIL import Image

from store.disk.images import decode
from store.disk.layout import Layout
from store.errors import BadPicture

SIZES = (320, 512)  # pixels of the longer side: a card on a sharp screen, the large view
_QUALITY = {320: 78, 512: 88}


def thumbnail(layout: Layout, picture: Path, image_hash: str, *, size: int) -> Path:
    """The path of the picture's copy whose longer side is `size` pixels, made if it is missing.

    `image_hash` is the SHA-256 of the picture and names the copy, so a copy never becomes stale.
    Raises BadPicture if the picture cannot be read, or if `size` is not one of SIZES.
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
