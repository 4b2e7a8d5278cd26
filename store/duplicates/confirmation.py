"""Confirms what fingerprints and vectors found alike, by laying one picture over the other."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from store.catalog.catalog import Catalog
from store.duplicates import alignment
from store.duplicates.alignment import PictureViews
from store.duplicates.neighbours import NearPrint
from store.errors import BadPicture, MemedexError
from store.lru import LruCache

# Chosen on half of the demo's pictures (docs/duplicates.md).
AGREEMENT = 0.68  # share of two pictures that agrees, from which one is a copy of the other
_CERTAIN_BITS = 32  # of 256: nearer fingerprints were never wrong
_CERTAIN_COSINE = 0.95  # nor were closer vectors
_PRINTS, _VECTORS = 8, 2  # of one picture, the nearest that are looked at, 0.05 s each; no further ones count
_KEPT = 64  # pictures whose views are kept, 0.2 MB each


class Confirmation:
    """Compares pictures place by place; a picture that cannot be read is believed to be alike."""

    def __init__(self, catalog: Catalog, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._picture = picture  # where the picture of an address lies at this moment
        self._views: LruCache[str, PictureViews] = LruCache(_KEPT)

    def near(self, content: bytes, found: Sequence[NearPrint]) -> list[NearPrint]:
        """Those of the pictures near this one (a JPG) that are the same, nearest first."""
        certain = [near for near in found if near.distance <= _CERTAIN_BITS]
        doubtful = [near for near in found if near.distance > _CERTAIN_BITS][:_PRINTS]
        if not doubtful or (mine := _views(content)) is None:
            return [*certain, *doubtful]
        both = {True: mine.mirrored(), False: mine}
        return certain + [
            near
            for near in doubtful
            if (theirs := self._of_picture(near.image_hash)) is None
            or alignment.agreement(both[near.is_mirrored], theirs) >= AGREEMENT
        ]

    def near_record(self, address: str, found: Sequence[NearPrint]) -> list[NearPrint]:
        """Those of the pictures near a record's that are the same, nearest first."""
        try:
            return self.near(self._picture(address).read_bytes(), found)
        except (OSError, MemedexError):
            return list(found)

    def similar(self, address: str, cosines: Mapping[str, float]) -> dict[str, float]:
        """Those of these records, by their pictures' cosine, whose picture is the same as this one's."""
        return self.similar_to(lambda: self._of_record(address), cosines)

    def similar_to(
        self, picture: Callable[[], PictureViews | None], cosines: Mapping[str, float]
    ) -> dict[str, float]:
        """The same for a picture that is read if it has to be."""
        closest = sorted(cosines.items(), key=lambda pair: -pair[1])
        certain = {other: cosine for other, cosine in closest if cosine >= _CERTAIN_COSINE}
        doubtful = [pair for pair in closest if pair[0] not in certain][:_VECTORS]
        if not doubtful or (mine := picture()) is None:
            return certain | dict(doubtful)
        for other, cosine in doubtful:
            theirs = self._of_record(other)
            if theirs is None or any(
                alignment.agreement(one, theirs) >= AGREEMENT for one in (mine, mine.mirrored())
            ):
                certain[other] = cosine
        return certain

    def _of_picture(self, image_hash: str) -> PictureViews | None:
        with self._catalog.reading() as db:
            row = db.execute("SELECT address FROM records WHERE image_hash = ?", [image_hash]).fetchone()
        return self._read(image_hash, row["address"]) if row else None

    def _of_record(self, address: str) -> PictureViews | None:
        with self._catalog.reading() as db:
            row = db.execute("SELECT image_hash FROM records WHERE address = ?", [address]).fetchone()
        return self._read(row["image_hash"], address) if row else None

    def _read(self, image_hash: str, address: str) -> PictureViews | None:
        if (found := self._views.get(image_hash)) is not None:
            return found
        try:
            found = _views(self._picture(address).read_bytes())
        except (OSError, MemedexError):
            return None
        if found is not None:
            self._views[image_hash] = found
        return found


def _views(content: bytes) -> PictureViews | None:
    try:
        return alignment.views(content)
    except BadPicture:
        return None
