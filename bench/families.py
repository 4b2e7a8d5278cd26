"""Planted families: how often who was first, of which coin each is a copy, and what was done are found.

python -m bench.families [--families 30]
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from unittest.mock import patch

import numpy as np
from PIL import Image

from bench.measuring import machine, milliseconds, print_head, spread
from store import demo
from store.disk.images import normalise
from store.embedding import open_embedder
from store.importing.candidate import Candidate
from store.progress import Progress
from store.rules import families
from store.runtime import LibraryRuntime, open_library

_BEGUN = 1_700_000_000  # UNIX seconds; each copy comes an hour after the last
_LETTERS = str.maketrans({"a": "а", "e": "е", "o": "о", "c": "с", "p": "р", "U": "Ս", "S": "Ѕ"})


@dataclass(frozen=True)
class Planted:
    """A coin with what was done to which other."""

    candidate: Candidate
    source: str  # the demo's coin that it was made of
    root: str
    of: str  # "" for the first
    done: str


def _cropped(image: Image.Image) -> Image.Image:
    by = image.width // 30
    return image.crop((by, by, image.width - by, image.height - by))


_OTHER = "letters in disguise"
CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "mirrored": demo.CHANGES["mirrored"],
    "recoloured": demo.CHANGES["recoloured"],
    "picture changed": _cropped,
    "other lettering": demo.CHANGES["other lettering"],
    "same picture": demo.CHANGES["same picture"],
}


def _picture(coin: demo.DemoCoin) -> Image.Image:
    with Image.open(coin.folder / f"{coin.address}.jpg") as opened:
        return opened.convert("RGB")


def planted(count: int, *, seed: int = 7) -> Iterator[Planted]:
    """So many families, each made of another picture of the demo."""
    random = np.random.default_rng(seed)
    coins = [coin for coin in demo.entries() if coin.tier == "library"]
    chosen = [coins[at] for at in random.choice(len(coins), 2 * count, replace=False)]
    for number in range(count):
        yield from _family(number, chosen[number], chosen[count + number])


def _family(number: int, source: demo.DemoCoin, other: demo.DemoCoin) -> Iterator[Planted]:
    """A first coin, six copies of it, and a copy of one; the copied name has another picture."""
    own = source.candidate()
    image, another = _picture(source), _picture(other)
    name, ticker = str(own.sidecar["token_name"]), f"{own.sidecar['ticker']}{number}"

    def coin(step: int, image: Image.Image, of: int, done: str, name: str = "", ticker: str = "") -> Planted:
        addresses = [f"0x{number:020x}{each:020x}" for each in range(8)]
        sidecar = {
            "token_name": name or f"Other {number} {step}",
            "ticker": ticker or f"O{number}X{step}",
            "token_address": addresses[step],
            "description": "",
            "created_at": _BEGUN + 1_000_000 * number + 3600 * step,
        }
        content = BytesIO()
        image.save(content, "JPEG", quality=88)
        candidate = Candidate(addresses[step], sidecar, normalise(content.getvalue()))
        made_of = other.address if image is another else source.address
        return Planted(candidate, made_of, addresses[0], addresses[of] if step else "", done)

    yield coin(0, image, 0, "", name, ticker)
    for step, (done, change) in enumerate(CHANGES.items(), 1):
        yield coin(step, change(image), 0, done)
    yield coin(6, another, 0, _OTHER, name.translate(_LETTERS), ticker)
    yield coin(7, CHANGES["other lettering"](CHANGES["mirrored"](image)), 1, "other lettering")


def filled(library: LibraryRuntime, coins: Sequence[Planted]) -> None:
    """Add them to the demo's other coins; read, embed and compare all pictures."""
    used = {coin.source for coin in coins}
    with patch.object(library._follower, "wake"):
        library.add([coin.candidate() for coin in demo.entries() if coin.address not in used])
        library.add([coin.candidate for coin in coins])
        while library._prefetcher.embed_next(Progress()):
            pass
        library.picture_texts.read()
        library.duplicates.examine()


def main() -> None:
    """Plant, compare, and ask for the family of each copy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", type=int, default=30)
    coins = list(planted(parser.parse_args().families))
    own = {coin.candidate.item: coin.root for coin in coins}
    with (
        tempfile.TemporaryDirectory() as folder,
        open_library(Path(folder), embedder=open_embedder("offline")) as library,
    ):
        filled(library, coins)
        print(f"{machine()}; {len(coins):,} planted among {sum(library.counts().values()):,} coins\n")
        right: dict[str, list[tuple[bool, bool, bool]]] = {}
        strangers, times = list[float](), list[float]()
        for coin in coins:
            address, found = coin.candidate.item, list[families.Family]()
            times.append(milliseconds(lambda: found.append(families.family(library, address))))  # noqa: B023
            members = {one.address: one for one in found[0].members}
            strangers.append(float(np.mean([own.get(other) != coin.root for other in members])))
            if coin.of:
                one = members[address]
                is_said = coin.done in one.done or (
                    coin.done == _OTHER and any(" for " in said for said in one.done)
                )
                right.setdefault(coin.done, []).append(
                    (found[0].first.address == coin.root, one.of == coin.of, is_said)
                )
    print_head("what was done", "copies", "right root", "right coin above", "and named")
    right["all"] = [one for found in right.values() for one in found]
    for done, ones in right.items():
        root, above, said = np.mean([(one[0], one[1], one[1] and one[2]) for one in ones], axis=0)
        print(f"| {done} | {len(ones)} | {root:.1%} | {above:.1%} | {said:.1%} |")
    print(f"\nStrangers in a family: {np.mean(strangers):.1%}; a family takes {spread(times)} ms")


if __name__ == "__main__":
    main()
