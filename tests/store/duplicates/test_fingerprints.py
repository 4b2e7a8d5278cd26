"""A picture is recognised after typical changes by copycats, and a different picture is not."""

import sqlite3
from collections.abc import Iterator
from io import BytesIO

import imagehash
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from store.duplicates import fingerprints
from store.duplicates.fingerprints import NearPrint, Neighbours, fingerprint
from store.errors import BadPicture
from tests.store.duplicates.copies import COPIES, drawing, normalised_picture

ORIGINAL = "picture 0"


@pytest.fixture(scope="module")
def prints() -> list[bytes]:
    return [fingerprint(normalised_picture(drawing(number))) for number in range(30)]


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.execute("CREATE TABLE fingerprints (number INTEGER PRIMARY KEY, image_hash TEXT UNIQUE, print BLOB)")
    yield db
    db.close()


@pytest.fixture
def thirty_prints(db: sqlite3.Connection, prints: list[bytes]) -> Neighbours:
    return add_prints(Neighbours(), db, prints)


def add_prints(
    found: Neighbours, db: sqlite3.Connection, prints: list[bytes], *, start: int = 0
) -> Neighbours:
    rows = [(f"picture {start + number}", print_) for number, print_ in enumerate(prints)]
    db.executemany("INSERT INTO fingerprints (image_hash, print) VALUES (?, ?)", rows)
    found.refresh(db)
    return found


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_matches_only_its_original(thirty_prints: Neighbours, name: str) -> None:
    for number in range(3):
        (near,) = thirty_prints.near(fingerprint(normalised_picture(COPIES[name](drawing(number)))))
        assert (near.image_hash, near.is_mirrored) == (f"picture {number}", False)


def test_a_mirrored_copy_is_recognised_as_mirrored(thirty_prints: Neighbours) -> None:
    (near,) = thirty_prints.near(fingerprint(normalised_picture(ImageOps.mirror(drawing(0)))))
    assert (near.image_hash, near.is_mirrored) == (ORIGINAL, True)


def test_a_mirrored_and_cropped_copy_with_a_border_is_found(thirty_prints: Neighbours) -> None:
    copy = ImageOps.expand(ImageOps.mirror(COPIES["cropped at a corner"](drawing(0))), 12, fill="black")
    (near,) = thirty_prints.near(fingerprint(normalised_picture(copy)))
    assert (near.image_hash, near.is_mirrored) == (ORIGINAL, True)


def test_mirrored_hashes_match_those_of_the_mirrored_picture() -> None:
    for number in range(5):
        plain = fingerprints.hash_rows([fingerprint(normalised_picture(drawing(number)))])
        truly = fingerprints.hash_rows([fingerprint(normalised_picture(ImageOps.mirror(drawing(number))))])
        assert (
            np.bitwise_count(fingerprints.mirrored(plain) ^ truly).sum(axis=-1).max() < fingerprints.NEAR / 2
        )


def test_a_blank_picture_has_no_neighbours(thirty_prints: Neighbours) -> None:
    blank = fingerprint(normalised_picture(Image.new("RGB", (64, 64), "teal")))
    assert blank == fingerprints.NOTHING
    assert thirty_prints.near(blank) == []


@pytest.mark.parametrize("split", [(32, 0, 64, 64), (0, 32, 64, 64), (20, 0, 64, 64)], ids=str)
@pytest.mark.parametrize("colours", [("lime", "blue"), ("red", "black")], ids=" and ".join)
def test_two_bars_of_colour_have_no_fingerprint(
    split: tuple[int, int, int, int], colours: tuple[str, str]
) -> None:
    bars = Image.new("RGB", (64, 64), colours[0])
    bars.paste(colours[1], split)
    assert fingerprint(normalised_picture(bars)) == fingerprints.NOTHING


def test_a_plain_colour_padded_with_white_has_no_fingerprint() -> None:
    assert fingerprint(normalised_picture(Image.new("RGB", (64, 32), "red"))) == fingerprints.NOTHING


def test_a_gradient_has_no_fingerprint() -> None:
    assert fingerprint(normalised_picture(Image.linear_gradient("L").convert("RGB"))) == fingerprints.NOTHING


def test_a_plain_disc_has_a_fingerprint() -> None:
    disc = Image.new("RGB", (128, 128), "white")
    ImageDraw.Draw(disc).ellipse((8, 8, 120, 120), fill="navy")
    assert len(fingerprint(normalised_picture(disc))) == fingerprints.SIZE


def test_blank_pictures_are_not_neighbours_of_each_other(db: sqlite3.Connection) -> None:
    assert len(add_prints(Neighbours(), db, [fingerprints.NOTHING, fingerprints.NOTHING])) == 0


def test_invalid_picture_data_has_no_fingerprint() -> None:
    with pytest.raises(BadPicture):
        fingerprint(b"no picture")


def test_a_refresh_adds_new_fingerprints_and_keeps_the_old_ones(
    db: sqlite3.Connection, prints: list[bytes]
) -> None:
    found = add_prints(Neighbours(), db, prints[:10])
    add_prints(found, db, prints[10:], start=10)
    assert len(found) == 30
    for number in (0, 9, 10, 29):
        assert found.near(prints[number])[0] == NearPrint(f"picture {number}", 0, False)


def test_a_refresh_drops_deleted_fingerprints(
    thirty_prints: Neighbours, db: sqlite3.Connection, prints: list[bytes]
) -> None:
    db.execute("DELETE FROM fingerprints")
    add_prints(thirty_prints, db, prints[:2])
    assert len(thirty_prints) == 2
    assert thirty_prints.near(prints[5]) == []


def test_the_number_of_neighbours_is_limited(db: sqlite3.Connection, prints: list[bytes]) -> None:
    found = add_prints(Neighbours(), db, [prints[0]] * (fingerprints.MOST + 20))
    assert len(found.near(prints[0])) == fingerprints.MOST


@pytest.mark.parametrize("name", COPIES)
def test_hashes_are_those_of_imagehash(name: str) -> None:
    jpg = normalised_picture(COPIES[name](drawing(1)))
    with Image.open(BytesIO(jpg)) as image:
        image.draft("RGB", (128, 128))
        whole = np.packbits(imagehash.phash(image.convert("RGB"), hash_size=16).hash).tobytes()
    assert fingerprint(jpg)[: len(whole)] == whole


def test_a_border_is_trimmed_line_by_line() -> None:
    framed = ImageOps.expand(drawing(2).resize((440, 440)), 36, fill=(30, 30, 30))
    bare = fingerprints.hash_rows([fingerprint(normalised_picture(drawing(2).resize((440, 440))))])
    found = fingerprints.hash_rows([fingerprint(normalised_picture(framed))])
    distance = np.bitwise_count(found[0, fingerprints.TRIMMED] ^ bare[0, fingerprints.WHOLE]).sum()
    assert distance < fingerprints.NEAR
