"""Coins of other systems: count and add them, and the systems whose coins all come in for review."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.catalog import history
from store.disk.files import read_regular
from store.disk.images import SUFFIXES
from store.errors import BadPicture, BadSource, InvalidRecord
from store.importing import Candidate, candidates, folders, tables
from store.importing.candidate import Passed, RemoteLogo
from store.importing.metadata import FILLED_IN
from store.importing.preview import Choices, FileKind, ImportPreview
from store.importing.trees import DiskTree, suffix
from store.memory.transcripts.files import is_recording
from store.outcome import Refusal, by_reason
from store.progress import Progress
from store.records import MAX_TAG, Facet, Record, Tier, checked_address, validate

if TYPE_CHECKING:
    from store.library import Library

_EVENTS = 100_000  # far above the events of one coin
_DEFAULTS = {"ticker": "", "description": "", "created_at": 0}
_SPLITS = {"train", "test", "val", "valid", "validation", "dev", "data", "images", "img"}
_LISTED = 12  # columns named in a sentence

Found = Candidate | Refusal
Read = Callable[[], Iterable[Found]]


@dataclass(slots=True)
class CountedCoins:
    """How many coins would come in, by tier, and which would be refused."""

    tiers: dict[Tier, int] = field(default_factory=lambda: {"pending": 0, "approved": 0, "library": 0})
    refused: list[Refusal] = field(default_factory=list)
    filled: int = 0
    notes: list[str] = field(default_factory=list)


def counted(found: Iterable[Candidate | Refusal]) -> CountedCoins:
    """Count what would come in; pictures are not decoded yet, so a broken one is refused later."""
    counts, known, passed = CountedCoins(), set[str](), list[Refusal]()
    for one in found:
        if isinstance(one, RemoteLogo):
            hint = "; fetch-logos downloads it"
            counts.refused.append(Refusal(one.item, one.reason.removesuffix(hint) + hint))
        elif isinstance(one, Passed):
            passed.append(one)
        elif isinstance(one, Refusal):
            counts.refused.append(one)
        else:
            try:
                sidecar = {**_DEFAULTS, **one.sidecar}
                sidecar["token_address"] = address = checked_address(sidecar.get("token_address"))
                validate(sidecar, tier=one.tier)
            except InvalidRecord as error:
                counts.refused.append(Refusal(one.item, str(error)))
                continue
            key = f"{address.lower()}@{sidecar.get('chainId')}"
            if key not in known:
                counts.tiers[one.tier] += 1
                counts.filled += FILLED_IN in sidecar
            known.add(key)
    counts.notes += [f"{len(ones):,} left aside: {reason}." for reason, ones in by_reason(passed)]
    if counts.filled:
        counts.notes.append(
            f"{counts.filled:,} coins lack a name, ticker, description or time; it is filled in, "
            f"and “{FILLED_IN}” lists what was missing."
        )
    return counts


def add(
    library: "Library", read: Read, survey: DataSurvey, request: AdoptionRequest, progress: Progress
) -> tuple[AdoptionReport, dict[str, Candidate]]:
    """Add the coins, each to its tier, as part of the request's decision.

    Coins that are there get what they lack. The second value has the other program's version of these.
    """
    report = AdoptionReport(survey.system, str(survey.path), decision=request.decision)
    given: dict[str, Candidate] = {}

    def seen() -> Iterable[Candidate | Refusal]:
        for one in read():
            if isinstance(one, Candidate) and isinstance(one.picture, Path):
                given[str(one.sidecar["token_address"])] = one
            yield one

    progress.what = "coins"
    done = library.add(
        seen(), source=f"{survey.title}: {survey.path.name}", decision=request.decision, embed=False,
        progress=progress, actor=request.actor,
    )  # fmt: skip
    done.raise_failure()
    # Those that an interrupted try decided, some of which waited for the disk until now.
    known = [*done.present, *(refusal.item for refusal in done.refused)]
    earlier = set(_of_decision(library, request.decision, known))
    report.taken += [*(address for address in known if address in earlier), *done.done]
    report.refused += [refusal for refusal in done.refused if refusal.item not in earlier]
    present = [address for address in done.present if address not in earlier]
    report.taken += [address for address in done.completed if address not in earlier]
    report.present += [address for address in present if address not in set(done.completed)]
    report.notes += done.notes
    return report, {address: given[address] for address in done.present if address in given}


class Origins:
    """The texts behind another program's vectors, compared with the coin's texts now."""

    def __init__(self, library: "Library", there: Mapping[str, Candidate], *, is_own: bool) -> None:
        """`there` has its version of coins that the library had before; `is_own`: it is this library."""
        self._library = library
        self._there = there
        self._is_own = is_own
        self._pictures: dict[str, list[str]] = {}

    def is_of(self, record: Record, facet: Facet) -> bool:
        """Whether the coin still has the text or picture that its vector there was made of."""
        if self._is_own:
            events = self._library.history(address=record.address, limit=_EVENTS)
            first = events[-1].after if events else None
            if first is None or facet == "image":
                return first is None or first.image_hash == record.image_hash
            before = json.loads(self._library.sidecar_text(first.sidecar_hash) or "{}")
            return _text(before.get("caption"), facet) == _text(record.caption, facet)
        candidate = self._there.get(record.address)
        if candidate is None:
            return True
        if facet == "image":
            return record.image_hash in self._stored(candidate)
        return _text(candidate.sidecar.get("caption"), facet) == _text(record.caption, facet)

    def _stored(self, candidate: Candidate) -> list[str]:
        from store.disk.images import stored_hashes  # Pillow comes along

        address = str(candidate.sidecar["token_address"])
        if address not in self._pictures:
            try:
                self._pictures[address] = stored_hashes(candidate.picture)
            except (BadPicture, OSError):
                self._pictures[address] = []
        return self._pictures[address]


def _text(caption: object, facet: str) -> str:
    return str(caption.get(facet) or "") if isinstance(caption, Mapping) else ""


def _of_decision(library: "Library", decision: str, addresses: list[str]) -> list[str]:
    with library.catalog.reading() as db:
        return history.of_decision(db, decision, among=addresses)


class _Coins:
    """The base of these systems: every coin is added for review."""

    name = ""
    title = ""
    what = "pictures"
    is_of_rows = False  # whether pictures alone are not this system's

    def recognise(self, path: Path) -> DataSurvey | None:
        notes = self._notes(path)
        if notes is None:
            return None
        preview = ImportPreview()
        found = counted(self._read(path, preview))
        notes += [_columns(kind) for kind in preview.kinds.values() if kind.fields]
        count = sum(found.tiers.values())
        is_named = any(kind.coins for kind in preview.kinds.values() if kind.fields)
        if not count or (self.is_of_rows and not is_named):
            return None  # rows and lists without a picture; `import` says of each what is missing
        kinds = (FoundKind(self.what, count, path.name, "to review"),)
        return DataSurvey(self.name, self.title, path, kinds, tuple(found.refused), (*notes, *found.notes))

    def adopt(
        self, library: "Library", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        progress.total = survey.count
        report, _ = add(library, lambda: self._read(survey.path, ImportPreview()), survey, request, progress)
        return report

    def _notes(self, path: Path) -> list[str] | None:
        """What to know before; None if it is not this system's."""
        raise NotImplementedError

    def _read(self, path: Path, preview: ImportPreview) -> Iterator[Found]:
        yield from candidates([path], preview=preview)


