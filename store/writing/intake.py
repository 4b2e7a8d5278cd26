"""From a candidate to a pending record: normalise the picture, complete and validate the sidecar."""

import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from store.catalog.record_queries import RecordLists
from store.disk.files import content_hash
from store.disk.images import Original, with_original
from store.duplicates.fingerprints import fingerprint
from store.errors import BadPicture, InvalidRecord, UnknownRecord
from store.importing.candidate import Candidate, Passed, WithoutPicture
from store.importing.metadata import IMPORT_TIME, unread
from store.operations import Change, State
from store.outcome import ImportReport, Refusal
from store.records import (
    MAX_SIDECAR_BYTES,
    ORIGINAL,
    REQUIRED_KEYS,
    Tier,
    bare_address,
    checked_address,
    is_made_up,
    on_chain,
    sidecar_bytes,
    validate,
)
from store.tags.taxonomy import Taxonomy
from store.writing.journal import Payload

_ORDER = (*REQUIRED_KEYS, "caption", "tags", "tags_categories")  # of the keys in a new sidecar; extras follow
_TWIN = "its address differs from {} only in upper and lower case"
_THREADS = min(8, (os.cpu_count() or 1) + 1)  # Pillow decodes and encodes outside the interpreter's lock
_AHEAD = 48  # pictures that are converted while a batch is written; at most 50 MB each


@dataclass(frozen=True, slots=True)
class _NewPicture:
    content: bytes
    image_hash: str
    fingerprint: bytes
    original: Original | None


@dataclass(frozen=True, slots=True)
class AwaitedCoin:
    """A candidate, and its picture if that is being converted already."""

    candidate: Candidate
    picture: "Future[_NewPicture | BadPicture] | None"


@dataclass(frozen=True, slots=True)
class _Fresh:
    address: str
    sidecar: dict[str, Any]
    expected: AwaitedCoin


class Intake:
    """Makes changes of candidates; the pictures of the next ones are converted meanwhile, in threads."""

    def __init__(self, report: ImportReport, *, reader: RecordLists, taxonomy: Taxonomy) -> None:
        self._report = report
        self._reader = reader
        self._taxonomy = taxonomy
        self._threads = ThreadPoolExecutor(_THREADS)
        self.present: dict[str, Candidate] = {}  # of the last batch, what it says about coins that were here
        self._added: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(cancel_futures=True)

    def ahead(self, candidates: Iterable[Candidate | Refusal]) -> Iterator[AwaitedCoin | Refusal]:
        """The same candidates; the pictures of the next ones are begun, unless they seem to be known."""
        waiting: deque[AwaitedCoin | Refusal] = deque()
        try:
            for found in candidates:
                waiting.append(
                    found if isinstance(found, Refusal) else AwaitedCoin(found, self._begun(found))
                )
                if len(waiting) > _AHEAD:
                    yield waiting.popleft()
        except Exception:  # what was read before is added all the same
            yield from waiting
            raise
        yield from waiting

    def ingest(self, batch: Sequence[AwaitedCoin | Refusal]) -> tuple[list[Change], Payload]:
        """The changes that add these candidates to their tiers; all others go to the report."""
        self.present = {}
        return self._ingest(batch)

    def _ingest(self, batch: Sequence[AwaitedCoin | Refusal]) -> tuple[list[Change], Payload]:
        fresh: dict[str, _Fresh] = {}  # by the address in lower case: two keys must not meet on a disk
        again: list[
            AwaitedCoin
        ] = []  # of an address that is already in `fresh`; they count if that one is refused
        for expected in batch:
            if isinstance(expected, WithoutPicture):
                key = _key(expected.sidecar, self._reader, fresh)
                if known_tier := _tier_of(self._reader, key):
                    self._report.present[key] = known_tier
                    if key not in self._added:
                        self.present.setdefault(key, Candidate(expected.item, expected.sidecar, b""))
                    continue
            if isinstance(expected, Refusal):
                is_aside = isinstance(expected, Passed)
                (self._report.unread if is_aside else self._report.refused).append(expected)
                continue
            found = expected.candidate
            try:
                keep_categories = found.tier == "library"
                sidecar = _completed(found.sidecar, self._taxonomy, keep_categories=keep_categories)
                address = _key(sidecar, self._reader, fresh)
                sidecar["token_address"] = address
                if tier := _tier_of(self._reader, address):
                    self._report.present[address] = tier
                    if address not in self._added:
                        self.present.setdefault(address, found)
                elif known := self._reader.spelling_of(address):
                    raise InvalidRecord(_TWIN.format(known))
                elif address.lower() in fresh:
                    again.append(expected)
                else:
                    validate(sidecar, tier=found.tier)
                    fresh[address.lower()] = _Fresh(address, sidecar, expected)
            except InvalidRecord as error:
                self._report.refused.append(Refusal(found.item, str(error)))
        changes, payload = self._prepared(list(fresh.values()))
        if rest := _not_among(changes, again, self._report):
            more, of_more = self._ingest(rest)
            changes += more
            payload.pictures |= of_more.pictures
            payload.sidecars |= of_more.sidecars
            payload.fingerprints |= of_more.fingerprints
        return changes, payload

    def _prepared(self, fresh: Sequence[_Fresh]) -> tuple[list[Change], Payload]:
        payload, changes = Payload(), []
        pictures = [
            new.expected.picture or self._threads.submit(_picture, new.expected.candidate) for new in fresh
        ]
        for new, converted in zip(fresh, pictures, strict=True):
            picture, candidate = converted.result(), new.expected.candidate
            if isinstance(picture, BadPicture):
                self._report.refused.append(Refusal(candidate.item, str(picture)))
                continue
            content = _with_original(new.sidecar, picture.original)
            payload.pictures[new.address] = picture.content
            payload.fingerprints[picture.image_hash] = picture.fingerprint
            payload.sidecars[content_hash(content)] = content
            state = State(candidate.tier, content_hash(content), picture.image_hash)
            changes.append(Change(new.address, None, state))
            self._added.add(new.address)
            sentences = (*candidate.remarks, *unread(new.sidecar))
            self._report.unread += [Refusal(candidate.item, sentence) for sentence in sentences]
            self._report.undated += IMPORT_TIME in new.sidecar
        return changes, payload

    def _begun(self, candidate: Candidate) -> "Future[_NewPicture | BadPicture] | None":
        address = candidate.sidecar.get("token_address")
        try:
            is_expected = isinstance(address, str) and not self._reader.spelling_of(address)
        except InvalidRecord:  # `ingest` refuses it by name
            is_expected = False
        if not is_expected:
            return None
        return self._threads.submit(_picture, candidate)


