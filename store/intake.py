"""From a candidate to a pending record: normalise the picture, complete and check the sidecar."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from store.errors import BadPicture, InvalidRecord, UnknownRecord
from store.files import content_hash
from store.images import normalise
from store.importing.candidate import Candidate, Refusal
from store.journal import Payload
from store.operations import Change, State
from store.reading import Reader
from store.records import REQUIRED_KEYS, Tier, checked_address, sidecar_bytes, validate
from store.taxonomy import Taxonomy

_ORDER = (*REQUIRED_KEYS, "caption", "tags", "tags_categories")  # of the keys in a new sidecar; extras follow
_THREADS = 4  # Pillow decodes and encodes outside the interpreter's lock


class Report(Protocol):
    """Where it is told what was there already and what was refused."""

    refused: list[Refusal]
    present: dict[str, Tier]


@dataclass(frozen=True, slots=True)
class _Fresh:
    address: str
    sidecar: dict[str, Any]
    candidate: Candidate


def take_in(
    batch: Sequence[Candidate | Refusal], report: Report, *, reader: Reader, taxonomy: Taxonomy
) -> tuple[list[Change], Payload]:
    """The changes that add these candidates to pending; the others are told to the report."""
    fresh: dict[str, _Fresh] = {}  # by the address in lower case: two keys must not meet on a disk
    for found in batch:
        if isinstance(found, Refusal):
            report.refused.append(found)
            continue
        try:
            sidecar = _completed(found.sidecar, taxonomy)
            address = sidecar["token_address"]
            if tier := _tier_of(reader, address):
                report.present[address] = tier
                continue
            twin = fresh.get(address.lower())
            known = twin.address if twin else reader.spelling_of(address)
            if known == address:
                report.present[address] = "pending"
            elif known:
                raise InvalidRecord(f"its address differs from {known} only in upper and lower case")
            else:
                validate(sidecar, tier="pending")
                fresh[address.lower()] = _Fresh(address, sidecar, found)
        except InvalidRecord as error:
            report.refused.append(Refusal(found.item, str(error)))
    return _prepared(list(fresh.values()), report)


def _prepared(fresh: Sequence[_Fresh], report: Report) -> tuple[list[Change], Payload]:
    payload, changes = Payload(), []
    with ThreadPoolExecutor(_THREADS) as threads:
        pictures = list(threads.map(_picture, [new.candidate for new in fresh]))
    for new, picture in zip(fresh, pictures, strict=True):
        if isinstance(picture, BadPicture):
            report.refused.append(Refusal(new.candidate.item, str(picture)))
            continue
        content = sidecar_bytes(new.sidecar)
        payload.pictures[new.address] = picture
        payload.sidecars[content_hash(content)] = content
        state = State("pending", content_hash(content), content_hash(picture))
        changes.append(Change(new.address, None, state))
    return changes, payload


def _picture(candidate: Candidate) -> bytes | BadPicture:
    try:
        return normalise(candidate.picture)
    except BadPicture as error:
        return error
    except OSError as error:
        return BadPicture(f"the picture cannot be read: {error}")


def _completed(given: dict[str, Any], taxonomy: Taxonomy) -> dict[str, Any]:
    """The sidecar with every key a record needs, in the order of the schema, unknown keys behind."""
    sidecar = {"ticker": "", "description": "", **given}
    sidecar["token_address"] = checked_address(sidecar.get("token_address"))
    if "created_at" not in sidecar:
        sidecar["created_at"] = int(time.time())
        sidecar["created_at_is_import_time"] = True
    tags = sidecar.get("tags", [])
    if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
        sidecar["tags"] = list(dict.fromkeys(tag.strip() for tag in tags))
        sidecar["tags_categories"] = taxonomy.categories(sidecar["tags"])
    first = {key: sidecar[key] for key in _ORDER if key in sidecar}
    return {**first, **sidecar}


def _tier_of(reader: Reader, address: str) -> Tier | None:
    try:
        return reader.get(address).tier
    except UnknownRecord:
        return None
