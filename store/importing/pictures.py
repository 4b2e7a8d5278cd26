"""Find the picture of each coin of an import, and the caption in its text file."""

import re
import unicodedata
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from store.errors import BadSource
from store.importing.metadata import one_line, tags
from store.importing.tables import MAX_TEXT_BYTES, decoded
from store.importing.trees import Tree, folder_of, referred, remote_parts, stem, suffix
from store.records import CAPTION_FACETS, MAX_TAG, MAX_TAGS

WHOLE = ("caption", "text")  # columns that hold one string for the whole caption
_FEWEST, _WORDS = 3, 4  # a list of tags has so many parts at least, of so many words at most
_LOGOS = {"logo", "icon", "image", "picture", "token", "coin", "avatar"}
_METADATA = {"info", "data", "metadata", "meta", "token", "coin"}
# A content identifier of IPFS: version 0 in base58, version 1 in base32 (https://github.com/multiformats/cid)
_CONTENT = re.compile(r"(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58,})(?:/\S*)?")
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def is_logo(name: str) -> bool:
    """Whether a file is called as the picture in a folder that holds one coin (Trust Wallet, Optimism)."""
    return stem(name).lower() in _LOGOS


class Pictures:
    """The files of a tree, found by name, by stem, or by a URL with the same ending."""

    def __init__(self, names: Iterable[str], *, is_picture: Callable[[str], bool]) -> None:
        # Composed and decomposed accents are the same name: macOS and Linux write them differently.
        self._names = {_composed(name): name for name in names}
        self._stems: dict[str, list[str]] = {}
        self._hex: dict[str, list[str]] = {}  # EVM addresses come in checksum case and in lower case
        self._endings: dict[tuple[str, ...], list[str]] = {}
        self._logos: dict[str, list[str]] = {}  # by folder
        self._pictures = set(filter(is_picture, self._names.values()))
        for name in sorted(self._pictures):
            self._stems.setdefault(_composed(stem(name)), []).append(name)
            if is_logo(name):
                self._logos.setdefault(folder_of(name), []).append(name)
            if stem(name).lower().startswith("0x"):
                self._hex.setdefault(stem(name).lower(), []).append(name)
            parts = tuple(name.split("/"))
            for length in (1, 2):
                self._endings.setdefault(parts[-length:], []).append(name)

    def beside(self, name: str) -> str | None:
        """The picture with this sidecar's stem: in its folder, else the only one in the tree.

        The latter because a library separates `rag_db/metadata` from `rag_db/images`.
        """
        described = name
        while described := described.rpartition(".")[0]:  # frog.png.json, frog.png.supplemental-metadata.json
            if self._names.get(_composed(described)) in self._pictures:
                return self._names[_composed(described)]
        alike = self._stems.get(_composed(stem(name)), [])
        near = [other for other in alike if folder_of(other) == folder_of(name)]
        if not near and folder_of(name).rpartition("/")[2] == "metadata":
            images = folder_of(name)[: -len("metadata")] + "images"
            near = [other for other in alike if folder_of(other) == images]
        if not near and stem(name).lower() in _METADATA and (logos := self.logos(folder_of(name))):
            return logos[0]
        return near[0] if near else alike[0] if len(alike) == 1 else None

    def logos(self, folder: str) -> list[str]:
        """The pictures of the one coin whose folder this is; a drawing only after those of pixels."""
        return sorted(self._logos.get(folder, []), key=lambda name: (suffix(name) == ".svg", name))

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
            for spelling in referred(reference, folder=folder):
                if _composed(spelling) in self._names:
                    return self._names[_composed(spelling)]
        found = self.called(address) if address else None
        if found is None and parts is None and reference and not suffix(reference):
            found = self.called(stem(reference))
        if found is None and parts:
            found = self._ending(parts, shared)
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
        if found is None:
            raise BadSource(f"its picture {reference[:120]!r} is an absolute path, and is not in the import")
        return found

    def _ending(self, parts: tuple[str, ...], shared: Counter[str]) -> str | None:
        for length in (2, 1):
            found = self._endings.get(parts[-length:], []) if len(parts) >= length else []
            if len(found) == 1 and (length == 2 or shared[parts[-1]] <= 1):
                return found[0]
        return None


def located(reference: object) -> str:
    """A reference as an address or a path: `//host` is meant by https, a bare content identifier by ipfs."""
    text = str(reference or "").strip()
    if text.startswith("//"):
        return f"https:{text}"
    return f"ipfs://{text}" if _CONTENT.fullmatch(text) else text


def embedded(reference: object) -> bytes | None:
    """The picture that a row holds, or its `data:` address; None for a reference. Raises BadSource."""
    if isinstance(reference, bytes):  # of a Parquet file
        return reference
    text = str(reference or "").strip()
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
    """How often each last part occurs among these references."""
    return Counter(
        reference.rstrip("/").rpartition("/")[2] for reference in references if isinstance(reference, str)
    )


def _missing(reference: str, *, is_remote: bool) -> str:
    if not reference:
        return "no picture: it names none, and no file is called by its address"
    short = reference if len(reference) <= 120 else f"{reference[:117]}…"
    if is_remote:
        return "no picture: it lies on the network, and no file here is called alike; `fetch-logos` gets it"
    return f"no picture: {short} is not in the import"


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def text_beside(tree: Tree, name: str) -> str | None:
    """The text file of this picture, as trainers (kohya, TagGUI) and Hydrus name it; None without one."""
    bare = name.rpartition(".")[0]
    paths = (f"{bare}.txt", f"{name}.txt", f"{bare}.caption", f"{name}.caption")
    return next((path for path in paths if path in tree.known), None)


def text_fields(tree: Tree, name: str) -> dict[str, Any]:
    """The tags or the caption that a text file holds. Raises BadSource if it is no text."""
    text = decoded(tree.read(name, limit=MAX_TEXT_BYTES), guesses=True).strip()
    return parse_caption(text)


def parse_caption(text: str) -> dict[str, Any]:
    """A line of short parts between commas as tags, any other text as what is in the picture."""
    lines = text.splitlines()
    is_lined = len(lines) > 1 and "," not in text and all(line.strip() for line in lines)  # a tag in each
    parts = lines if is_lined else [part for part in text.split(",") if part.strip()]
    is_list = (
        (2 if is_lined else _FEWEST) <= len(parts) <= MAX_TAGS
        and ("\n" not in text or is_lined)
        and not _SENTENCE.search(text)
        and all(len(part.split()) <= _WORDS and len(part.strip()) <= MAX_TAG for part in parts)
    )
    if is_list:
        return {"tags": tags(parts)}
    return {"caption": {"entity": text}} if text else {}


def with_whole_caption(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row, with its one text for the whole caption as the facet `entity`.

    Raises BadSource if a list for the whole caption contains something other than texts.
    """
    rest = dict(row)
    if isinstance(rest.get("caption"), Mapping) or any(rest.get(facet) for facet in CAPTION_FACETS):
        return rest
    for key in WHOLE:
        text = rest.get(key)
        if isinstance(text, list):  # several captions of one picture
            if not all(isinstance(one, str) for one in text):
                raise BadSource(f"its {key} must be a text")
            text = " ".join(one_line(one) for one in text)
        if isinstance(text, str) and text.strip():
            del rest[key]
            rest["caption"] = {"entity": text.strip()}
            break
    return rest
