"""Examining in the background: cancelled, continued, repeated for a new scheme; pictures in pictures."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageOps

from store.catalog.filters import Filter
from store.duplicates import examiner
from store.duplicates.examiner import Examiner
from store.library import Library
from store.progress import Progress
from tests.store.conftest import address, coin
from tests.store.duplicates.copies import (
    badges,
    coin_with_drawing,
    drawing,
    matches_of,
    normalised_picture,
    stickered,
)

FIRST, SECOND, THIRD = address(0), address(1), address(2)


pytestmark = pytest.mark.usefixtures("without_chroma")


def test_a_cancelled_examination_continues_later(library: Library) -> None:
    library.add(coin_with_drawing(number, drawing(0)) for number in range(20))
    progress = Progress()
    progress.cancel()
    assert library.duplicates.examine(progress=progress) == 0
    assert library.duplicates.unexamined() == 20
    assert library.duplicates.examine() == 20
    assert len(badges(library)) == 20
    assert library.duplicates.examine() == 0


def test_an_examination_is_cancelled_between_two_pictures(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([coin(number) for number in range(5)])
    progress, near, compared = Progress(), Examiner.near, []

    def cancel(examiner: Examiner, *of: Any) -> Any:
        compared.append(of)
        progress.cancel()
        return near(examiner, *of)

    with monkeypatch.context() as patched:
        patched.setattr(Examiner, "near", cancel)
        assert library.duplicates.examine(progress=progress) == 0
    assert len(compared) == 1
    assert library.duplicates.unexamined() == 5
    assert library.duplicates.examine() == 5


def test_new_coins_are_compared_automatically_in_the_background(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    examine = examiner.Examiner.examine

    def examine_and_signal(self: examiner.Examiner, *, progress: Progress | None = None) -> int:
        found = examine(self, progress=progress)
        if not library.duplicates.unexamined() and library.count(Filter()) == 2:
            done.set()
        return found

    monkeypatch.setattr(examiner.Examiner, "examine", examine_and_signal)
    library.work_in_background()
    library.add([coin_with_drawing(0)])
    library.add([coin_with_drawing(1, drawing(0))])
    assert done.wait(60)
    assert set(badges(library)) == {FIRST, SECOND}


def test_a_picture_that_was_away_is_examined_once_it_is_back(library: Library) -> None:
    library.add([coin_with_drawing(0), coin_with_drawing(1)])
    picture = library.picture(SECOND)
    away = picture.rename(picture.with_name("away"))
    assert library.duplicates.examine() == 2
    assert library.duplicates.examine() == 0
    away.rename(picture)
    assert library.duplicates.examine() == 1
    assert library.duplicates.examine() == 0


def test_a_new_comparison_scheme_compares_every_record_again(
    three_coins: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    three_coins.add([coin_with_drawing(3, drawing(0))])
    three_coins.duplicates.examine()
    before = badges(three_coins)
    monkeypatch.setattr(examiner, "SCHEME", "another")
    assert three_coins.duplicates.examine() == 4
    assert badges(three_coins) == before


# -- catalogs of earlier versions ---------------------------------------------------------------------------


@pytest.mark.slow
def test_an_examination_notifies_open_pages_at_intervals_and_at_its_end(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examiner, "_BATCH", 1)
    library.add([*(coin_with_drawing(number) for number in range(39)), coin_with_drawing(39, drawing(0))])
    seconds = iter(range(1_000))
    library.duplicates._examiner._clock = lambda: float(next(seconds))
    generation, derived = library.generation, library.derived
    assert library.duplicates.examine() == 40
    assert library.generation == generation, "the records are as they were"
    assert 1 <= library.derived - derived <= 6
    assert badges(library) == {FIRST: "exact picture", address(39): "exact picture"}
    library.duplicates.examine()
    derived = library.derived
    library.duplicates.examine()
    assert library.derived == derived, "nothing new was found"


def in_a_window(picture: Image.Image) -> Image.Image:
    window = Image.new("RGB", (800, 640), (236, 238, 242))
    ImageDraw.Draw(window).rectangle((0, 0, 800, 60), fill=(40, 44, 52))
    window.paste(picture.resize((480, 480)), (160, 110))
    return window


def on_a_phone(picture: Image.Image) -> Image.Image:
    phone = Image.new("RGB", (600, 1000), (250, 250, 250))
    pen = ImageDraw.Draw(phone)
    pen.rounded_rectangle((40, 20, 560, 980), 60, fill="black")
    pen.rectangle((60, 90, 540, 910), fill=(245, 245, 245))
    phone.paste(picture.resize((480, 480)), (60, 240))
    return phone


def captioned(picture: Image.Image) -> Image.Image:
    page = Image.new("RGB", (256, 330), "white")
    page.paste(picture, (0, 74))
    ImageDraw.Draw(page).text((128, 37), "WHEN LAMBO", anchor="mm", font_size=36, fill="black")
    return page


def middle(picture: Image.Image) -> Image.Image:
    return picture.crop((50, 50, 206, 206))


SHOWN = [in_a_window, on_a_phone, stickered, captioned, middle]


@pytest.mark.parametrize("shown", SHOWN)
def test_what_shows_a_part_of_a_picture_is_found_as_a_copy_and_when_it_is_dropped(
    three_coins: Library, shown: Callable[[Image.Image], Image.Image]
) -> None:
    dropped = three_coins.duplicates.like_picture(normalised_picture(shown(drawing(0))))
    assert three_coins.get(FIRST).image_hash in {image_hash for image_hash, _, _ in dropped}
    three_coins.add([coin_with_drawing(3, shown(drawing(0)))])
    three_coins.duplicates.examine()
    assert matches_of(three_coins, address(3)) == {address(0): ["near picture"]}
    assert address(3) in three_coins.duplicates.suspicions([address(3)])


@pytest.mark.parametrize("shown", [in_a_window, captioned, middle])
def test_what_shows_a_part_of_a_mirrored_picture_is_found_as_mirrored(
    three_coins: Library, shown: Callable[[Image.Image], Image.Image]
) -> None:
    three_coins.add([coin_with_drawing(3, shown(ImageOps.mirror(drawing(0))))])
    three_coins.duplicates.examine()
    assert matches_of(three_coins, address(3)) == {address(0): ["mirrored"]}


def test_two_coins_of_one_batch_of_which_one_shows_the_other_are_found(library: Library) -> None:
    library.add([coin_with_drawing(0), coin_with_drawing(1, in_a_window(drawing(0)))])
    library.duplicates.examine()
    assert set(badges(library)) == {FIRST, SECOND}
