"""A made library as a launch platform fills it, with the decision that is right for each coin.

Of the coins a fifth come in waves of forty copies within an hour and a tenth are single copies of others
(`CHANGES`). Of the rest 69 % are dead on their first day, and the others are those of `stream`,
whose themes, market and person change with time; some of their pictures are blank. What is alive is right
as the stream's person decides, slips of the hand included; copies and dead coins are to be rejected, but for
one dead coin in two hundred.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bench import stream
from bench.library import Instant
from store import demo
from store.disk.images import normalise
from store.embedding import open_embedder
from store.embedding.protocol import OFFLINE
from store.importing.candidate import Candidate
from store.progress import Progress
from store.runtime import LibraryRuntime

_WAVES, _FAMILIES, _DEAD = 0.2, 0.1, 0.48  # of all coins
_WAVE = 40  # copies
_REVIVED = 0.005  # of the dead
_HOURS = 720  # from the first arrival to the last
_SIDE = 128  # px
_BEGINNINGS = ("ba", "de", "fu", "ka", "lo", "mi", "no", "pe", "ra", "su", "ti", "wo")
_MIDDLES = ("bbi", "cto", "dge", "ffa", "gu", "llo", "mme", "nka", "ppo", "rri")
_ENDINGS = ("n", "r", "sh", "x", "to", "la")


def _cropped(image: Image.Image) -> Image.Image:
    by = image.width // 30
    return image.crop((by, by, image.width - by, image.height - by))


CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    **{name: demo.CHANGES[name] for name in ("mirrored", "recoloured")},
    "picture changed": _cropped,
    **{name: demo.CHANGES[name] for name in ("other lettering", "same picture")},
}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A coin, when it came (a share of the whole time, 0 to 1), and what is right."""

    candidate: Candidate
    at: float
    is_good: bool
    first: str = ""  # the address of the coin that it is a copy of

    @property
    def address(self) -> str:
        return str(self.candidate.sidecar["token_address"])


