"""From a candidate to a pending record: normalise the picture, complete and validate the sidecar."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from store.catalog.record_queries import RecordLists
from store.disk.files import content_hash
from store.disk.images import normalise
from store.duplicates.fingerprints import fingerprint
from store.errors import BadPicture, InvalidRecord, UnknownRecord
from store.importing.candidate import Candidate
from store.operations import Change, State
from store.outcome import Refusal
from store.records import (
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
_THREADS = 4  # Pillow decodes and encodes outside the interpreter's lock


class Report(Protocol):
    """Collects what existed already and what was refused."""

    refused: list[Refusal]
    present: dict[str, Tier]


@dataclass(frozen=True, slots=True)
class _Fresh:
    address: str
    sidecar: dict[str, Any]
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class _NewPicture:
    content: bytes
    image_hash: str
    fingerprint: bytes


def ingest(
    batch: Sequence[Candidate | Refusal], report: Report, *, reader: RecordLists, taxonomy: Taxonomy
) -> tuple[list[Change], Payload]:
    """The changes that add these candidates to pending; all others go to the report."""
    fresh: dict[str, _Fresh] = {}  # by the address in lower case: two keys must not meet on a disk
    again: list[Candidate] = []  # of an address that is already in `fresh`; they count if that one is refused
    for found in batch:
        if isinstance(found, Refusal):
            report.refused.append(found)
            continue
        try:
            sidecar = _completed(found.sidecar, taxonomy, keep_categories=found.tier == "library")
            address = _key(sidecar, reader, fresh)
            sidecar["token_address"] = address
            if tier := _tier_of(reader, address):
                report.present[address] = tier
            elif known := reader.spelling_of(address):
                raise InvalidRecord(_TWIN.format(known))
            elif address.lower() in fresh:
                again.append(found)
            else:
                validate(sidecar, tier=found.tier)
                fresh[address.lower()] = _Fresh(address, sidecar, found)
        except InvalidRecord as error:
            report.refused.append(Refusal(found.item, str(error)))
    changes, payload = _prepared(list(fresh.values()), report)
    if rest := _not_among(changes, again, report):
        more, of_more = ingest(rest, report, reader=reader, taxonomy=taxonomy)
        changes += more
        payload.pictures |= of_more.pictures
        payload.sidecars |= of_more.sidecars
    return changes, payload


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


def _not_among(changes: Sequence[Change], again: Sequence[Candidate], report: Report) -> list[Candidate]:
    """Candidates whose address these changes do not add; the others go to the report."""
    taken = {change.address.lower(): change for change in changes}
    rest = []
    for candidate in again:
        address = checked_address(candidate.sidecar["token_address"])  # on the same chain
        known = taken.get(address.lower())
        if known is None:
            rest.append(candidate)
        elif known.address == address:
            report.present[address] = known.after.tier
        else:
            report.refused.append(Refusal(candidate.item, _TWIN.format(known.address)))
    return rest


def _prepared(fresh: Sequence[_Fresh], report: Report) -> tuple[list[Change], Payload]:
    payload, changes = Payload(), []
    with ThreadPoolExecutor(_THREADS) as threads:
        pictures = list(threads.map(_picture, [new.candidate for new in fresh]))
    for new, picture in zip(fresh, pictures, strict=True):
        if isinstance(picture, BadPicture):
            report.refused.append(Refusal(new.candidate.item, str(picture)))
            continue
        content = sidecar_bytes(new.sidecar)
        payload.pictures[new.address] = picture.content
        payload.fingerprints[picture.image_hash] = picture.fingerprint
        payload.sidecars[content_hash(content)] = content
        state = State(new.candidate.tier, content_hash(content), picture.image_hash)
        changes.append(Change(new.address, None, state))
    return changes, payload


def _picture(candidate: Candidate) -> _NewPicture | BadPicture:
    try:
        content = normalise(candidate.picture)
        return _NewPicture(content, content_hash(content), fingerprint(content))
    except BadPicture as error:
        return error
    except OSError as error:
        return BadPicture(f"the picture cannot be read: {error}")


def _completed(given: dict[str, Any], taxonomy: Taxonomy, *, keep_categories: bool = False) -> dict[str, Any]:
    """The sidecar with every required key, in the order of the schema, unknown keys last."""
    sidecar = {"ticker": "", "description": "", **given}
    sidecar["token_address"] = checked_address(sidecar.get("token_address"))
    if "created_at" not in sidecar:
        sidecar["created_at"] = int(time.time())
        sidecar["created_at_is_import_time"] = True
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
