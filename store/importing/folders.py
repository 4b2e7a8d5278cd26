"""Read a tree of files as coins: token lists, tables, sidecars, single pictures, and whole libraries."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from store.captions.caption_text import HOLDS
from store.chroma.contents import DATABASE, read_contents, read_entries
from store.disk.aside import PREFIX
from store.errors import BadSource, InvalidRecord
from store.importing import shapes, tables, trees
from store.importing.candidate import Candidate, RemoteLogo, WithoutPicture, shown
from store.importing.metadata import (
    FILLED_IN,
    NAMES,
    address_in,
    date_of,
    one_line,
    sidecar_of,
    tags,
    unfolded,
)
from store.importing.pictures import (
    Pictures,
    embedded,
    endings,
    is_logo,
    located,
    text_beside,
    text_fields,
    with_whole_caption,
)
from store.importing.trees import Tree, folder_of, folders_above, picture_bytes, stem, suffix
from store.outcome import Refusal
from store.records import MAX_NAME, REQUIRED_FACETS, Tier, checked_address, made_up_address

COLLECTIONS = re.compile(r"(?:meme_image|(?:entity|context|visual|emotions)_caption)_embeddings")
_LIBRARY = re.compile(r"(?:^|/)rag_db/(?:metadata/|chroma\.sqlite3$)")
_NAMED = 12  # signs of an address that name a coin without a name
_FILLED = ("token_name", "ticker", "description", "created_at")
_WAITING = re.compile(r"(?:^|/)(?:pending|approved)/[^/]+\.json$")
_FETCHED = ("http://", "https://", "ipfs://", "ar://")
Found = Candidate | Refusal
# What a library keeps in addition to its sidecars and pictures, when its whole folder is imported.
_MACHINERY = re.compile(
    r"(?:catalog\.sqlite3.*|writer\.[a-z]+|rag_db/chroma\.sqlite3.*|rag_db/[0-9a-f-]{36}/.*|(?:rag_db/)?foreign-[^/]*/.*|"
    r"(?:operations|thumbnails|matrices|snapshots|reports|samples|set-aside)/.*)"
)
_NO_COINS = {  # folders of a library whose pictures are no coins to take in, and why
    "trash": "its coins were rejected there; import this folder by itself to have them",
    "trends": "its pictures are of trends, not of coins; import this folder by itself to have them",
}
_ELSEWHERE = re.compile(rf"(?:{'|'.join(_NO_COINS)})/.*")
_LISTS = 'a list is [{"name": …, "picture": …}, …] or {"tokens": [{"address": …, "logoURI": …}, …]}'
_OTHER_PICTURES = {".psd", ".eps", ".jxl"}


def tops(names: Iterable[str]) -> set[str]:
    """The folders that hold a library: `rag_db` with its content, or both `pending` and `approved`."""
    names = list(names)
    found = {match.string[: match.start()] for match in filter(None, map(_LIBRARY.search, names))}
    waiting: dict[str, set[str]] = {}
    for match in filter(None, map(_WAITING.search, names)):
        waiting.setdefault(match.string[: match.start()], set()).add(match[0].strip("/").partition("/")[0])
    return found | {top for top, tiers in waiting.items() if len(tiers) > 1}


class LibraryFolders:
    """The libraries of one tree."""

    def __init__(self, tree: Tree, names: Iterable[str]) -> None:
        self.tops = tops(names) if tree.is_whole else set[str]()
        self._tree = tree
        self._tags: dict[str, Mapping[str, Mapping[str, Any]]] = {}  # of each library, by address

    def completed(self, raw: Mapping[str, Any], name: str) -> dict[str, Any]:
        """The sidecar of a file; in a library, name and Chroma fill in what is missing, which is marked."""
        sidecar = sidecar_of(raw)
        top = self._top(name)
        if top is None:
            return sidecar
        if "token_address" not in sidecar:
            try:
                sidecar["token_address"] = checked_address(stem(name))
            except InvalidRecord:
                return sidecar  # a file of another kind, which gets its address from its picture
        fields = self._of(top).get(sidecar["token_address"], {})
        for key in ("tags", "tags_categories"):
            if not sidecar.get(key) and (found := tags(str(fields.get(key) or ""))):
                sidecar[key] = found
        missing = [key for key in _FILLED if all(raw.get(own) is None for own in NAMES.get(key, ()))]
        if "created_at" in sidecar:
            missing.remove("created_at")
        if missing:
            others = dict(fields)
            given = {"token_name": fields.get("name"), **date_of(others), **others}
            for key in ("token_name", "ticker", "created_at"):
                if key in missing and given.get(key) not in (None, ""):
                    sidecar[key] = given[key]
            sidecar[FILLED_IN] = missing
        if not sidecar.get("token_name"):
            sidecar["token_name"] = (sidecar.get("ticker") or stem(name))[:MAX_NAME]
        return sidecar

    def holds(self, name: str) -> bool:
        """Whether the file lies in a library."""
        return self._top(name) is not None

    def placed(self, coin: Candidate, name: str) -> Candidate:
        """The coin in the tier of its folder; without a caption that serves the library it is approved."""
        top = self._top(name)
        if top is None:
            return coin
        tier = _tier(name[len(top) :].lstrip("/"))
        caption = coin.sidecar.get("caption")
        written = caption if isinstance(caption, dict) else {}
        if tier == "library" and not all(str(written.get(facet) or "").strip() for facet in REQUIRED_FACETS):
            tier = "approved"
        return replace(coin, tier=tier)

    def _top(self, name: str) -> str | None:
        return next((folder for folder in folders_above(name) if folder in self.tops), None)

    def _of(self, top: str) -> Mapping[str, Mapping[str, Any]]:
        if top not in self._tags:
            folder = self._tree.on_disk(f"{top}/rag_db" if top else "rag_db")
            self._tags[top] = chroma_fields(folder) if folder else {}
        return self._tags[top]


def chroma_folders(rag_db: Path) -> list[Path]:
    """The folders with a Chroma of this library: its own, and those that were moved aside from there."""
    aside = sorted(rag_db.glob(f"{PREFIX}*")) if rag_db.is_dir() else []
    return [folder for folder in (rag_db, *aside) if (folder / DATABASE).is_file()]


def chroma_fields(rag_db: Path) -> dict[str, dict[str, Any]]:
    """The metadata of each address in the five collections, empty if Chroma cannot be read."""
    found: dict[str, dict[str, Any]] = {}
    for folder in chroma_folders(rag_db):
        for collection in read_contents(folder).collections:
            if not COLLECTIONS.fullmatch(collection.name):
                continue
            try:
                for id, _, fields in read_entries(folder, collection):
                    address = _checked(id)
                    found[address] = {**fields, **{k: v for k, v in found.get(address, {}).items() if v}}
            except (OSError, sqlite3.Error):
                continue
    return found


def _checked(id: str) -> str:
    try:
        return checked_address(id)
    except InvalidRecord:
        return id


def _tier(name: str) -> Tier:
    first = name.partition("/")[0]
    if first == "rag_db":
        return "library"
    return "approved" if first == "approved" else "pending"


def is_token_list(value: Any) -> bool:
    """Whether this JSON is a token list rather than a sidecar."""
    return isinstance(value, dict) and isinstance(value.get("tokens"), list) and "token_address" not in value


def listed_coins(
    tree: Tree, pictures: Pictures, *, name: str, tokens: list[Any], used: set[str]
) -> Iterator[Candidate | Refusal]:
    """Each token of the list `name` whose picture is in the tree; the others as refusals.

    Adds the pictures it uses to `used`.
    """
    if not tokens or len(tokens) > tables.MAX_ROWS:
        yield Refusal(tree.item(name), tables.TOO_MANY if tokens else "the token list is empty")
        return
    shared = endings(tables.picture_reference(dict(token)) for token in tokens if isinstance(token, dict))
    for number, token in enumerate(tokens, start=1):
        item = _item(tree, name, number, token)
        try:
            if not isinstance(token, dict):
                raise BadSource("it is not an object")
            sidecar, logo = sidecar_of(token), tables.picture_reference(dict(token))
            if "token_address" not in sidecar:
                raise BadSource("it has no address")
            address = sidecar.get("token_address", "")
            if (content := embedded(logo)) is not None:
                yield Candidate(item, without_data(sidecar), content)
                continue
            try:
                found = pictures.meant(logo, folder=folder_of(name), address=address, shared=shared)
            except BadSource as error:
                yield without_picture(item, str(error), sidecar, logo)
                continue
            used.add(found)
            yield Candidate(item, sidecar, tree.picture(found))
        except (BadSource, InvalidRecord) as error:
            yield Refusal(item, str(error))


def without_data(sidecar: dict[str, Any]) -> dict[str, Any]:
    """The sidecar without the picture that it holds itself, which is kept as a file."""
    return {
        key: value
        for key, value in sidecar.items()
        if not (isinstance(value, str) and value[:11].lower() == "data:image/")
    }


def without_picture(item: str, reason: str, sidecar: dict[str, Any], logo: object) -> Refusal:
    """The refusal for a missing picture, with all that is known of the coin.

    If the picture is on the network, it can be downloaded; a coin without an address gets one from its URL.
    """
    uri = located(logo) if isinstance(logo, str) else ""
    is_remote = uri.lower().startswith(_FETCHED)
    if is_remote:
        sidecar = {"logoURI": uri, "token_address": made_up_address(uri.encode()), **sidecar}
    if "token_address" not in sidecar:
        return Refusal(item, reason)
    address = sidecar["token_address"] = checked_address(sidecar["token_address"])
    if is_remote:  # lists of what is traded name no coin but by its address
        sidecar = {"token_name": sidecar.get("ticker") or address[:_NAMED], "ticker": "", **sidecar}
    return RemoteLogo(item, reason, sidecar, uri) if is_remote else WithoutPicture(item, reason, sidecar)


def _item(tree: Tree, name: str, number: int, token: Any) -> str:
    label = f"token {number}"
    if isinstance(token, dict):
        words = (token.get("symbol"), token.get("name"), token.get("address"))
        label += " " + " ".join(one_line(word)[:60] for word in words if isinstance(word, str))
    return shown(f"{tree.item(name)}: {label}")


def coins(tree: Tree) -> Iterator[Found]:
    """Every coin of the tree and every refusal: lists first, then tables, sidecars, single pictures."""
    yield from tree.refused
    if not tree.chosen and not tree.refused:
        yield Refusal(tree.title or "import", "there is nothing in it to import")
    try:
        yield from _Reading(tree).all()
    except trees.TooMuch as error:
        yield Refusal(tree.title, f"{error}; the rest of it was left out")


class _Reading:
    """One pass over a tree, with a record of the files used so far."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.pictures = Pictures(tree.names, is_picture=tree.is_picture)
        self.used: set[str] = set()
        self.libraries = LibraryFolders(tree, ())
        self.unread: set[str] = set()  # broken files, which name pictures that cannot be known

    def all(self) -> Iterator[Found]:
        lists = dict(self._token_lists())
        tops = {folder_of(name) for name in lists if self.tree.is_whole}
        outermost = [name for name in lists if _outermost(name, tops) in (None, folder_of(name))]
        for name in outermost:
            yield from listed_coins(
                self.tree, self.pictures, name=name, tokens=lists.pop(name), used=self.used
            )
        # A folder that holds a token list is imported through the list alone.
        done = {*lists, *outermost}
        rest = [name for name in self.tree.chosen if name not in done and _outermost(name, tops) is None]
        yield from self._without_lists(rest)

    def _without_lists(self, names: list[str]) -> Iterator[Found]:
        self.libraries = LibraryFolders(self.tree, names)
        libraries = self.libraries.tops
        rest = [name for name in names if not _matches(_MACHINERY, name, libraries)]
        others = [name for name in rest if _matches(_ELSEWHERE, name, libraries)]
        rest = sorted(set(rest).difference(others))
        for folder in sorted(set(map(folder_of, others))):
            reason = next(_NO_COINS[part] for part in folder.split("/")[::-1] if part in _NO_COINS)
            yield Refusal(self.tree.item(folder), reason)
        for name in rest:
            if suffix(name) in tables.SUFFIXES:
                yield from self._guarded(name, self._table(name))
        for name in rest:
            if suffix(name) == ".json":
                yield from self._guarded(name, self._sidecar(name))
        for name in sorted(self.unread):
            yield from self._waiting(name, rest)
        for name in sorted(
            rest, key=lambda name: suffix(name) in (".txt", ".caption")
        ):  # pictures say which texts are theirs
            if name not in self.used and suffix(name) not in (".json", *tables.SUFFIXES):
                yield from self._guarded(name, self._other(name))

    def _guarded(self, name: str, found: Iterator[Found]) -> Iterator[Found]:
        try:
            yield from found
        except trees.TooMuch:
            raise
        except (BadSource, InvalidRecord) as error:
            yield Refusal(self.tree.item(name), str(error))

    def _token_lists(self) -> Iterator[tuple[str, list[Any]]]:
        for name in self.tree.chosen:
            if suffix(name) != ".json":
                continue
            try:
                content = self.tree.read(name, limit=tables.MAX_TEXT_BYTES)
                # A glance, so that thousands of sidecars are not parsed twice (zero bytes: UTF-16).
                if b"tokens" not in content.replace(b"\0", b""):
                    continue
                value = tables.parsed(tables.decoded(content))
            except trees.TooMuch:
                raise
            except BadSource:
                continue  # said when its turn comes as a sidecar
            if is_token_list(value):
                yield name, value["tokens"]

    def _waiting(self, broken: str, names: list[str]) -> Iterator[Refusal]:
        """Reserve pictures that a broken file may refer to, or they would get a wrong name."""
        folder = folder_of(broken)
        waiting = {
            name
            for name in names
            if name not in self.used and self.tree.is_picture(name) and folder in folders_above(name)
        }
        self.used |= waiting
        reason = f"it waits for {self.tree.item(broken)}, which may describe it: fix that, or import it alone"
        for name in sorted(waiting):
            yield Refusal(self.tree.item(name), reason)

    def _table(self, name: str) -> Iterator[Found]:
        self.unread.add(name)
        content = self.tree.read(name, limit=tables.MAX_BYTES)
        rows = list(islice(tables.rows_of(content, suffix=suffix(name)), tables.MAX_ROWS + 1))
        if all(isinstance(row, dict) for _, row in rows):
            self.unread.discard(name)
        yield from self._rows(name, iter(rows))

    def _rows(self, name: str, every: Iterator[tuple[int, dict[str, Any] | BadSource]]) -> Iterator[Found]:
        rows = list(islice(every, tables.MAX_ROWS + 1))
        if len(rows) > tables.MAX_ROWS:
            raise BadSource(tables.TOO_MANY)
        if not rows:
            yield Refusal(self.tree.item(name), "there is no coin in it")
        rows = [
            (number, one)
            for number, row in rows
            for one in (shapes.single(row) if isinstance(row, dict) else [row])
        ]
        references = [tables.picture_reference(dict(row)) for _, row in rows if isinstance(row, dict)]
        shared = endings(references)
        for number, row in rows:
            item = shown(f"{self.tree.item(name)} row {number}{_label(row)}")
            try:
                if isinstance(row, BadSource):
                    raise row
                reference = tables.picture_reference(row := dict(row))
                self._claim(reference, folder=folder_of(name), shared=shared)
                if HOLDS in row:  # its picture's text file repeats what the row says
                    self.used.add(str(PurePosixPath(folder_of(name), str(reference)).with_suffix(".txt")))
                sidecar = sidecar_of(tables.metadata_of(with_whole_caption(row)))
                address = sidecar.get("token_address", "")
                if (content := embedded(reference)) is not None:
                    named = {"ticker": "", "token_address": made_up_address(content), **without_data(sidecar)}
                    yield Candidate(item, named, content)
                    continue
                try:
                    found = self.pictures.meant(
                        reference, folder=folder_of(name), address=address, shared=shared
                    )
                except BadSource as error:
                    yield without_picture(item, str(error), sidecar, reference)
                    continue
                yield self._coin(item, {"token_name": _name_from(found), "ticker": "", **sidecar}, found)
            except trees.TooMuch:
                raise
            except (BadSource, InvalidRecord) as error:
                yield Refusal(item, str(error))

    def _sidecar(self, name: str) -> Iterator[Found]:
        found = self.pictures.beside(name)
        if found:  # even if the sidecar is broken: without it, the picture would get a wrong key
            self.used.update([found, *(self.pictures.logos(folder_of(name)) if is_logo(found) else [])])
        else:
            self.unread.add(name)
        value = tables.parsed(tables.decoded(self.tree.read(name, limit=tables.MAX_TEXT_BYTES)))
        self.unread.discard(name)
        if (listed := shapes.entries(value)) is not None:
            yield from self._rows(name, tables.listed(listed))
            return
        if not isinstance(value, dict):
            raise BadSource(f"it is neither a coin nor a list of coins: {_LISTS}")
        if found is None:
            reference = tables.picture_reference(dict(value))
            try:
                if not reference:
                    raise BadSource(_lack(value))
                found = self.pictures.meant(reference, folder=folder_of(name), address="", shared=Counter())
            except BadSource as error:
                if not reference and not any(unfolded(value).get(key) for key in NAMES["token_address"]):
                    raise
                sidecar = self.libraries.completed(value, name)
                yield without_picture(self.tree.item(name), str(error), sidecar, reference)
                return
        if text := text_beside(self.tree, found):
            self.used.add(text)
            value = {**text_fields(self.tree, text), **value}
        sidecar = self.libraries.completed(with_whole_caption(value), name)
        if not self.libraries.holds(name):
            sidecar = {"token_name": _name_from(found), "ticker": "", **sidecar}
        coin = self._coin(self.tree.item(name), sidecar, found)
        yield self.libraries.placed(coin, name)

    def _other(self, name: str) -> Iterator[Found]:
        kind = suffix(name)
        if self.tree.is_picture(name):
            fields: dict[str, Any] = {"token_name": _name_from(name), "ticker": "", "description": ""}
            if text := text_beside(self.tree, name):
                fields |= text_fields(self.tree, text)
                self.used.add(text)
            yield self._coin(self.tree.item(name), fields, name)
        elif kind == ".zip" and self.tree.opens_archives:
            with trees.opened(self.tree.picture(name), title=self.tree.item(name)) as archive:
                yield from coins(archive)
        elif kind == ".zip":
            raise BadSource("an archive inside an archive is not opened; unpack it first")
        elif kind in _OTHER_PICTURES:
            raise BadSource(f"pictures of the kind {kind} are not read; save it as PNG or JPG")
        else:
            raise BadSource("it is neither a picture nor JSON, CSV or zip")

    def _claim(self, reference: Any, *, folder: str, shared: Counter[str]) -> None:
        """Reserve the picture of a row, even if the row is refused."""
        with suppress(BadSource):
            self.used.add(self.pictures.meant(reference, folder=folder, address="", shared=shared))

    def _coin(self, item: str, sidecar: dict[str, Any], picture: str) -> Candidate:
        self.used.add(picture)
        content = self.tree.picture(picture)
        if "token_address" not in sidecar:
            whole = content if isinstance(content, bytes) else picture_bytes(self.tree, picture)
            sidecar["token_address"] = _address_in(picture) or made_up_address(whole)
        return Candidate(item, sidecar, content, picture_name=_name_from(picture))