def _key(sidecar: dict[str, Any], reader: RecordLists, fresh: Mapping[str, _Fresh]) -> str:
    """The coin's address, with its chain if the library has that address on another chain."""
    address, chain = str(sidecar["token_address"]), sidecar.get("chainId")
    if not isinstance(chain, int) or isinstance(chain, bool) or chain < 1 or is_made_up(address):
        return address
    other: Mapping[str, Any] | None = None
    if address.lower() in fresh:
        other = fresh[address.lower()].sidecar
    elif _tier_of(reader, address):
        other = reader.get(address).sidecar
    if other is None or other.get("chainId") in (None, chain) or bare_address(address) != address:
        return address
    return on_chain(address, chain)


def _not_among(
    changes: Sequence[Change], again: Sequence[AwaitedCoin], report: ImportReport
) -> list[AwaitedCoin]:
    """Candidates whose address these changes do not add; the others go to the report."""
    taken = {change.address.lower(): change for change in changes}
    rest = []
    for expected in again:
        candidate = expected.candidate
        address = checked_address(candidate.sidecar["token_address"])  # on the same chain
        known = taken.get(address.lower())
        if known is None:
            rest.append(expected)
        elif known.address == address:
            report.present[address] = known.after.tier
        else:
            report.refused.append(Refusal(candidate.item, _TWIN.format(known.address)))
    return rest


def _picture(candidate: Candidate) -> _NewPicture | BadPicture:
    try:
        content, original = with_original(candidate.picture)
        return _NewPicture(content, content_hash(content), fingerprint(content), original)
    except BadPicture as error:
        return error
    except OSError as error:
        return BadPicture(f"the picture cannot be read: {error}")


def _with_original(sidecar: dict[str, Any], original: Original | None) -> bytes:
    """The sidecar's file with what the picture was before, unless it says so itself or has no room left."""
    own = sidecar_bytes(sidecar)
    if original is None or ORIGINAL in sidecar:
        return own
    known = {name: value for name, value in original._asdict().items() if value}
    whole = sidecar_bytes({**sidecar, ORIGINAL: known})
    return whole if len(whole) <= MAX_SIDECAR_BYTES else own


def _completed(given: dict[str, Any], taxonomy: Taxonomy, *, keep_categories: bool = False) -> dict[str, Any]:
    """The sidecar with every required key, in the order of the schema, unknown keys last."""
    sidecar = {"ticker": "", "description": "", **given}
    sidecar["token_address"] = checked_address(sidecar.get("token_address"))
    if "created_at" not in sidecar:
        sidecar["created_at"] = int(time.time())
        sidecar[IMPORT_TIME] = True
    tags = sidecar.get("tags", [])
    if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
        sidecar["tags"] = list(dict.fromkeys(tag.strip() for tag in tags))
        if not (keep_categories and sidecar.get("tags_categories")):
            sidecar["tags_categories"] = taxonomy.categories(sidecar["tags"])
    first = {key: sidecar[key] for key in _ORDER if key in sidecar}
    return {**first, **sidecar}


def _tier_of(reader: RecordLists, address: str) -> Tier | None:
    try:
        return reader.get(address).tier
    except UnknownRecord:
        return None