class CaptionedPictures(_Coins):
    """Pictures with a text file of the same name, as LoRA trainers and tag editors keep them."""

    name = "captioned-pictures"
    title = "Pictures with captions next to them"

    def _notes(self, path: Path) -> list[str] | None:
        names = _names(path)
        stems = {name.rpartition(".")[0] for name in names if suffix(name) in SUFFIXES}
        count = sum(suffix(name) == ".txt" and name.rpartition(".")[0] in stems for name in names)
        if not count or any(suffix(name) in (".json", *tables.SUFFIXES) for name in names):
            return None
        return [
            f"{count:,} text files: short parts between commas become tags, other texts the caption “entity”."
        ]


class ClassFolders(_Coins):
    """Pictures in a folder for each class, as Hugging Face's imagefolder has them; the class is a tag."""

    name = "class-folders"
    title = "Pictures in a folder for each class"

    def _notes(self, path: Path) -> list[str] | None:
        names = _names(path)
        if not names or not all(suffix(name) in SUFFIXES and _class(name) for name in names):
            return None
        classes = sorted({_class(name) for name in names})
        if len(classes) < 2:
            return None
        more = f" and {len(classes) - _LISTED:,} more" if len(classes) > _LISTED else ""
        return [f"Folders become tags: {', '.join(classes[:_LISTED])}{more}."]

    def _read(self, path: Path, preview: ImportPreview) -> Iterator[Found]:
        for name in _names(path):
            tree = DiskTree(path, title=path.name, chosen=[name])
            for one in folders.coins(tree, choices=Choices(), preview=preview):
                yield (
                    replace(one, sidecar={**one.sidecar, "tags": [_class(name)]})
                    if isinstance(one, Candidate)
                    else one
                )


