"""The demo library: fictional coins with pictures, so that every page has something to show.

Its manifest says of each coin in which tier it belongs, why it is rejected, of which one it is a copy, and
which fault was planted in it (`fault`: a kind of store/captioning/checkup.py). Recorded were three months of
decisions by three people, so that history and charts show something, and drafts of captions, so that no
language model is needed to see them. The co-pilot learns from what these people rejected: copies of popular
coins, whose pictures are made of the others' as they are loaded.
"""

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from store.catalog import history, picture_rows
from store.disk.layout import RESOURCES
from store.embedding import embedding_cache
from store.embedding.protocol import Embedder
from store.errors import BadSource
from store.importing.candidate import Candidate
from store.library import Library
from store.outcome import ImportReport, Outcome
from store.progress import Progress
from store.records import ORIGINAL, Tier
from store.search import golden_queries

if TYPE_CHECKING:
    from PIL.Image import Image

FOLDER = RESOURCES / "demo"
TEXTS = "texts.json"  # in that folder: what was read in its pictures, those of copies as well
COPIES = "copies.json"  # … and the copies
RECORDED = "recorded draft"  # in place of a model's name: no model was asked
WHO = history.DEMO
PEOPLE = ("Ann (demo)", "Ben (demo)", "Chen (demo)")  # who decided in the recorded months
_DAY = 86_400.0  # seconds


@dataclass(frozen=True, slots=True)
class DemoCoin:
    """One demo coin: the folder of its files, its tier, why it is rejected, the fault planted in it."""

    address: str
    tier: Tier
    folder: Path
    reason: str = ""
    fault: str = ""

    def candidate(self, *, with_caption: bool = True) -> Candidate:
        """The coin's sidecar and picture, ready for import."""
        sidecar = json.loads((self.folder / f"{self.address}.json").read_text(encoding="utf-8"))
        if not with_caption:
            sidecar.pop("caption", None)
        return Candidate(self.address, sidecar, self.folder / f"{self.address}.jpg")


def _mirrored(image: "Image") -> "Image":
    from PIL import ImageOps

    return ImageOps.mirror(image)


def _recoloured(image: "Image") -> "Image":
    from PIL.Image import merge

    hue, *rest = image.convert("HSV").split()
    return merge("HSV", (hue.point(lambda value: (value + 90) % 256), *rest)).convert("RGB")


def _lettered(image: "Image") -> "Image":
    from PIL import ImageDraw

    image, middle = image.copy(), image.width // 2
    ImageDraw.Draw(image).text(
        (middle, image.height * 0.95), "OFFICIAL 2.0", anchor="ms", font_size=image.height // 9, fill="white",
        stroke_width=3, stroke_fill="black",
    )  # fmt: skip
    return image


CHANGES: Mapping[str, Callable[["Image"], "Image"]] = {  # what copycats do to a picture
    "mirrored": _mirrored,
    "recoloured": _recoloured,
    "other lettering": _lettered,
    "same picture": lambda image: image,
}


@dataclass(frozen=True, slots=True)
class DemoCopy(DemoCoin):
    """A rejected copy of a demo coin."""

    of: str = ""
    changes: tuple[str, ...] = ()  # of CHANGES, made in turn
    sidecar: Mapping[str, Any] = field(default_factory=dict)

    def candidate(self, *, with_caption: bool = True) -> Candidate:
        """The copy's sidecar, and its picture made of the other's."""
        from PIL.Image import open as opened_image

        from store.disk.images import jpeg

        with opened_image(self.folder / f"{self.of}.jpg") as opened:
            image = opened.convert("RGB")
        for change in self.changes:
            image = CHANGES[change](image)
        content = jpeg(image)
        came = {"bytes": len(content), "format": "JPEG", "width": image.width, "height": image.height}
        return Candidate(self.address, {**self.sidecar, ORIGINAL: came}, content)


@dataclass(frozen=True, slots=True)
class _Decision:
    """A recorded decision: by whom, how many seconds before the end of yesterday, and about which coins."""

    verb: Literal["import", "approve", "caption", "promote", "degrade", "return", "reject"]
    person: str
    age: float
    coins: tuple[str, ...]


