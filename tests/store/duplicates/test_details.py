"""A picture is found in what shows only a part of it, and where it lies there."""

import sqlite3
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from store.duplicates import details
from store.duplicates.details import DetailIndex, PlacedPicture
from store.errors import BadPicture
from tests.store.duplicates.copies import drawing, normalised_picture


@pytest.fixture(scope="module")
def packed() -> list[bytes]:
    return [details.packed(details.details(normalised_picture(drawing(number)))) for number in range(20)]


@pytest.fixture
def db(packed: list[bytes]) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:")
    db.row_factory = sqlite3.Row
    db.execute("CREATE TABLE picture_details (number INTEGER PRIMARY KEY, image_hash TEXT, details BLOB)")
    add(db, packed)
    yield db
    db.close()


def add(db: sqlite3.Connection, packed: list[bytes], *, start: int = 0) -> None:
    rows = [(f"picture {start + number}", one) for number, one in enumerate(packed)]
    db.executemany("INSERT INTO picture_details (image_hash, details) VALUES (?, ?)", rows)


def test_nothing_is_found_before_any_picture_was_read() -> None:
    asked = details.details(normalised_picture(drawing(3)))
    assert DetailIndex().placed(asked) == []


def placed(db: sqlite3.Connection, image: Image.Image) -> list[PlacedPicture]:
    index = DetailIndex()
    index.refresh(db)
    return index.placed(details.details(normalised_picture(image)))


def test_a_picture_on_a_larger_one_is_found_with_its_place(db: sqlite3.Connection) -> None:
    screen = Image.new("RGB", (512, 512), "white")
    screen.paste(drawing(3).resize((200, 200)), (60, 250))
    first = placed(db, screen)[0]
    assert first.image_hash == "picture 3"
    middle = (160 / 512, 350 / 512)
    assert (first.side, first.x, first.y) == pytest.approx((200 / 512, *middle), abs=0.03)


def test_a_crop_is_found_in_the_picture_it_was_cut_from(db: sqlite3.Connection) -> None:
    first = placed(db, drawing(5).crop((60, 40, 220, 200)))[0]
    assert first.image_hash == "picture 5"
    here, there = first.overlap()
    assert here == pytest.approx((0, 0, 1, 1), abs=0.05)
    assert there == pytest.approx((60 / 256, 40 / 256, 220 / 256, 200 / 256), abs=0.05)


def test_a_covered_picture_is_found(db: sqlite3.Connection) -> None:
    covered = drawing(7).copy()
    ImageDraw.Draw(covered).ellipse((100, 60, 250, 210), fill="yellow", outline="black", width=4)
    assert placed(db, covered)[0].image_hash == "picture 7"


def test_another_picture_has_less_evidence_than_a_copy(db: sqlite3.Connection) -> None:
    best = max(one.score for one in placed(db, drawing(100)))
    assert best < placed(db, drawing(7).crop((50, 50, 206, 206)))[0].score / 2


def test_pictures_read_one_by_one_are_found_like_those_read_at_once(
    db: sqlite3.Connection, packed: list[bytes]
) -> None:
    asked = details.details(normalised_picture(drawing(4).crop((20, 20, 220, 220))))
    at_once, slowly = DetailIndex(), DetailIndex()
    at_once.refresh(db)
    db.execute("DELETE FROM picture_details")
    slowly.refresh(db)
    for number, one in enumerate(packed):
        add(db, [one], start=number)
        slowly.refresh(db)
    assert slowly.placed(asked) == at_once.placed(asked)


def test_an_index_that_another_process_rebuilt_is_read_again(
    db: sqlite3.Connection, packed: list[bytes]
) -> None:
    index = DetailIndex()
    index.refresh(db)
    db.execute("DELETE FROM picture_details")
    add(db, packed[:1], start=50)
    index.refresh(db)
    asked = details.details(normalised_picture(drawing(0)))
    assert [one.image_hash for one in index.placed(asked)] == ["picture 50"]


def test_a_plain_picture_has_no_details_and_lies_nowhere(db: sqlite3.Connection) -> None:
    plain = Image.new("RGB", (256, 256), "gray")
    assert details.packed(details.details(normalised_picture(plain))) == b""
    assert placed(db, plain) == []


def test_what_is_stored_is_small_and_the_same_each_time() -> None:
    picture = normalised_picture(drawing(0))
    first = details.packed(details.details(picture))
    assert first == details.packed(details.details(picture))
    assert 0 < len(first) <= 48 * 13
    assert np.frombuffer(first, details.ROW)["word"].max() < 2048


def test_a_damaged_picture_is_refused() -> None:
    with pytest.raises(BadPicture, match="damaged"):
        details.details(b"no picture")


def test_mirrored_details_are_those_of_the_mirrored_picture() -> None:
    mirrored = details.details(normalised_picture(drawing(3))).mirrored()
    read = details.details(normalised_picture(ImageOps.mirror(drawing(3))))
    places = np.abs(mirrored.places[:, None] - read.places).max(axis=2)
    same = places.argmin(axis=1)
    cosines = (mirrored.descriptors * read.descriptors[same]).sum(axis=1)
    assert np.median(cosines[places.min(axis=1) < 0.01]) > 0.95
