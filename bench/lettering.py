"""How well the text in pictures is read, as Markdown tables.

    python -m bench.lettering                  # the demo's own lettering, and stamped texts: some minutes
    python -m bench.lettering --stamped 100

Words of two letters or more count, without case and punctuation. *Found*: how many of the words that stand
in the pictures a search finds (`text:word`). *Right*: how many of the lines that were read say what stands
there, spaces apart. The demo's lettering was written down by a person (`bench/lettering.tsv`); engraved
coins, whose letters stand one by one around the rim, count as pictures without words.
"""

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from store.disk.images import decode
from store.pictures.glued_words import taken_apart
from store.pictures.text_reader import TextReader

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "res" / "demo"
FONTS = sorted(Path("/usr/share/fonts/truetype/dejavu").glob("*.ttf"))
PHRASES = (
    "TO THE MOON", "HODL", "buy the dip", "WEN LAMBO", "much wow", "Paper Hands", "GM FRENS", "Number go up",
    "ONLY UP", "Trust me bro", "this is fine", "NOT A SCAM",
)  # fmt: skip
SIZES = (24, 40, 64)  # pixels of 512
TURNS = ("upright", "mirrored", "upside down")


@dataclass(slots=True)
class Tally:
    """Counts over some pictures."""

    words: int = 0
    found: int = 0
    lines: int = 0
    right: int = 0
    pictures: int = 0
    seconds: float = 0.0

    def count(self, reader: TextReader, image: Image.Image, truth: str) -> None:
        began = time.process_time()
        text = reader.read(image)
        self.seconds += time.process_time() - began
        self.pictures += 1
        known, read = words(truth), words(f"{text} {taken_apart(text)}")
        self.words += len(known)
        self.found += sum(any(each.startswith(word) for each in read) for word in known)
        lines = [letters(line) for line in text.split("\n") if letters(line)]
        self.lines += len(lines)
        self.right += sum(line in letters(truth) for line in lines)

    def row(self, name: str) -> str:
        found = f"{self.found / self.words:.0%}" if self.words else "–"
        right = f"{self.right / self.lines:.0%}" if self.lines else "–"
        return (
            f"| {name} | {self.pictures} | {self.words} | {found} | {self.lines} | {right} "
            f"| {self.seconds / self.pictures:.2f} s |"
        )


def words(text: str) -> set[str]:
    kept = "".join(sign if sign.isalnum() else " " for sign in text.casefold())
    return {word for word in kept.split() if len(word) > 1}


def letters(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def truths() -> dict[str, str]:
    """What stands in each of the demo's pictures that a person has looked at."""
    rows = (line.split("\t") for line in (ROOT / "bench" / "lettering.tsv").read_text("utf-8").splitlines())
    return {name: text for name, text in rows if (DEMO / f"local-demo-{name}.jpg").exists()}


def picture(name: str) -> Image.Image:
    return decode(DEMO / f"local-demo-{name}.jpg")


def turned(image: Image.Image, turn: str) -> Image.Image:
    if turn == "mirrored":
        return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return image.rotate(180) if turn == "upside down" else image


def stamped(number: int, without: list[str]) -> Iterator[tuple[Image.Image, str, int]]:
    """Pictures without lettering, each with a phrase in one of the fonts: picture, phrase and size."""
    chance = random.Random(7)
    for count in range(number):
        image, phrase, size = (
            picture(chance.choice(without)),
            chance.choice(PHRASES),
            SIZES[count % len(SIZES)],
        )
        font = ImageFont.truetype(chance.choice(FONTS), size) if FONTS else ImageFont.load_default(size)
        pen = ImageDraw.Draw(image)
        left = chance.randint(8, max(8, 504 - int(pen.textlength(phrase, font))))
        place = (left, chance.randint(8, 440))
        pen.text(place, phrase, font=font, fill="white", stroke_width=2, stroke_fill="black")
        file = BytesIO()
        image.save(file, "JPEG", quality=90)
        yield Image.open(file), phrase, size


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stamped", type=int, default=60, help="pictures with a stamped phrase (60)")
    number = parser.parse_args().stamped
    reader, known = TextReader(), truths()
    reader.read(Image.new("RGB", (64, 64)))  # loads the model
    heads = ("pictures", "number", "words", "found", "lines read", "right", "one core")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    lettered, bare = Tally(), Tally()
    for name, truth in known.items():
        (lettered if truth else bare).count(reader, picture(name), truth)
    print(lettered.row("the demo's with lettering"))
    print(bare.row("the demo's without words"))
    by_turn = {turn: Tally() for turn in TURNS}
    by_size = {size: Tally() for size in SIZES}
    for image, phrase, size in stamped(number, [name for name, truth in known.items() if not truth]):
        for turn, tally in by_turn.items():
            tally.count(reader, turned(image, turn), phrase)
        by_size[size].count(reader, image, phrase)
    for turn, tally in by_turn.items():
        print(tally.row(f"stamped, {turn}"))
    for size, tally in by_size.items():
        print(tally.row(f"stamped upright, {size} of 512 px"))


if __name__ == "__main__":
    main()
