"""A picture is recognised after what copycats do to it, and another picture is not."""

import sqlite3
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from store.duplicates import fingerprints, neighbours
from store.duplicates.fingerprints import fingerprint
from store.duplicates.neighbours import NearPrint, Neighbours
from store.errors import BadPicture
from tests.store.duplicates.copies import COPIES, drawing, kept

ORIGINAL = "picture 0"


@pytest.fixture(scope="module")
def prints() -> list[bytes]:
    return [fingerprint(kept(drawing(number))) for number in range(30)]


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.execute("CREATE TABLE fingerprints (number INTEGER PRIMARY KEY, image_hash TEXT UNIQUE, print BLOB)")
    yield db
    db.close()


@pytest.fixture
def thirty(db: sqlite3.Connection, prints: list[bytes]) -> Neighbours:
    return grown(Neighbours(), db, prints)


def grown(found: Neighbours, db: sqlite3.Connection, prints: list[bytes], *, start: int = 0) -> Neighbours:
    rows = [(f"picture {start + number}", print_) for number, print_ in enumerate(prints)]
    db.executemany("INSERT INTO fingerprints (image_hash, print) VALUES (?, ?)", rows)
    found.refresh(db)
    return found


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_near_its_original_and_nothing_else(thirty: Neighbours, name: str) -> None:
    for number in range(3):
        (near,) = thirty.near(fingerprint(kept(COPIES[name](drawing(number)))))
        assert (near.image_hash, near.is_mirrored) == (f"picture {number}", False)


def test_a_mirrored_copy_is_known_as_such(thirty: Neighbours) -> None:
    (near,) = thirty.near(fingerprint(kept(ImageOps.mirror(drawing(0)))))
    assert (near.image_hash, near.is_mirrored) == (ORIGINAL, True)


def test_a_mirrored_copy_with_a_border_cropped_at_a_corner_is_found(thirty: Neighbours) -> None:
    copy = ImageOps.expand(ImageOps.mirror(COPIES["cropped at a corner"](drawing(0))), 12, fill="black")
    (near,) = thirty.near(fingerprint(kept(copy)))
    assert (near.image_hash, near.is_mirrored) == (ORIGINAL, True)


def test_the_same_picture_is_at_no_distance(thirty: Neighbours, prints: list[bytes]) -> None:
    assert thirty.near(prints[0]) == [NearPrint(ORIGINAL, 0, False)]


def test_mirrored_hashes_are_those_of_the_mirrored_picture() -> None:
    for number in range(5):
        plain = fingerprints.rows([fingerprint(kept(drawing(number)))])
        truly = fingerprints.rows([fingerprint(kept(ImageOps.mirror(drawing(number))))])
        assert np.bitwise_count(fingerprints.mirrored(plain) ^ truly).sum(axis=-1).max() < neighbours.NEAR / 2


def test_a_picture_without_anything_to_see_resembles_nothing(thirty: Neighbours) -> None:
    blank = fingerprint(kept(Image.new("RGB", (64, 64), "teal")))
    assert blank == fingerprints.NOTHING
    assert thirty.near(blank) == []


@pytest.mark.parametrize("split", [(32, 0, 64, 64), (0, 32, 64, 64), (20, 0, 64, 64)], ids=str)
@pytest.mark.parametrize("colours", [("lime", "blue"), ("red", "black")], ids=" and ".join)
def test_two_bars_of_colour_say_too_little_to_be_taken_for_copies(
    split: tuple[int, int, int, int], colours: tuple[str, str]
) -> None:
    bars = Image.new("RGB", (64, 64), colours[0])
    bars.paste(colours[1], split)
    assert fingerprint(kept(bars)) == fingerprints.NOTHING


def test_a_plain_colour_is_not_recognised_by_the_white_it_was_fitted_into() -> None:
    assert fingerprint(kept(Image.new("RGB", (64, 32), "red"))) == fingerprints.NOTHING


def test_a_gradient_says_too_little_as_well() -> None:
    assert fingerprint(kept(Image.linear_gradient("L").convert("RGB"))) == fingerprints.NOTHING


def test_a_bare_disc_still_has_a_fingerprint() -> None:
    disc = Image.new("RGB", (128, 128), "white")
    ImageDraw.Draw(disc).ellipse((8, 8, 120, 120), fill="navy")
    assert len(fingerprint(kept(disc))) == fingerprints.SIZE


def test_blank_pictures_are_no_neighbours_of_each_other(db: sqlite3.Connection) -> None:
    assert len(grown(Neighbours(), db, [fingerprints.NOTHING, fingerprints.NOTHING])) == 0


def test_what_is_no_picture_has_no_fingerprint() -> None:
    with pytest.raises(BadPicture):
        fingerprint(b"no picture")


def test_new_fingerprints_are_taken_in_where_the_old_ones_are_kept(
    db: sqlite3.Connection, prints: list[bytes]
) -> None:
    found = grown(Neighbours(), db, prints[:10])
    grown(found, db, prints[10:], start=10)
    assert len(found) == 30
    for number in (0, 9, 10, 29):
        assert found.near(prints[number])[0] == NearPrint(f"picture {number}", 0, False)


def test_when_fingerprints_begin_anew_the_old_ones_are_gone(
    thirty: Neighbours, db: sqlite3.Connection, prints: list[bytes]
) -> None:
    db.execute("DELETE FROM fingerprints")
    grown(thirty, db, prints[:2])
    assert len(thirty) == 2
    assert thirty.near(prints[5]) == []


def test_only_the_nearest_hundred_are_told(db: sqlite3.Connection, prints: list[bytes]) -> None:
    found = grown(Neighbours(), db, [prints[0]] * (neighbours.MOST + 20))
    assert len(found.near(prints[0])) == neighbours.MOST
