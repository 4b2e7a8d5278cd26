"""Find the picture of each coin of an import, and the caption in its text file."""

import re
import unicodedata
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_to_bytes

from store.disk.picture_files import BEGINNING, is_picture
from store.errors import BadSource
from store.importing.encodings import read
from store.importing.metadata import GIVEN, is_booru, one_line, tags
from store.importing.names import LOGOS, METADATA, WHOLE, Texts
from store.importing.tables import MAX_TEXT_BYTES
from store.importing.trees import Tree, folder_of, referred, remote_parts, stem, suffix
from store.records import CAPTION_FACETS, MAX_TAG

_FEWEST, _WORDS = 3, 4  # a list of tags has so many parts at least, of so many words at most
# A content identifier of IPFS: version 0 in base58, version 1 in base32 (https://github.com/multiformats/cid)
_LABELLED = re.compile(r"^/data/(?:upload/(?:\d+/)?|local-files/\?d=)")  # how Label Studio names a picture …
_UPLOADED = re.compile(r"^[0-9a-f]{8}-(?=.)")  # … and what it puts before the name of an upload
_CONTENT = re.compile(r"(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58,})(?:/\S*)?")
_SENTENCE = re.compile(r"[.!?](?:\s|$)")
_BOX = re.compile(
    r"\d+(?: (?:0?\.\d+(?:e-\d+)?|[01](?:\.\d+)?)){4,}"
)  # YOLO's: a class, and shares of the picture
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
_LONG = 100  # signs, which a path hardly has and the smallest picture does


def is_logo(name: str) -> bool:
    """Whether a file is called as the picture in a folder that holds one coin (Trust Wallet, Optimism)."""
    return LOGOS.fullmatch(stem(name).lower()) is not None


class Pictures:
    """The files of a tree, found by name, by stem, or by a URL with the same ending."""

    def __init__(self, names: Iterable[str], *, is_picture: Callable[[str], bool]) -> None:
        # Composed and decomposed accents are the same name: macOS and Linux write them differently.
        self._names = {_composed(name): name for name in names}
        self._folded = {name.lower(): path for name, path in reversed(self._names.items())}
        self._bare: dict[str, str] = {}  # paths without their endings
        self._inside: dict[str, list[str]] = {}  # by folder
        self._stems: dict[str, list[str]] = {}
        self._hex: dict[str, list[str]] = {}  # EVM addresses come in checksum case and in lower case
        self._endings: dict[tuple[str, ...], list[str]] = {}
        self._logos: dict[str, list[str]] = {}  # by folder
        self._keys: dict[str, list[str]] = {}  # by what is before the first point, as WebDataset has them
        self._pictures = set(filter(is_picture, self._names.values()))
        for name in sorted(self._pictures):
            self._stems.setdefault(_composed(stem(name)), []).append(name)
            self._bare.setdefault(_composed(name).rpartition(".")[0] or _composed(name), name)
            self._inside.setdefault(folder_of(name), []).append(name)
            self._keys.setdefault(_key(name), []).append(name)
            if is_logo(name):
                self._logos.setdefault(folder_of(name), []).append(name)
            bare = stem(name).lower().rpartition(":")[2]
            if bare.startswith("0x"):
                self._hex.setdefault(bare, []).append(name)
            parts = tuple(name.lower().split("/"))
            for end in {parts[-1:], parts[-2:]}:
                self._endings.setdefault(end, []).append(name)

    def beside(self, name: str) -> str | None:
        """The picture with this sidecar's stem: in its folder, else the only one in the tree.

        The latter because a library separates `rag_db/metadata` from `rag_db/images`.
        """
        described = name
        while described := described.rpartition(".")[0]:  # frog.png.json, frog.png.supplemental-metadata.json
            if self._names.get(_composed(described)) in self._pictures:
                return self._names[_composed(described)]
        own = stem(name)
        alike = self._stems.get(_composed(own)) or self._endings.get((own.lower(),), [])
        near = [other for other in alike if folder_of(other) == folder_of(name)]
        if not near and folder_of(name).rpartition("/")[2] == "metadata":
            images = folder_of(name)[: -len("metadata")] + "images"
            near = [other for other in alike if folder_of(other) == images]
        if not near and stem(name).lower() in METADATA:
            inside = self._inside.get(folder_of(name), [])
            near = self.logos(folder_of(name)) or (inside if len(inside) == 1 else [])
        if not near and len(of_key := self._keys.get(_key(name), [])) == 1:
            near = of_key
        return near[0] if near else alike[0] if len(alike) == 1 else None

    def logos(self, folder: str) -> list[str]:
        """The pictures of the one coin whose folder this is, the best first."""
        return sorted(self._logos.get(folder, []), key=_goodness)

    def called(self, stems: str) -> str | None:
        """A picture with this stem, usually an address; the case of 0x addresses is ignored."""
        found = self._stems.get(_composed(stems)) or self._hex.get(stems.lower())
        return found[0] if found else None

    def meant(self, reference: object, *, folder: str, address: str, shared: Counter[str]) -> str:
        """The file behind a reference such as `logoURI`, or behind the address alone.

        Raises BadSource if the tree has no such file.

        `shared` counts the last parts of all URLs: `…/A/logo.png` and `…/B/logo.png` cannot both be the one
        `logo.png` in the tree.
        """
        if reference not in (None, "") and not isinstance(reference, str):
            raise BadSource("its picture's address must be text")
        reference = located(reference)
        parts = remote_parts(reference)
        if elsewhere := _absolute(reference):  # a table that was made on another machine
            return self._moved(elsewhere, reference, folder=folder)
        if parts is None and reference:
            for spelling in map(_composed, referred(reference, folder=folder)):
                for paths, path in (
                    (self._names, spelling),
                    (self._folded, spelling.lower()),
                    (self._bare, spelling),
                ):
                    if path in paths:
                        return paths[path]
        found = self.called(address) if address else None
        if found is None and parts is None and reference:
            found = self._ending(tuple(_composed(reference).replace("\\", "/").split("/")), shared)
            if found is None and not suffix(reference):
                found = self.called(stem(reference))
        if found is None and parts:
            found = self._ending(parts, shared)
        if found is None and (own := _UPLOADED.sub("", reference)) != reference:
            return self.meant(own, folder=folder, address=address, shared=shared)
        if found is None:
            raise BadSource(_missing(reference, is_remote=parts is not None))
        return found

    def _moved(self, parts: tuple[str, ...], reference: str, *, folder: str) -> str:
        """The file whose path ends as this one does: in the table's folder, else the only one."""
        for start in range(len(parts)):
            name = _composed("/".join([*([folder] if folder else []), *parts[start:]]))
            if name in self._names:
                return self._names[name]
        found = self._ending(parts, Counter())
        if found is None and not suffix(reference):
            found = self.called(stem(parts[-1])) if parts else None
        if found is None:
            raise BadSource(f"its picture {reference[:120]!r} is an absolute path, and is not in the import")
        return found

    def _ending(self, parts: tuple[str, ...], shared: Counter[str]) -> str | None:
        ends = tuple(map(str.lower, parts))
        for length in (2, 1):
            found = self._endings.get(ends[-length:], []) if len(parts) >= length else []
            if len(found) == 1 and (length == 2 or shared[parts[-1]] <= 1):
                return found[0]
        return None


