"""Read a tree of files as coins: token lists, tables, sidecars, single pictures, and whole libraries."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from store.captions.caption_text import HOLDS
from store.errors import BadSource, InvalidRecord
from store.importing import encodings, shapes, tables, trees
from store.importing.candidate import Candidate, Passed, RemoteLogo, SideFile, WithoutPicture, shown
from store.importing.libraries import LibraryFolders
from store.importing.metadata import address_in, chain_id, is_url, one_line, sidecar_of, unfolded, unwrapped
from store.importing.names import (
    ASIDE,
    ASIDES,
    FILES,
    JSON_NOT_READ,
    METADATA,
    NAMES,
    NOT_READ,
    OF_ITS_COIN,
    OF_THE_FOLDER,
    OTHER_SIZE,
)
from store.importing.pictures import (
    Pictures,
    embedded,
    endings,
    is_logo,
    located,
    read_as,
    text_fields,
    texts_beside,
    with_whole_caption,
)
from store.importing.preview import Choices, FileKind, ImportPreview
from store.importing.trees import Tree, folder_of, folders_above, picture_bytes, stem, suffix
from store.outcome import Refusal
from store.records import MAX_NAME, checked_address, is_made_up, made_up_address

_NAMED = 12  # signs of an address that name a coin without a name
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
_TITLES = {
    ".csv": "CSV table", ".tsv": "CSV table", ".jsonl": "JSON Lines", ".ndjson": "JSON Lines",
    ".parquet": "Parquet table",
}  # fmt: skip
_THUMBNAIL = re.compile(r"_thumbnail(\.\w+)$")
_TEXTS = (".txt", ".caption")
_EMPTY = "there is no coin in it"
_CATEGORIES = {
    "general",
    "character",
    "copyright",
    "artist",
    "species",
    "series",
    "meta",
    "rating",
}  # of tags


def is_token_list(value: Any) -> bool:
    """Whether this JSON is a token list rather than a sidecar."""
    return isinstance(value, dict) and isinstance(value.get("tokens"), list) and "token_address" not in value


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


def coins(
    tree: Tree, *, choices: Choices | None = None, preview: ImportPreview | None = None
) -> Iterator[Found]:
    """Every coin of the tree and every refusal: lists first, then tables, sidecars, single pictures.

    What each file was recognised as goes to `preview`.
    """
    choices, preview = choices or Choices(), preview or ImportPreview()
    for refusal in tree.refused:
        yield preview.unread(refusal)
    if not tree.chosen and not tree.refused:
        yield preview.unread(Refusal(tree.title or "import", "there is nothing in it to import"))
    try:
        yield from _Reading(tree, choices, preview).all()
    except trees.TooMuch as error:
        yield preview.unread(Refusal(tree.title, f"{error}; the rest of it was left out"))


# What stands between a picture's name and its caption in a line.
_AFTER_NAME = re.compile(r"[\t|,]|(?<=\.\w{3})[: ]|(?<=\.\w{4})[: ]")


class _Reading:
    """One pass over a tree, with a record of the files used so far."""

    def __init__(self, tree: Tree, choices: Choices, preview: ImportPreview) -> None:
        self.tree = tree
        self.choices = choices
        self.preview = preview
        self.pictures = Pictures(tree.names, is_picture=tree.is_picture)
        self.used: set[str] = set()
        self.libraries = LibraryFolders(tree, ())
        self.kinds: dict[str, str] = {}  # the endings that files should have
        self.unread: set[str] = set()  # broken files, which name pictures that cannot be known
        self.kind: FileKind | None = None  # of the file that is being read
        self.remarks: list[str] = []  # … which its first coin takes along
        self.apart: dict[str, list[str]] = {}  # texts that lie elsewhere than their picture, or are called so

    def all(self) -> Iterator[Found]:
        lists = dict(self._token_lists())
        tops = {folder_of(name) for name in lists if self.tree.is_whole}
        outermost = [name for name in lists if _outermost(name, tops) in (None, folder_of(name))]
        for name in outermost:
            yield from self._guarded(name, self._token_list(name, lists.pop(name)))
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
        self.kinds = {name: self._kind(name) for name in rest}
        for folder in sorted(set(map(folder_of, others))):
            reason = next(_NO_COINS[part] for part in folder.split("/")[::-1] if part in _NO_COINS)
            yield self.preview.unread(Refusal(self.tree.item(folder), reason))
        for name in rest:
            if self.kinds[name] in tables.SUFFIXES:
                yield from self._guarded(name, self._table(name, self.kinds[name]))
        for name in rest:
            if self.kinds[name] == ".txt" and (rows := self._lines(name)):
                self.used.add(name)
                yield from self._guarded(name, self._rows(name, rows, title="table in a text file"))
        for name in rest:
            picture = self.pictures.beside(name) if suffix(name) in _TEXTS and name not in self.used else None
            if picture and name not in texts_beside(self.tree, picture):
                self.apart.setdefault(picture, []).append(name)
        for name in rest:
            if self.kinds[name] == ".json":
                yield from self._guarded(name, self._sidecar(name))
        for name in sorted(self.unread):
            yield from self._waiting(name, rest)
        # Pictures say which texts are theirs.
        for name in sorted(rest, key=lambda name: suffix(name) in _TEXTS):
            if name not in self.used and self.kinds[name] not in (".json", *tables.SUFFIXES):
                found = self._archive(name) if self.kinds[name] in trees.ARCHIVES else self._other(name)
                yield from self._guarded(name, found)

    def _kind(self, name: str) -> str:
        """The ending that a file has or, where that is wrong or says nothing, should have."""
        end = suffix(name)
        if ASIDE.fullmatch(name.rpartition("/")[2]) and not self.pictures.beside(name):
            return ""
        # Sidecars and captions may be thousands; one of these that is something else is looked at when read.
        is_clear = end in (".json", *trees.ARCHIVES, *NOT_READ) or self.tree.is_picture(name)
        if is_clear or (end in _TEXTS and self.pictures.beside(name)):
            return end
        return trees.kind_of(self.tree.beginning(name), called=end)

    def _guarded(self, name: str, found: Iterator[Found]) -> Iterator[Found]:
        self.kind, self.remarks = None, []
        try:
            for one in found:
                if isinstance(one, Candidate) and self.remarks:
                    one = replace(one, remarks=(*self.remarks, *one.remarks))
                    self.remarks = []
                if self.kinds.get(name) not in trees.ARCHIVES:  # whose files were counted
                    self._count(one)
                yield one
        except trees.TooMuch:
            raise
        except (BadSource, InvalidRecord) as error:
            is_aside = isinstance(error, SideFile) and self.tree.is_whole
            refusal = (Passed if is_aside else Refusal)(self.tree.item(name), str(error))
            self._count(refusal)
            yield refusal

    def _is(self, title: str, name: str, *, rows: Iterable[Any] = (), encoding: str = "") -> None:
        """Note what the file that is being read was recognised as."""
        self.kind = self.preview.file(title, self.tree.item(name), rows=rows, encoding=encoding)
        if encoding:
            self.remarks.append(read_as(self.tree.item(name), encoding))

    def _count(self, one: Found) -> None:
        if self.kind:
            self.preview.count(self.kind, one)
        elif isinstance(one, Refusal):
            self.preview.unread(one)

    def _text(self, name: str) -> tuple[str, str]:
        return encodings.read(self.tree.read(name, limit=tables.MAX_TEXT_BYTES))

    def _token_lists(self) -> Iterator[tuple[str, dict[str, Any]]]:
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
                yield name, value

    def _token_list(self, name: str, value: Mapping[str, Any]) -> Iterator[Found]:
        tokens = value["tokens"]
        self._is("token list", name, rows=tokens, encoding=self._text(name)[1])
        if not tokens or len(tokens) > tables.MAX_ROWS:
            raise BadSource(tables.TOO_MANY if tokens else "the token list is empty")
        yield from self._rows(name, list(tables.listed(tokens)), word="token")

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
        kind = self.preview.file("picture that waits", broken) if waiting else None
        for name in sorted(waiting):
            refusal = Refusal(self.tree.item(name), reason)
            if kind:
                self.preview.count(kind, refusal)
            yield refusal

    def _table(self, name: str, kind: str) -> Iterator[Found]:
        if kind == ".parquet" and f"{name[: -len(kind)]}.tar" in self.tree.known:
            self._is("img2dataset's table of a shard, which its tar repeats", name)
            return
        self.unread.add(name)
        content = self.tree.read(name, limit=tables.MAX_BYTES)
        if not content.strip():
            self.unread.discard(name)
            raise BadSource(_EMPTY)
        every = tables.rows_of(content, suffix=kind, fields=self.choices.fields)
        try:
            rows = list(islice(every, tables.MAX_ROWS + 1))
        except tables.NamelessColumns as error:  # a person may know what they are
            self._is(_TITLES[kind], name, rows=error.rows)
            raise
        if all(isinstance(row, dict) for _, row in rows):
            self.unread.discard(name)
        encoding = "" if kind == ".parquet" else encodings.read(content)[1]
        yield from self._rows(name, rows, title=_TITLES[kind], encoding=encoding)

    def _lines(self, name: str) -> list[tables.Row]:
        """The rows of a text that names pictures: with a line of column names, or a picture in each line."""
        if self.pictures.beside(name):
            return []
        try:
            text = self._text(name)[0]
            if "picture" in map(tables.counts_as, re.split(r"[,;\t|]", text.partition("\n")[0].strip())):
                return list(tables.rows_of(text.encode(), suffix=".csv"))
        except BadSource:
            return []
        folder, rows = folder_of(name), list[tables.Row]()
        for number, line in enumerate(filter(None, map(str.strip, text.splitlines())), start=1):
            first, said = [*_AFTER_NAME.split(re.sub(r"#\d+(?=\t)", "", line), maxsplit=1), ""][:2]
            try:
                self.pictures.meant(first.strip(), folder=folder, address="", shared=Counter())
            except BadSource:
                return []
            rows.append((number, {"file_name": first.strip(), "caption": said.strip()}))
        return rows

    def _rows(
        self, name: str, rows: list[tables.Row], *, title: str = "", encoding: str = "", word: str = "row"
    ) -> Iterator[Found]:
        if title:
            self._is(title, name, rows=(row for _, row in rows), encoding=encoding)
        if len(rows) > tables.MAX_ROWS:
            raise BadSource(tables.TOO_MANY)
        if not rows:
            yield Refusal(self.tree.item(name), _EMPTY)
        labels = {number: _label(row, word) for number, row in rows}
        rows, told = shapes.coins_of(rows, self.choices.fields)
        self.remarks += [f"{self.tree.item(name)}: {sentence}" for sentence in told]
        references = [tables.picture_reference(dict(row)) for _, row in rows if isinstance(row, dict)]
        shared = endings(references)
        for number, row in rows:
            item = shown(
                f"{self.tree.item(name)}{':' if word == 'token' else ''} {word} {number}{labels[number]}"
            )
            try:
                if isinstance(row, BadSource):
                    raise row
                named, reference = _path_of(row), tables.picture_reference(row := dict(row))
                self._claim(reference, folder=folder_of(name), shared=shared)
                if HOLDS in row:  # its picture's text file repeats what the row says
                    self.used.add(str(PurePosixPath(folder_of(name), str(reference)).with_suffix(".txt")))
                sidecar = sidecar_of(tables.metadata_of(with_whole_caption(row)))
                address = sidecar.get("token_address", "")
                if word == "token" and not address:
                    raise BadSource("it has no address")
                if (content := embedded(reference)) is not None:
                    made_up = {"token_address": made_up_address(content)}
                    called = _name_from(named) if named else f"{stem(name)} {number}"
                    yield Candidate(item, _called({**made_up, **without_data(sidecar)}, called), content)
                    continue
                try:
                    found = self.pictures.meant(
                        reference, folder=folder_of(name), address=address, shared=shared
                    )
                except BadSource as error:
                    yield without_picture(item, str(error), sidecar, self._elsewhere(row, reference))
                    continue
                fields, remarks = ({}, list[str]()) if HOLDS in row else self._beside(found)
                sidecar = _called({**sidecar_of(fields), **sidecar}, _name_from(found))
                yield replace(self._coin(item, sidecar, found), remarks=tuple(remarks))
            except trees.TooMuch:
                raise
            except (BadSource, InvalidRecord) as error:
                yield Refusal(item, str(error))

    def _elsewhere(self, row: Mapping[str, Any], reference: object) -> object:
        """Where a picture that is not in the import can be fetched from."""
        return reference if is_url(reference) else row.get("coco_url", reference)

    def _sidecar(self, name: str) -> Iterator[Found]:
        found = self.pictures.beside(name)
        if found and self.libraries.holds(name):  # even if it is broken, or the picture would get a wrong key
            self.used.add(found)
        if not found:
            self.unread.add(name)
        try:
            text, encoding = self._text(name)
            value = tables.parsed(text)
        except BadSource:
            kind = self.kinds[name] = trees.kind_of(self.tree.beginning(name), called=".json")
            if kind != ".json":
                self.unread.discard(name)
                self.used.add(name)
                yield from self._archive(name) if kind in trees.ARCHIVES else self._table(name, kind)
                return
            text, encoding = self._text(name)
            if not text.strip():
                self.unread.discard(name)
                raise BadSource(_EMPTY) from None
            rows = list(islice(tables.rows_of(text.encode(), suffix=".jsonl"), tables.MAX_ROWS + 1))
            if len(rows) < 2 or not all(isinstance(row, dict) for _, row in rows[:2]):
                raise
            self.unread.discard(name)
            yield from self._rows(name, rows, title="JSON Lines", encoding=encoding)
            return
        self.unread.discard(name)
        value = self._plainly(value, is_of_one=found is not None)
        if known := next((said for keys, said in JSON_NOT_READ if len(keys) > 1 and _has(value, keys)), ""):
            raise SideFile(known)
        if listed := shapes.entries(value):
            rows = list(islice(tables.listed(listed.rows), tables.MAX_ROWS + 1))
            yield from self._rows(name, rows, title=listed.title, encoding=encoding)
            return
        if not isinstance(value, dict):
            raise BadSource(f"it is neither a coin nor a list of coins: {_LISTS}")
        title = "coin of a library" if self.libraries.holds(name) else "JSON of one coin or picture"
        given = unwrapped(value)
        value = tables.named(given, self.choices.fields)
        if found is None:
            reference = tables.picture_reference(dict(value))
            try:
                if not reference:
                    raise _lack(given)
                stated = unfolded(value)
                own = next(filter(None, (address_in(stated.get(key)) for key in NAMES["token_address"])), "")
                found = self.pictures.meant(reference, folder=folder_of(name), address=own, shared=Counter())
            except BadSource as error:
                sidecar = self.libraries.completed(value, name)
                if address := _address_in(name):
                    sidecar.setdefault("token_address", address)
                if not reference and "token_address" not in sidecar:
                    is_further = any(f"{folder_of(name)}/{one}.json" in self.tree.known for one in METADATA)
                    if is_further and stem(name) not in METADATA:
                        raise SideFile(OF_ITS_COIN) from error
                    raise
                self._is(title, name, rows=[given], encoding=encoding)
                yield without_picture(self.tree.item(name), str(error), sidecar, reference)
                return
        self._is(title, name, rows=[given], encoding=encoding)
        self.used.update([found, *(self.pictures.logos(folder_of(name)) if is_logo(found) else [])])
        fields, remarks = self._beside(found)
        value = {
            **fields,
            **{key: said for key, said in value.items() if key not in fields or said not in (None, "", [])},
        }
        sidecar = self.libraries.completed(with_whole_caption(value), name)
        if not self.libraries.holds(name):
            sidecar = _called(sidecar, _name_from(found))
        coin = self._coin(self.tree.item(name), sidecar, found)
        yield self.libraries.placed(replace(coin, remarks=tuple(remarks)), name)

    def _plainly(self, value: Any, *, is_of_one: bool) -> Any:
        """JSON without what only surrounds it, as e621's `post`, and captions by pictures' names as rows."""
        if is_of_one and isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return {"tags": value}
        if not isinstance(value, dict) or not value:
            return value
        if is_of_one and value.keys() <= _CATEGORIES:
            return {"tags": [tag for kind, of_kind in value.items() if kind != "rating" for tag in of_kind]}
        key, inner = next(iter(value.items()))
        if is_of_one and len(value) == 1 and isinstance(inner, dict) and not tables.counts_as(key):
            return inner
        if all(isinstance(said, str) and self.pictures.called(name) for name, said in value.items()):
            return [{"file_name": name, "caption": said} for name, said in value.items()]
        return value

    def _beside(self, picture: str) -> tuple[dict[str, Any], list[str]]:
        """What the texts beside a picture say, and what to say of them."""
        texts = [*texts_beside(self.tree, picture), *self.apart.get(picture, ())]
        fields, remarks = text_fields(self.tree, picture, texts, holds=self.choices.texts)
        self.used.update(texts)
        if texts and self.kind:
            self.kind.tagged += "tags" in fields
            self.kind.captioned += "caption" in fields
        return fields, remarks

    def _other(self, name: str) -> Iterator[Found]:
        kind = suffix(name)
        if self.tree.is_picture(name):
            if is_logo(name) and _address_in(name) and name != self.pictures.logos(folder_of(name))[0]:
                raise SideFile(OTHER_SIZE)
            if (whole := _THUMBNAIL.sub(r"\1", name)) != name and whole in self.used:  # Eagle's
                raise SideFile(OTHER_SIZE)
            self._is("picture", name)
            fields, remarks = self._beside(name)
            sidecar = _called(sidecar_of(fields), _name_from(name))
            yield replace(self._coin(self.tree.item(name), sidecar, name), remarks=tuple(remarks))
        elif kind in NOT_READ:
            raise (SideFile if NOT_READ[kind] in ASIDES else BadSource)(NOT_READ[kind])
        elif ASIDE.fullmatch(name.rpartition("/")[2]):
            raise SideFile(OF_THE_FOLDER)
        elif kind in _TEXTS:
            raise BadSource(
                "a text, but no picture here has its name; `import-captions` takes it for a coin here"
            )
        else:
            is_empty = not self.tree.beginning(name)
            raise BadSource(_EMPTY if is_empty else "it is neither a picture nor JSON, CSV or zip")

    def _archive(self, name: str) -> Iterator[Found]:
        if not self.tree.opens_archives:
            raise BadSource("an archive in an archive in an archive is not opened; unpack it first")
        with trees.opened(self.tree.picture(name), title=self.tree.item(name), outer=self.tree) as archive:
            yield from coins(archive, choices=self.choices, preview=self.preview)

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
        if (chain := _chain_in(picture)) and not is_made_up(sidecar["token_address"]):
            sidecar.setdefault("chainId", chain)
        return Candidate(item, sidecar, content, picture_name=_name_from(picture))


def _called(sidecar: dict[str, Any], name: str) -> dict[str, Any]:
    """The sidecar with its ticker, else this name, as its name if it has none."""
    given = sidecar.get("token_name") or sidecar.get("ticker") or name
    return {"ticker": "", "description": "", **sidecar, "token_name": given}


def _path_of(row: Mapping[str, Any]) -> str:
    """The name that a picture in a row has there."""
    held: dict[str, Any] = next((row[key] for key in FILES if isinstance(row.get(key), dict)), {})
    return str(held.get("path") or "")


def _lack(value: Mapping[str, Any]) -> BadSource:
    """What a JSON object lacks to be a coin, or a list of them, or what it is instead."""
    for keys, known in JSON_NOT_READ:
        if _has(value, keys) or any(_has(one, keys) for one in value.values()):
            return SideFile(known)
    if any(value.get(key) for keys in NAMES.values() for key in keys):
        return BadSource("no picture: none in the import has the same name")
    if "tokens" in value:
        return BadSource(f'its "tokens" is no list: {_LISTS}')
    return BadSource(f"it has no name and no address of a coin, and is no list of coins: {_LISTS}")


def _has(value: object, keys: set[str]) -> bool:
    return isinstance(value, dict) and keys <= value.keys()


def _label(row: dict[str, Any] | BadSource, word: str) -> str:
    """What a row calls its coin, so that a person finds it."""
    if not isinstance(row, dict):
        return ""
    if word == "token":
        words = [row.get(key) for key in ("symbol", "name", "address")]
    else:
        words = [row.get("token_name", row.get("name", row.get("Name")))]
    return "".join(f" {one_line(word)[:60]}" for word in words if isinstance(word, str))


def _name_from(name: str) -> str:
    """What a picture's file is called; one that is called "logo" or the like has its folder's name."""
    own = folder_of(name).rpartition("/")[2] if is_logo(name) else ""
    readable = (own or stem(name)).encode("utf-8", "replace").decode().replace("_", " ")
    return str(one_line(readable))[:MAX_NAME].strip() or "unnamed"


def _address_in(name: str) -> str | None:
    """The address in a picture's path: its own name, or that of its folder, as token lists have them."""
    own = stem(name).rpartition(":")[2]  # erc20:0x…, as CAIP-19 has them
    return address_in(own) or address_in(folder_of(name).rpartition("/")[2])


def _chain_in(name: str) -> int | None:
    """The chain above an address in a path: `solana`, `eip155:56`, above the folder of a logo also 56."""
    if not _address_in(name):
        return None
    parts = folder_of(name).split("/")[::-1]
    above = parts[1:2] if is_logo(name) else []
    named = [*above, *(part for part in parts if not part.isdigit())]
    return next(filter(None, map(chain_id, named)), None)


def _outermost(name: str, folders: set[str]) -> str | None:
    """The outermost of these folders that contains the file."""
    return next((folder for folder in folders_above(name) if folder in folders), None)


def _matches(pattern: re.Pattern[str], name: str, libraries: set[str]) -> bool:
    """Whether the file's name within a library's folder matches the pattern."""
    return any(
        pattern.fullmatch(name[len(top) :].lstrip("/")) for top in folders_above(name) if top in libraries
    )