def entries(folder: Path = FOLDER) -> list[DemoCoin]:
    """Every coin of the demo library. Raises BadSource if it is missing or broken."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        return [
            DemoCoin(
                coin["token_address"], coin["tier"], folder, coin.get("reason", ""), coin.get("fault", "")
            )
            for coin in manifest["coins"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSource(f"the demo library in {folder} cannot be read: {error}") from error


def copies(coins: Collection[str], folder: Path = FOLDER) -> list[DemoCopy]:
    """The rejected copies of these coins. Raises BadSource if their list is broken."""
    file = folder / COPIES
    try:
        listed = json.loads(file.read_text(encoding="utf-8"))["copies"] if file.exists() else []
        return [
            DemoCopy(
                one["sidecar"]["token_address"], "trash", folder, one["reason"], of=one["of"],
                changes=tuple(one["changes"]), sidecar=one["sidecar"],
            )
            for one in listed
            if one["of"] in coins
        ]  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSource(f"the demo library in {folder} cannot be read: {error}") from error


def load(library: Library, *, progress: Progress | None = None, folder: Path = FOLDER) -> ImportReport:
    """Repeat the recorded decisions about every demo coin, except coins that a person has decided on.

    Safe to repeat: a coin goes on after the last decision that it has, so a cancelled load resumes.
    Raises BadSource if the demo's files cannot be read.
    """
    progress = progress or Progress()
    coins = {coin.address: coin for coin in entries(folder)}
    coins |= {copy.address: copy for copy in copies(coins.keys(), folder)}
    recorded = _recorded(folder, coins)
    progress.what = "Load the demo library"
    progress.total = sum(len(decision.coins) for decision in recorded)
    _put_vectors(library, folder)
    _put_texts(library, folder)
    made = _made(library, recorded)
    report = ImportReport(
        present={address: library.get(address).tier for address in coins if made.get(address) != 0}
    )
    step = dict.fromkeys(coins, 0)
    captioned = {address for decision in recorded if decision.verb == "caption" for address in decision.coins}
    end = time.time() // _DAY * _DAY
    for decision in recorded:
        if progress.cancelled:
            return report
        waiting = [coins[address] for address in decision.coins if made.get(address) == step[address]]
        outcome = _repeat(library, decision, waiting, captioned, at=end - decision.age)
        for address in decision.coins:
            step[address] += 1
        for address in outcome.done:
            made[address] += 1
        if decision.verb == "import":
            report.done += outcome.done
            _propose(library, outcome.done, folder)
        report.refused += outcome.refused
        progress.done += len(decision.coins)
    library.golden.import_content(WHO, golden_queries.shipped(RESOURCES, WHO))
    return report


def load_with_memory(library: Library, *, progress: Progress | None = None) -> ImportReport:
    """Load the demo library, then the demo of the text memory below the same root.

    Raises as `load`, and MemedexError if the text memory cannot be opened.
    """
    from store.memory import demo as memory_demo
    from store.memory.memory import Memory

    progress = progress or Progress()
    report = load(library, progress=progress)
    if not progress.cancelled:
        progress.done = 0
        with Memory.open(library.layout.root) as memory:
            memory_demo.load(memory.for_actor(library.catalog.actor), progress=progress)
    return report


def vectors_name(embedder: Embedder) -> str:
    """The file with the vectors that this version of this model makes."""
    return f"vectors-{embedder.fingerprint[:16]}.npz"


def _put_vectors(library: Library, folder: Path) -> None:
    """Store the vectors made before for this model; another model makes its own."""
    embedder = library.embedder
    file = folder / vectors_name(embedder)
    if not file.exists():
        return
    import numpy as np

    with np.load(file) as made:
        rows = zip(made["keys"], made["vectors"], strict=True)
        vectors = {key.decode(): vector.tobytes() for key, vector in rows}
    with library.catalog.writing() as db:
        embedding_cache.store(db, embedder.name, vectors)


def _put_texts(library: Library, folder: Path) -> None:
    """Store what was read in the pictures before."""
    file = folder / TEXTS
    if not file.exists():
        return
    made = json.loads(file.read_text(encoding="utf-8"))
    with library.catalog.writing() as db:
        for image_hash, (text, words) in made["texts"].items():
            picture_rows.store_text(db, image_hash, text, words=words, reader=made["reader"])


def _recorded(folder: Path, coins: Iterable[str]) -> list[_Decision]:
    """The recorded decisions about these coins, oldest first. Raises BadSource if they cannot be read."""
    known = set(coins)
    try:
        lines = json.loads((folder / "history.json").read_text(encoding="utf-8"))["decisions"]
        found = [
            _Decision(
                line["verb"], line["who"], _age(line["days"], line["time"]),
                tuple(address for address in line["coins"] if address in known),
            )
            for line in lines
        ]  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadSource(f"the demo library in {folder} cannot be read: {error}") from error
    return [decision for decision in found if decision.coins]


def _age(days: int, moment: str) -> float:
    """Seconds from this time of day, so many days ago, to the last midnight (UTC)."""
    hours, minutes = moment.split(":")
    return days * _DAY - int(hours) * 3600 - int(minutes) * 60


def _made(library: Library, recorded: list[_Decision]) -> dict[str, int]:
    """How many of its recorded decisions each coin has; without coins with any other decision."""
    steps: dict[str, list[tuple[str, str]]] = {}
    for decision in recorded:
        for address in decision.coins:
            steps.setdefault(address, []).append((decision.verb, decision.person))
    made = {}
    for address, all_steps in steps.items():
        events = [(event.verb, event.actor) for event in library.history(address=address, limit=-1)]
        if events[::-1] == all_steps[: len(events)]:
            made[address] = len(events)
    return made


def _repeat(
    library: Library, decision: _Decision, coins: list[DemoCoin], captioned: set[str], *, at: float
) -> Outcome:
    """Make this decision about these coins, recorded for this time (UNIX seconds)."""
    if not coins:
        return Outcome()
    then = library.for_actor(library.catalog.actor.as_of(at))
    addresses = [coin.address for coin in coins]
    match decision.verb:
        case "import":
            arriving = (coin.candidate(with_caption=coin.address not in captioned) for coin in coins)
            return then.add(arriving, source="demo", actor=decision.person)
        case "caption":
            outcome = Outcome()
            for coin in coins:
                caption = coin.candidate().sidecar["caption"]
                outcome.add(then.caption(coin.address, caption=caption, actor=decision.person))
            return outcome
        case "reject":
            (reason,) = {coin.reason for coin in coins}
            return then.reject(addresses, reason=reason, actor=decision.person)
        case verb:
            return then.move(verb, addresses, decision=uuid4().hex, actor=decision.person)


def _propose(library: Library, added: list[str], folder: Path) -> None:
    """The recorded drafts of the coins that were just added, as open suggestions."""
    file = folder / "drafts.json"
    drafts = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for address in added:
        if address in drafts:
            library.suggestions.save(address, drafts[address], model=RECORDED, actor=WHO)