class Thumbnails(Instant):
    """Sees pictures as 16 × 16 pixels, under the name of the built-in model, which takes 50 ms for each."""

    def __init__(self) -> None:
        super().__init__(open_embedder(OFFLINE))

    def embed_images(self, images: Sequence[Image.Image]) -> NDArray[np.float32]:
        small = [np.asarray(image.convert("RGB").resize((16, 16)), np.float32).ravel() for image in images]
        rows = np.array([row - row.mean() + np.eye(1, len(row), dtype=np.float32)[0] for row in small])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def made(count: int, *, seed: int = 1) -> list[Arrival]:
    """So many coins in the order of their arrival; the same seed makes the same ones."""
    random = np.random.default_rng(seed)
    waves, copies = round(count * _WAVES / _WAVE), round(count * _FAMILIES)
    dead = round(count * _DEAD)
    alive = count - waves * _WAVE - copies - dead
    coins = [*_alive(alive, random, seed), *_dead(dead, random)]
    coins.sort(key=lambda one: one.at)
    size = len(CHANGES)
    firsts = [
        coins[at] for at in random.choice(len(coins) * 3 // 4, waves + -(-copies // size), replace=False)
    ]
    for number, first in enumerate(firsts[:waves]):
        hour = int(_HOURS * min(0.99, first.at + 0.1 + 0.002 * number))
        coins += _copies(first, _WAVE, random, at=hour / _HOURS, within=0.9 / _HOURS)
    left = copies
    for first in firsts[waves:]:
        coins += _copies(first, min(size, left), random, at=first.at, within=1 - first.at)
        left -= size
    return sorted(coins, key=lambda one: one.at)


def fill(library: LibraryRuntime, coins: Sequence[Arrival]) -> None:
    """Add coins hour by hour, until now, and embed and compare all pictures."""
    now, actor = time.time(), library.catalog.actor
    for hour, group in groupby(coins, key=lambda one: int(_HOURS * one.at)):
        then = library.for_actor(actor.as_of(now - 3_600.0 * (_HOURS - hour)))
        then.add([one.candidate for one in group])
    while library._prefetcher.embed_next(Progress()):
        pass
    library.picture_faults.look(progress=Progress())
    library.duplicates.examine()


def _alive(count: int, random: np.random.Generator, seed: int) -> Iterator[Arrival]:
    """Coins of the stream that are no copies: copies are planted apart."""
    made = stream.made(count * 7 // 5 + 20, seed=seed)
    own = [at for at, coin in enumerate(made.coins) if not (coin.holds and "copy" in coin.holds)][:count]
    for number, at in enumerate(own):
        coin = made.coins[at]
        theme = int(coin.words[0].split()[1][1:].split("w")[0])
        is_blank = bool(coin.holds and "blank" in coin.holds)
        picture = Image.new("RGB", (_SIDE, _SIDE), _colour(random)) if is_blank else _drawn(theme, random)
        name = " ".join(_word(word.split()[1]) for word in coin.words[:2])
        text = " ".join(_word(word.split()[1]) for word in coin.words[2:4])
        numbers = {key: round(value, 2) for key, value in (coin.numbers or {}).items()}
        when = number / count
        yield Arrival(
            _candidate(random, f"{name} {number}", picture, when, text, numbers),
            when,
            bool(made.approved[at]),
        )


def _dead(count: int, random: np.random.Generator) -> Iterator[Arrival]:
    for number in range(count):
        theme, when = int(random.integers(stream.THEMES)), float(random.random())
        words = " ".join(_word(f"t{theme}w{word}") for word in random.integers(0, 12, 2))
        numbers = {
            "volume": round(float(random.exponential(8)), 2),
            "marketcap": round(float(random.normal(4_200, 150)), 2),
            "holders": float(random.integers(1, 4)),
            "replies": float(random.integers(0, 3)),
        }
        made = _candidate(random, f"{words} {number}d", _drawn(theme, random), when, "", numbers)
        yield Arrival(made, when, bool(random.random() < _REVIVED))


def _copies(
    first: Arrival, count: int, random: np.random.Generator, *, at: float, within: float
) -> Iterator[Arrival]:
    """Copies of a coin, each by another change of it."""
    with Image.open(BytesIO(first.candidate.picture)) as opened:  # type: ignore[arg-type]
        image = opened.convert("RGB")
    changes = list(CHANGES.values())
    for number in range(count):
        when = at + within * float(random.uniform(0.02, 0.98))
        numbers = {
            "volume": round(float(np.exp(random.normal(7, 2))), 2),
            "holders": float(random.integers(2, 90)),
        }
        own, ticker = first.candidate.sidecar["token_name"], first.candidate.sidecar["ticker"]
        name = own if number % 2 else f"{own} {_word(f't{number}w3')}"
        made = _candidate(random, name, changes[number % len(changes)](image), when, "", numbers, ticker)
        yield Arrival(made, when, False, first.address)


def _candidate(
    random: np.random.Generator, name: str, picture: Image.Image, when: float, text: str,
    numbers: dict[str, float], ticker: str = "",
) -> Candidate:  # fmt: skip
    content = BytesIO()
    picture.save(content, "JPEG", quality=88)
    address = f"0x{random.bytes(20).hex()}"
    sidecar: dict[str, Any] = {
        "token_name": name,
        "ticker": ticker or "".join(word[:3] for word in name.split()).upper()[:10],
        "token_address": address,
        "decimals": 18,
        "description": text,
        "created_at": 1_700_000_000 + round(3_600 * _HOURS * when),
        **numbers,
    }
    return Candidate(address, sidecar, normalise(content.getvalue()))


def _word(of: str) -> str:
    """A word that reads well, for one of the stream."""
    theme, _, word = of.removeprefix("common").removeprefix("t").partition("w")
    first, second = int(theme or 0), int(word or 61)
    spelt = (
        _BEGINNINGS[second % 12]
        + _MIDDLES[first % 10]
        + _BEGINNINGS[first // 10]
        + _ENDINGS[second // 12 % 6]
    )
    return spelt.capitalize()


def _colour(random: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = random.integers(0, 256, 3).tolist()
    return red, green, blue


def _drawn(theme: int, random: np.random.Generator) -> Image.Image:
    """Blots in the theme's four colours, laid out by chance: without corners, comparing is quick."""
    colours = np.random.default_rng(theme).integers(0, 256, (4, 3), dtype=np.uint8)
    blots = Image.fromarray(colours[random.integers(0, 4, (6, 6))])
    return blots.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC)