class Tables(_Coins):
    """A table whose rows name pictures: CSV, JSON Lines, Hugging Face's metadata files."""

    name = "table"
    title = "Table of pictures"
    what = "rows with a picture"
    is_of_rows = True

    def _notes(self, path: Path) -> list[str] | None:
        found = [path] if path.is_file() else [path / name for name in _names(path)]
        found = [one for one in found if suffix(one.name) in tables.SUFFIXES]
        return None if all(map(is_recording, found)) else []  # a gigabyte of which would be read for nothing


class TokenLists(_Coins):
    """A token list, in which an address may be on several chains."""

    name = "token-list"
    title = "Token list"
    what = "tokens with a picture"

    def _notes(self, path: Path) -> list[str] | None:
        files = [path] if path.is_file() else sorted(path.glob("*.json"))
        lists = [found for file in files if (found := _tokens(file)) is not None]
        if not lists:
            return None
        keys: dict[str, set[object]] = {}
        for token in (token for tokens in lists for token in tokens if isinstance(token, dict)):
            keys.setdefault(str(token.get("address", "")).lower(), set()).add(token.get("chainId"))
        several = sum(len(chains) > 1 for chains in keys.values())
        if not several:
            return []
        return [
            f"{several:,} addresses are on several chains: the first keeps its address, the others have "
            "ADDRESS@CHAIN."
        ]

    def _read(self, path: Path, preview: ImportPreview) -> Iterator[Found]:
        for one in candidates([path], preview=preview):
            if isinstance(one, RemoteLogo):
                yield replace(one, reason=f"{one.reason}; fetch-logos downloads it")
            else:
                yield one


def _names(path: Path) -> list[str]:
    return DiskTree(path, title="").chosen if path.is_dir() else []


def _class(name: str) -> str:
    """The folder of a picture, if it is no split such as `train`; "" if there is none."""
    parts = [part for part in name.split("/")[:-1] if part.lower() not in _SPLITS]
    return parts[-1].replace(",", " ").strip()[:MAX_TAG] if parts else ""


def _columns(kind: FileKind) -> str:
    """How the columns of a table are read."""
    meant = [f"{head} → {field}" for head, field in kind.fields.items() if field]
    kept = [head for head, field in kind.fields.items() if not field]
    more = f", {len(kept) - _LISTED:,} more" if len(kept) > _LISTED else ""
    rest = f"; kept under their own names: {', '.join(kept[:_LISTED])}{more}" if kept else ""
    which = ", ".join(Path(name).name for name in kind.names)
    return f"{which} has {len(kind.fields):,} columns: {', '.join(meant) or 'none that is known'}{rest}."


def _tokens(path: Path) -> list[object] | None:
    try:
        value = tables.parsed(tables.decoded(read_regular(path, limit=tables.MAX_TEXT_BYTES)))
    except (OSError, BadSource):
        return None
    return value["tokens"] if folders.is_token_list(value) else None
