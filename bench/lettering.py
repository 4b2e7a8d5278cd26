"""What is read in pictures, as a Markdown table: python -m bench.lettering PICTURES [FONTS PHRASES]

PICTURES is a folder of drawings or photographs; every line that is read in them is printed, so that a person
can say which are nonsense. With FONTS, a folder, and PHRASES, a text file with a phrase in each line, one to
three phrases are stamped into each picture, of every ten one is mirrored and one upside down, and words and
lines are counted. Words have two letters or more; a line is right if it is like one that was stamped.
"""

import random
import re
import sys
from collections.abc import Sequence
from difflib import SequenceMatcher
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from bench.models import normalised
from store.pictures.picture_texts import TextReader, taken_apart

SIZES = (18, 24, 32, 44, 60)  # pixels of 512
WIDEST = 490
ALIKE = 0.75  # difflib's ratio


def stamped(
    picture: Image.Image, fonts: Sequence[Path], phrases: Sequence[str], chance: random.Random
) -> list[str]:
    """The phrases that were written into the picture."""
    pen, top, written = ImageDraw.Draw(picture), chance.randint(8, 120), list[str]()
    for _ in range(chance.choice((1, 1, 2, 3))):
        size, phrase, path = chance.choice(SIZES), chance.choice(phrases), chance.choice(fonts)
        font = ImageFont.truetype(path, size)
        if (width := pen.textlength(phrase, font)) > WIDEST or top > 440:
            continue
        place = (chance.randint(6, int(500 - width)), top)
        pen.text(place, phrase, font=font, fill="white", stroke_width=max(1, size // 16), stroke_fill="black")
        written.append(phrase)
        top += size + chance.randint(10, 120)
    return written


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]+", text.casefold()) if len(word) > 1}


def is_right(line: str, written: Sequence[str]) -> bool:
    return any(SequenceMatcher(None, line.casefold(), one.casefold()).ratio() >= ALIKE for one in written)


def main(folder: Path, fonts: Sequence[Path], phrases: Sequence[str]) -> None:
    """Print what is read, and the counts."""
    reader, chance = TextReader(), random.Random(7)
    pictures = read = lines = right = known = found = 0
    suffixes = {".jpg", ".jpeg", ".png", ".gif", ".webp"}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in suffixes):
        picture = normalised(path)
        written = stamped(picture, fonts, phrases, chance) if phrases else []
        if phrases and pictures % 10 >= 8:
            turn = Image.Transpose.ROTATE_180 if pictures % 10 == 9 else Image.Transpose.FLIP_LEFT_RIGHT
            picture = picture.transpose(turn)
        file = BytesIO()
        picture.save(file, "JPEG", quality=90)
        text = reader.read(Image.open(file))
        own = text.splitlines()
        pictures, read, lines = pictures + 1, read + bool(own), lines + len(own)
        right += sum(is_right(line, written) for line in own)
        wanted, seen = words(" ".join(written)), words(f"{text} {taken_apart(text)}")
        known, found = known + len(wanted), found + len(wanted & seen)
        if own and not phrases:
            print(f"{path.name}: {' | '.join(own)}")
    print(f"\n| pictures | read in | lines | right | words | found |\n|{' --- |' * 6}")
    print(f"| {pictures} | {read} | {lines} | {right} | {known} | {found} |")


if __name__ == "__main__":
    where, *more = map(Path, sys.argv[1:])
    main(
        where,
        sorted(more[0].rglob("*.[to]tf")) if more else [],
        more[1].read_text("utf-8").split("\n") if more else [],
    )