def _key(name: str) -> str:
    folder, _, own = _composed(name).rpartition("/")
    return f"{folder}/{own.partition('.')[0]}"


def _goodness(name: str) -> tuple[bool, bool, int, str]:
    """A drawing only after pictures of pixels, one of a stated size after one without, the largest first."""
    size = re.search(r"\d+", stem(name))
    return suffix(name) == ".svg", size is not None, -int(size[0]) if size else 0, name


def located(reference: object) -> str:
    """A reference as an address or a path: `//host` is meant by https, a bare content identifier by ipfs."""
    text = _LABELLED.sub("", str(reference or "").strip())
    if text.startswith("//"):
        return f"https:{text}"
    return f"ipfs://{text}" if _CONTENT.fullmatch(text) else text


def embedded(reference: object) -> bytes | None:
    """The picture that a row holds, or its `data:` address; None for a reference. Raises BadSource."""
    if isinstance(reference, bytes):  # of a Parquet file
        return reference
    text = str(reference or "").strip()
    if len(text) > _LONG and _BASE64.fullmatch(text):
        with suppress(ValueError):
            content = b64decode("".join(text.split()), validate=True)
            return content if is_picture(content[:BEGINNING]) else None
    if text[:5].lower() != "data:":
        return None
    head, comma, data = text[5:].partition(",")
    try:
        if not comma:
            raise ValueError
        plain = unquote_to_bytes(data)
        is_coded = head.lower().endswith(";base64")
        return b64decode(b"".join(plain.split()), validate=True) if is_coded else plain
    except ValueError as error:
        raise BadSource("its picture is a data: address that cannot be read") from error


def _absolute(reference: str) -> tuple[str, ...] | None:
    """The parts of a path on the machine where a table was made; None for any other reference."""
    path = reference.replace("\\", "/")
    is_absolute = path.startswith("/") or re.match(r"[A-Za-z]:", path)
    return tuple(part for part in path.split("/")[1:] if part not in ("", ".", "..")) if is_absolute else None


