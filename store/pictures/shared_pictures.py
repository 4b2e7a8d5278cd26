"""Pictures in a folder or bucket that several machines reach, each under the SHA-256 of its content.

`MEMEDEX_PICTURES` names the place by an address of fsspec: a path, `file:///mnt/coins`, `s3://bucket/coins`.
The writer copies pictures there; dashboards that read a replica fetch them from there. A key never changes
its content, so that nothing has to be compared.
"""

import logging
import re
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from store.catalog.catalog import Catalog
from store.disk.files import Disk, content_hash
from store.disk.layout import Layout
from store.errors import BadSource
from store.progress import Progress
from store.settings import settings

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

log = logging.getLogger(__name__)

_KEY = re.compile(r"([0-9a-f]{64})\.jpg")


class SharedPictures:
    """The pictures at one address, and the folder in which fetched ones are kept."""

    def __init__(self, address: str, kept: Path) -> None:
        self.address = address
        self._kept = kept
        self._keeping = threading.Lock()

    def fetch(self, image_hash: str) -> Path | None:
        """The path of this picture, fetched if necessary; None if it is not there or cannot be had now."""
        path = self._kept / image_hash[:2] / f"{image_hash}.jpg"
        if path.exists():
            return path
        try:
            content = self.read(image_hash)
            if content is None:
                return None
            disk = Disk()
            with self._keeping:  # another browser may fetch it at the same time
                disk.make_folder(path.parent)
                disk.replace(path, content)
        except (BadSource, OSError) as error:
            log.warning("the picture %s could not be fetched: %s", image_hash, error)
            return None
        return path

    def read(self, image_hash: str) -> bytes | None:
        """The bytes of this picture; None if it is not there, or not yet whole.

        Raises BadSource if the place does not answer.
        """
        system, root = self._place
        try:
            content = bytes(system.cat_file(self._key(root, image_hash)))
        except FileNotFoundError:
            return None
        except Exception as error:  # each kind of place has its own
            raise BadSource(f"{self.address} cannot be read: {error}") from error
        return content if content_hash(content) == image_hash else None

    def write(self, image_hash: str, content: bytes) -> None:
        """Put a picture there. Raises BadSource if the place refuses it."""
        system, root = self._place
        key = self._key(root, image_hash)
        try:
            system.makedirs(key.rpartition("/")[0], exist_ok=True)
            with system.transaction:  # in a folder, too, it is there whole or not at all
                system.pipe_file(key, content)
        except Exception as error:
            raise BadSource(f"{self.address} cannot be written: {error}") from error

    def hashes(self) -> set[str]:
        """The pictures that are there. Raises BadSource if the place does not answer."""
        system, root = self._place
        try:
            system.invalidate_cache()
            names = (name.rpartition("/")[2] for name in system.find(root))
        except FileNotFoundError:
            return set()
        except Exception as error:
            raise BadSource(f"{self.address} cannot be listed: {error}") from error
        return {found[1] for name in names if (found := _KEY.fullmatch(name))}

    @staticmethod
    def _key(root: str, image_hash: str) -> str:
        return f"{root}/{image_hash[:2]}/{image_hash}.jpg"

    @cached_property
    def _place(self) -> "tuple[AbstractFileSystem, str]":
        from fsspec.core import url_to_fs  # brings asyncio's parts along

        try:
            system, root = url_to_fs(self.address)
        except (ImportError, ValueError) as error:
            raise BadSource(f"{self.address} is not an address for pictures here: {error}") from error
        return system, root.rstrip("/")


def shared_pictures(layout: Layout) -> SharedPictures | None:
    """The shared place of the settings, for this library; None if there is none."""
    address = settings().pictures
    return SharedPictures(address, layout.fetched_pictures) if address else None


class PictureSharing:
    """Copies the library's pictures to the shared place, once each."""

    def __init__(self, catalog: Catalog, place: SharedPictures, *, picture: Callable[[str], Path]) -> None:
        self._catalog = catalog
        self._place = place
        self._picture = picture
        self._there: set[str] | None = None
        self._generation = -1

    def copy_new(self, progress: Progress) -> None:
        """Copy what is not there yet. Raises BadSource if the place refuses; the next call goes on."""
        if self._there is None:
            self._there = self._place.hashes()
        rows = self._catalog.rows(
            "SELECT address, image_hash, generation FROM records WHERE generation > ?", [self._generation]
        )
        missing = [(row[0], row[1]) for row in rows if row[1] not in self._there]
        progress.what, progress.total = "copying pictures", len(missing)
        for address, image_hash in missing:
            if progress.cancelled:
                return
            content = self._content(address)
            if content and content_hash(content) == image_hash:  # else changed meanwhile: it comes again
                self._place.write(image_hash, content)
                self._there.add(image_hash)
            progress.done += 1
        self._generation = max([self._generation, *(row[2] for row in rows)])

    def _content(self, address: str) -> bytes | None:
        try:
            return self._picture(address).read_bytes()
        except (OSError, LookupError):  # moved or removed this very moment
            return None
