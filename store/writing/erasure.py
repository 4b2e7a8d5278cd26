"""Leave no byte of coins that were deleted for good in any file below the root.

The write path has deleted their files and rows (`store/writing/journal.py`, `store/writing/entry.py`); the
catalog knows what is still to be erased until that is done, so that a crash delays it until the next opening.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from store.catalog import forgetting, snapshots
from store.catalog.catalog import DISK_ERRORS, Catalog
from store.catalog.forgetting import ERASING, ForgottenCoin
from store.disk.files import Disk
from store.disk.layout import Layout
from store.errors import MemedexError
from store.records import TIERS
from store.search.golden_queries import GoldenQueries
from store.vectors import matrix_files

log = logging.getLogger(__name__)

_SET_ASIDE = re.compile(r"\d+-(.+?)(?:\.replaced)?\.(?:json|jpg)")  # `staging.set_aside`

_LEFT = "it is deleted, but copies of it may be left in {}; they go at the next opening"


def finish(
    catalog: Catalog,
    layout: Layout,
    disk: Disk,
    *,
    purge_chroma: Callable[[], None],
    golden: GoldenQueries,
) -> str:
    """Erase what is noted; returns where something may be left, as a sentence, or "".

    Costs: the catalog and its copies are written once more, however little goes, and Chroma is filled again
    from the catalog if one of the coins was ever in the library.
    """
    if not catalog.meta(ERASING):
        return ""
    place = str(catalog.path)
    try:
        with catalog.reading() as db:
            coins = forgetting.waiting(db)
        if coins:
            words = {coin.address: coin.word for coin in coins}
            golden.apply_external_edits()
            with catalog.writing() as db:
                forgetting.forget_mentions(db, words)
            golden.write_files_naming(words)
            for path in _files(layout, coins):
                disk.remove_file(path)
            if any(coin.was_in_library for coin in coins):
                matrix_files.tidy(layout.matrices, keep="")
                place = "Chroma"
                purge_chroma()
            if left := snapshots.forget(catalog.path, coins):
                return _LEFT.format(", ".join(map(str, left)))
            catalog.set_meta(ERASING, "[]")
        place = str(catalog.path)
        with catalog.writing() as db:
            db.execute("INSERT INTO words (words) VALUES ('optimize')")  # deleted terms stay in it otherwise
        catalog.rewrite()
        catalog.set_meta(ERASING, "")
    except (MemedexError, *DISK_ERRORS) as error:
        log.warning("what was deleted for good is not erased everywhere yet: %s", error)
        return _LEFT.format(f"{place} ({error})")
    return ""


def _files(layout: Layout, coins: Sequence[ForgottenCoin]) -> Iterator[Path]:
    """Copies of the coins' pictures and sidecars beside the files of their records."""
    names = {coin.address for coin in coins}
    for coin in coins:
        for picture in coin.pictures:
            yield from (layout.thumbnails / picture[:2]).glob(f"*{picture}-*")
            yield layout.fetched_pictures / picture[:2] / f"{picture}.jpg"
        for tier in TIERS:  # what a write that was cut short has left
            for path in (layout.sidecar(tier, coin.address), layout.image(tier, coin.address)):
                yield path.with_name(f".{path.name}.new")
    for path in layout.set_aside.glob("*"):
        name = _SET_ASIDE.fullmatch(path.name)
        if name and name[1] in names:
            yield path