def endings(references: Iterable[object]) -> Counter[str]:
    """How many different references have each last part."""
    different = {reference for reference in references if isinstance(reference, str)}
    return Counter(reference.rstrip("/").rpartition("/")[2] for reference in different)


def _missing(reference: str, *, is_remote: bool) -> str:
    if not reference:
        return "no picture: it names none, and no file is called by its address"
    short = reference if len(reference) <= 120 else f"{reference[:117]}…"
    if is_remote:
        return "no picture: it lies on the network, and no file here is called alike; `fetch-logos` gets it"
    return f"no picture: “{short}” is not in the import"


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def texts_beside(tree: Tree, name: str) -> list[str]:
    """The text files of this picture, as trainers (kohya, TagGUI) and Hydrus name them."""
    bare = name.rpartition(".")[0]
    paths = (f"{one}{end}" for end in (".txt", ".caption") for one in (bare, name))
    return list(dict.fromkeys(tree.folded[path.lower()] for path in paths if path.lower() in tree.folded))


def text_fields(
    tree: Tree, name: str, paths: Iterable[str], *, holds: Texts
) -> tuple[dict[str, Any], list[str]]:
    """The tags and the caption that these text files of a picture hold, and what to say of these files."""
    fields: dict[str, Any] = {}
    remarks = []
    for path in paths:
        try:
            text, encoding = read(tree.read(path, limit=MAX_TEXT_BYTES))
        except BadSource as error:
            remarks.append(f"its text “{path}” is left out: {error}")
            continue
        if encoding:
            remarks.append(read_as(path, encoding))
        if (lines := text.split("\n")) and all(map(_BOX.fullmatch, filter(None, map(str.strip, lines)))):
            remarks += [f"its text “{path}” is left out: it holds boxes"] if text.strip() else []
            continue
        is_booru = path.lower() == f"{name}.txt".lower()
        said = parse_caption(text, holds=holds, fewest=1 if is_booru else _FEWEST)
        if said.keys() & fields.keys():
            remarks.append(f"its text “{path}” is left out: another one is its {next(iter(said))} already")
        fields = said | fields
    return fields, remarks


def read_as(name: str, encoding: str) -> str:
    """That a file is in another encoding than UTF-8, for the person who may know better."""
    return f"“{name}” is read as {encoding}, since it is not UTF-8"


def parse_caption(text: str, *, holds: Texts = "guess", fewest: int = _FEWEST) -> dict[str, Any]:
    """Short parts between commas, or in lines of their own, as tags; other text as what is in the picture.

    So are words with underscores between spaces, as boorus have them. `holds` says what it is instead.
    """
    text = text.strip()
    if not text:
        return {}
    lines = text.splitlines()
    is_lined = len(lines) > 1 and "," not in text
    parts = [part.strip() for part in (lines if is_lined else re.split(r"[,\n]", text)) if part.strip()]
    if is_booru(text):
        parts = text.split()
    is_list = (
        len(parts) >= (2 if is_lined else fewest)
        and (is_lined or is_booru(text) or all(line.rstrip().endswith(",") for line in lines[:-1]))
        and not _SENTENCE.search(text)
        and all(len(part.split()) <= _WORDS and len(part) <= MAX_TAG for part in parts)
    )
    if holds == "tags" or (holds == "guess" and is_list):
        return {"tags": tags(parts)}
    return {"caption": {"entity": text}}


def with_whole_caption(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row, with its one text for the whole caption as the facet `entity`.

    Of a list, its texts; anything else is kept under the column's name and GIVEN.
    """
    rest = dict(row)
    is_own = "tier" in rest and "token_address" in rest  # of an export, whose further keys are a coin's own
    if is_own or isinstance(rest.get("caption"), Mapping) or any(rest.get(facet) for facet in CAPTION_FACETS):
        return rest
    for key in WHOLE:
        text = given = rest.get(key)
        if isinstance(text, list):  # several captions of one picture
            text = " ".join(one_line(one) for one in map(_sentence, text) if isinstance(one, str))
        if isinstance(text, str) and text.strip():
            del rest[key]
            rest["caption"] = {"entity": text.strip()}
            if isinstance(given, list) and not all(isinstance(_sentence(one), str) for one in given):
                rest[f"caption{GIVEN}"] = given
            break
    return rest


def _sentence(one: Any) -> Any:
    """A text, or that of an object around it, as Karpathy's splits of Flickr and COCO have them."""
    return (
        next((one[key] for key in ("raw", *WHOLE) if key in one), None) if isinstance(one, Mapping) else one
    )
