"""Pictures, tables and lists of other tools: what each file means is said before it counts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from store.adopting import coins
from store.adopting.report import AdoptionReport
from store.adopting.survey import DataSurvey, FoundKind
from store.adopting.system import AdoptionRequest
from store.disk.files import read_regular
from store.disk.images import SUFFIXES
from store.errors import BadSource
from store.importing import Candidate, candidates, folders, tables, texts, token_lists
from store.importing.candidate import RemoteLogo
from store.importing.names import suffix
from store.importing.trees import DiskTree
from store.outcome import Refusal
from store.progress import Progress
from store.records import MAX_TAG

if TYPE_CHECKING:
    from store.library import Library

_SPLITS = {"train", "test", "val", "valid", "validation", "dev", "data", "images", "img"}
_LISTED = 12  # columns named in a sentence
_FIRST = 2_000_000  # bytes, far above any line of column names

Found = Candidate | Refusal


class _Coins:
    """What these systems share: every coin comes in for review."""

    name = ""
    title = ""
    what = "pictures"

    def recognise(self, path: Path) -> DataSurvey | None:
        notes = self._notes(path)
        if notes is None:
            return None
        found = coins.counted(self._read(path))
        count = sum(found.tiers.values())
        if not count:
            return None  # rows and lists without a picture; `import` says of each what is missing
        kinds = (FoundKind(self.what, count, path.name, "to review"),)
        return DataSurvey(self.name, self.title, path, kinds, tuple(found.refused), (*notes, *found.notes))

    def adopt(
        self, library: "Library", survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        progress.total = survey.count
        report, _ = coins.add(library, lambda: self._read(survey.path), survey, request, progress)
        return report

    def _notes(self, path: Path) -> list[str] | None:
        """What to know before; None if it is not this system's."""
        raise NotImplementedError

    def _read(self, path: Path) -> Iterator[Found]:
        yield from candidates([path])


class CaptionedPictures(_Coins):
    """Pictures with a text file of the same name, as LoRA trainers and tag editors keep them."""

    name = "captioned-pictures"
    title = "Pictures with captions beside them"

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

    def _read(self, path: Path) -> Iterator[Found]:
        for name in _names(path):
            tree = DiskTree(path, title=path.name, chosen=[name])
            for one in folders.coins(tree):
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

    def _notes(self, path: Path) -> list[str] | None:
        found = [path] if path.is_file() else [path / name for name in _names(path)]
        found = [one for one in found if suffix(one.name) in tables.SUFFIXES]
        if not found:
            return None
        return [note for one in found[:_LISTED] for note in _columns(one)]


class TokenLists(_Coins):
    """A token list, in which an address may stand on several chains."""

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
            f"{several:,} addresses stand on several chains: the first keeps its address, the others have "
            "ADDRESS@CHAIN."
        ]

    def _read(self, path: Path) -> Iterator[Found]:
        for one in candidates([path]):
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


def _columns(path: Path) -> list[str]:
    """What the columns of a table count as."""
    if suffix(path.name) not in (".csv", ".tsv"):
        return [
            f"{path.name}: a text in “caption” or “text” becomes the caption “entity”; other keys are kept."
        ]
    try:
        with path.open("rb") as file:
            columns = tables.mapping(file.read(_FIRST))
    except (OSError, BadSource):
        return []
    meant = [
        f"{head} → {'entity (the whole caption)' if field in ('text', 'caption') else field}"
        for head, field in columns.items()
        if field
    ]
    kept = [head for head, field in columns.items() if not field]
    more = f", {len(kept) - _LISTED:,} more" if len(kept) > _LISTED else ""
    rest = f"; kept under their own names: {', '.join(kept[:_LISTED])}{more}" if kept else ""
    return [f"{path.name} has {len(columns):,} columns: {', '.join(meant) or 'none that is known'}{rest}."]


def _tokens(path: Path) -> list[object] | None:
    try:
        value = texts.parsed(texts.decoded(read_regular(path, limit=texts.MAX_BYTES)))
    except (OSError, BadSource):
        return None
    return value["tokens"] if token_lists.is_token_list(value) else None
