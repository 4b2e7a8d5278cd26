"""Download files from a Hugging Face hub, in pieces that survive a break, a pause and a kill.

huggingface_hub 1.33 starts an interrupted file from its beginning (its partial file has a random name and is
removed: https://github.com/huggingface/huggingface_hub/issues/4196), compares no hash of what came by HTTP,
and is online only together with every other library of the process. So the partial file is kept here, named
by its hash, and continued by ranges.
"""

import errno
import hashlib
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from store.errors import BadSource, NotWritten
from store.fetching.retry_after import LATER
from store.progress import Progress

ENDPOINT = "https://huggingface.co"  # HF_ENDPOINT names another, such as a mirror
MEGABYTE = 1_000_000
_PIECE = 1 << 20
_TIMEOUT = 20.0  # seconds without a sign of life
_REDIRECTS = 5
_TRIES = 6  # failures in a row without one new byte
_FIRST_WAIT = 1.0  # seconds, doubled with each failure in a row
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_RESERVE = 64 * MEGABYTE  # bytes that stay free on the disk


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a repository at one commit; `digest` is a SHA-256, or git's SHA-1 for small text files."""

    repository: str
    commit: str
    name: str
    size: int  # bytes
    digest: str


class Hub:
    """Downloads from the hub that HF_ENDPOINT names, huggingface.co by default."""

    def __init__(self) -> None:
        from store.fetching.guard import Guard, any_address, is_global  # httpx, which brings rich along
        from store.fetching.transport import guarded_client

        chosen = os.environ.get("HF_ENDPOINT", "")
        self._endpoint = (chosen or ENDPOINT).rstrip("/")
        self.host = host()
        # A hub that a person names may be in their own network; the public one never is.
        self._client = guarded_client(
            Guard(allowed=any_address if chosen else is_global), timeout=_TIMEOUT, redirects=_REDIRECTS
        )
        self._client.headers.update({"user-agent": "Memedex (download of a model)", "accept": "*/*"})

    def __enter__(self) -> "Hub":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def find(self, repository: str, name: str, *, revision: str = "main") -> HubFile | None:
        """What the hub says about a file at this revision; None if the repository has no such file.

        Raises BadSource if the hub cannot be reached or gives no hash.
        """
        import httpx

        url = httpx.URL(self._address(repository, name, revision))
        for _ in range(_REDIRECTS):
            try:
                answer = self._client.head(
                    url, follow_redirects=False, headers={"accept-encoding": "identity"}
                )
            except httpx.HTTPError as error:
                raise BadSource(self._unreachable(error)) from error
            to = answer.headers.get("location", "")
            if not (
                answer.is_redirect and to.startswith("/")
            ):  # elsewhere is the content, without these facts
                break
            url = url.join(to)
        if answer.status_code == 404:
            return None
        if answer.status_code in (401, 403):
            raise BadSource(f"{self.host} does not give {repository} to everybody ({answer.status_code})")
        if answer.status_code >= 400:
            raise BadSource(f"{self.host} answers {answer.status_code} for {repository}; try again later")
        headers = answer.headers
        digest = (headers.get("x-linked-etag") or headers.get("etag", "")).removeprefix("W/").strip('"')
        size = headers.get("x-linked-size") or headers.get("content-length", "")
        commit = headers.get("x-repo-commit", "")
        # Hash and commit become names of files, so nothing else may be in them.
        if not _DIGEST.fullmatch(digest) or not size.isdecimal() or not commit.isalnum():
            raise BadSource(f"{self.host} names no hash, size and revision of {name} in {repository}")
        return HubFile(repository, commit, name, int(size), digest)

    def fetch(self, file: HubFile, cache: Path, progress: Progress) -> bool:
        """Put the file into a cache in huggingface_hub's layout, continuing what is there of it.

        `progress.done` grows by megabytes. False, keeping what has come, if `progress` is cancelled.
        Raises BadSource if the hub stays away or the content has another hash; NotWritten on a full disk.
        """
        folder = cache / f"models--{file.repository.replace('/', '--')}"
        blob = folder / "blobs" / file.digest
        try:
            blob.parent.mkdir(parents=True, exist_ok=True)
            if not blob.is_file():
                with FileLock(blob.with_suffix(".lock"), timeout=0):
                    if not self._complete(file, blob, progress):
                        return False
            else:
                progress.done += file.size // MEGABYTE
            _link(folder, file, blob)
        except Timeout:
            raise BadSource(f"another process downloads {file.name} of {file.repository} already") from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise NotWritten(_no_room(blob.parent, file.size - _size(_partial(blob)))) from error
            raise NotWritten(f"{blob.parent} cannot be written to: {error.strerror or error}") from error
        return True

    def _complete(self, file: HubFile, blob: Path, progress: Progress) -> bool:
        import httpx

        partial, before = _partial(blob), progress.done
        left = file.size - _size(partial)
        if left > 0 and shutil.disk_usage(blob.parent).free < left + _RESERVE:
            raise NotWritten(_no_room(blob.parent, left))
        failures = 0
        with partial.open("ab+") as part:
            while (size := _end(part)) < file.size:
                progress.done = before + size // MEGABYTE
                if progress.cancelled:
                    return False
                try:
                    self._continue(file, part, progress, before)
                    if _end(part) == size and not progress.cancelled:
                        raise _Again(f"{self.host} sends nothing more")
                except (httpx.HTTPError, _Again) as error:
                    failures = 1 if _end(part) > size else failures + 1
                    if failures >= _TRIES:
                        raise BadSource(self._broke_off(file, _end(part), error)) from error
                    progress.what = f"{self.host} is away, tried again"
                    if not _wait(progress, _FIRST_WAIT * 2 ** (failures - 1)):
                        return False
            part.flush()
            os.fsync(part.fileno())
        progress.what = f"checking {file.name}"
        if _size(partial) != file.size or _digest(partial, file) != file.digest:
            partial.unlink()
            raise BadSource(
                f"{file.name} of {file.repository} is not what {self.host} announced: its hash is not "
                f"{file.digest[:12]}…; it was thrown away. Try again, or use another HF_ENDPOINT"
            )
        partial.replace(blob)
        progress.done = before + file.size // MEGABYTE
        return True

    def _continue(self, file: HubFile, part: BinaryIO, progress: Progress, before: int) -> None:
        """Read on from the end of `part`, until the end, a break, or a cancellation."""
        size = began_at = _end(part)
        url = self._address(file.repository, file.name, file.commit)
        headers = {"accept-encoding": "identity"} | ({"range": f"bytes={size}-"} if size else {})
        with self._client.stream("GET", url, headers=headers) as answer:
            if answer.status_code in LATER:
                raise _Again(f"{self.host} answers {answer.status_code}")
            if answer.status_code not in (200, 206):
                raise BadSource(f"{self.host} answers {answer.status_code} for {file.name}")
            if size and not answer.headers.get("content-range", "").startswith(f"bytes {size}-"):
                part.truncate(0)  # a server without ranges begins at the front
                size = began_at = 0
            began = time.monotonic()
            for piece in answer.iter_raw():  # in pieces of a size, the last would be lost by a break
                part.write(piece)
                size += len(piece)
                if size > file.size:
                    return  # the hash will not fit either
                progress.done = before + size // MEGABYTE
                pace = (size - began_at) / max(time.monotonic() - began, 1e-3) / MEGABYTE
                progress.what = f"MB from {self.host}, {pace:,.1f} a second"
                if progress.cancelled:
                    return

    def _address(self, repository: str, name: str, revision: str) -> str:
        return f"{self._endpoint}/{repository}/resolve/{revision}/{name}"

    def _unreachable(self, error: Exception) -> str:
        return (
            f"{self.host} cannot be reached ({error or type(error).__name__}): check the network, "
            "or name a mirror in HF_ENDPOINT"
        )

    def _broke_off(self, file: HubFile, size: int, error: Exception) -> str:
        return (
            f"{self.host} broke off {file.name} at {size // MEGABYTE:,} of {file.size // MEGABYTE:,} MB "
            f"({error or type(error).__name__}); what has come is kept, and continued by the next try"
        )


