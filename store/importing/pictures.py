"""Find the picture of each coin of an import."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

from store.disk.images import SUFFIXES
from store.errors import BadSource
from store.importing.names import folder_of, referred, remote_parts, stem, suffix


class Pictures:
    """The files of a tree, found by name, by stem, or by a URL with the same ending."""

    def __init__(self, names: Iterable[str]) -> None:
        # Composed and decomposed accents are the same name: macOS and Linux write them differently.
        self._names = {_composed(name): name for name in names}
        self._stems: dict[str, list[str]] = {}
        self._hex: dict[str, list[str]] = {}  # EVM addresses come in checksum case and in lower case
        self._endings: dict[tuple[str, ...], list[str]] = {}
        for name in sorted(name for name in self._names.values() if suffix(name) in SUFFIXES):
            self._stems.setdefault(_composed(stem(name)), []).append(name)
            if stem(name).lower().startswith("0x"):
                self._hex.setdefault(stem(name).lower(), []).append(name)
            parts = tuple(name.split("/"))
            for length in (1, 2):
                self._endings.setdefault(parts[-length:], []).append(name)

    def beside(self, name: str) -> str | None:
        """The picture with this sidecar's stem: in its folder, else the only one in the tree.

        The latter because reference 1 separates `rag_db/metadata` from `rag_db/images`.
        """
        alike = self._stems.get(_composed(stem(name)), [])
        near = [other for other in alike if folder_of(other) == folder_of(name)]
        if not near and folder_of(name).rpartition("/")[2] == "metadata":
            images = folder_of(name)[: -len("metadata")] + "images"
            near = [other for other in alike if folder_of(other) == images]
        return near[0] if near else alike[0] if len(alike) == 1 else None

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
        reference = str(reference or "").strip()
        parts = remote_parts(reference)
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

    def _ending(self, parts: tuple[str, ...], shared: Counter[str]) -> str | None:
        for length in (2, 1):
            found = self._endings.get(parts[-length:], []) if len(parts) >= length else []
            if len(found) == 1 and (length == 2 or shared[parts[-1]] <= 1):
                return found[0]
        return None


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
        return f"no picture: {short} lies on the network, and no file of the import is called alike"
    return f"no picture: {short} is not in the import"


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)