def _lack(value: Mapping[str, Any]) -> str:
    """What a JSON object lacks to be a coin, or a list of them."""
    if "tokens" in value and "token_address" not in value:
        return f'its "tokens" is no list: {_LISTS}'
    if any(value.get(key) for keys in NAMES.values() for key in keys):
        return "no picture: none in the import has the same name"
    return f"it has no name and no address of a coin, and is no list of coins: {_LISTS}"


def _label(row: dict[str, Any] | BadSource) -> str:
    name = row.get("token_name", row.get("name")) if isinstance(row, dict) else None
    return f" {one_line(name)[:80]}" if isinstance(name, str) else ""


def _name_from(name: str) -> str:
    """What a picture's file is called; one that is called "logo" or the like has its folder's name."""
    own = folder_of(name).rpartition("/")[2] if is_logo(name) else ""
    readable = (own or stem(name)).encode("utf-8", "replace").decode().replace("_", " ")
    return str(one_line(readable))[:MAX_NAME].strip() or "unnamed"


def _address_in(name: str) -> str | None:
    """The address in a picture's path: its own name, or that of its folder, as token lists have them."""
    return address_in(stem(name)) or address_in(folder_of(name).rpartition("/")[2])


def _outermost(name: str, folders: set[str]) -> str | None:
    """The outermost of these folders that contains the file."""
    return next((folder for folder in folders_above(name) if folder in folders), None)


def _matches(pattern: re.Pattern[str], name: str, libraries: set[str]) -> bool:
    """Whether the file's name within a library's folder matches the pattern."""
    return any(
        pattern.fullmatch(name[len(top) :].lstrip("/")) for top in folders_above(name) if top in libraries
    )