class _Again(Exception):
    """The server asks to come again."""


def host() -> str:
    """The host that models are downloaded from."""
    return urlsplit(os.environ.get("HF_ENDPOINT", "") or ENDPOINT).hostname or ""


def partial_size(cache: Path, repository: str) -> int:
    """The bytes of unfinished downloads of a repository."""
    blobs = cache / f"models--{repository.replace('/', '--')}" / "blobs"
    return sum(_size(path) for path in blobs.glob("*.memedex-part"))


def _partial(blob: Path) -> Path:
    return blob.with_suffix(".memedex-part")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _end(part: BinaryIO) -> int:
    return part.seek(0, os.SEEK_END)


def _no_room(folder: Path, missing: int) -> str:
    free = shutil.disk_usage(folder).free
    return (
        f"the disk of {folder} is full: {missing // MEGABYTE + 1:,} MB are still to come, "
        f"{free // MEGABYTE:,} MB are free. Make room, or name another disk in HF_HUB_CACHE; "
        "what has come is kept"
    )


def _digest(path: Path, file: HubFile) -> str:
    """SHA-256, or for 40 digits git's: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects."""
    digest: Any = hashlib.sha256()
    if len(file.digest) == 40:
        digest = hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as content:
        while block := content.read(_PIECE):
            digest.update(block)
    return str(digest.hexdigest())


def _wait(progress: Progress, seconds: float) -> bool:
    """Wait; False as soon as it is cancelled."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if progress.cancelled:
            return False
        time.sleep(min(0.1, seconds))
    return True


def _link(folder: Path, file: HubFile, blob: Path) -> None:
    """Let the snapshot of its commit hold the file, and `main` be that commit."""
    place = folder / "snapshots" / file.commit / file.name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.is_file():
        place.unlink(missing_ok=True)  # a link whose file is gone
        try:
            place.symlink_to(os.path.relpath(blob, place.parent))
        except OSError:  # Windows without the right to make links
            shutil.copyfile(blob, place)
    main = folder / "refs" / "main"
    main.parent.mkdir(parents=True, exist_ok=True)
    main.with_suffix(".new").write_text(file.commit)
    main.with_suffix(".new").replace(main)
