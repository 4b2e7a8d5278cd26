"""The text in pictures: read once, corrected by people, found by words, compared between copies."""

import json
import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.errors import ModelUnavailable
from store.library import Library
from store.pictures import picture_texts
from store.pictures.picture_texts import Line, TextReader, believable, taken_apart
from store.runtime import open_library
from store.tasks import models
from store.tasks.draft import question
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed
from tests.store.pictures.lettering import lettered

FIRST, SECOND = address(0), address(1)

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def reads(library: Library, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets what the program reads in every picture; the model itself is below."""

    monkeypatch.setattr(library._nudity, "score", lambda _: 0.0)

    def say(text: str) -> None:
        monkeypatch.setattr(library._text_reader, "read", lambda _: text)

    return say


@pytest.fixture
def read_coins(library: Library, reads: Callable[[str], None]) -> Library:
    library.add([coin(0), coin(1)])
    reads("HODL\nto the moon")
    library.picture_texts.read()
    return library


def found(library: Library, line: str) -> set[str]:
    filter, faults = (parsed(line).filter, parsed(line).faults)
    assert not faults
    return set(library.addresses(filter))


def test_every_picture_is_read_once(read_coins: Library, reads: Callable[[str], None]) -> None:
    assert read_coins.picture_texts.unread() == {}
    assert read_coins.picture_texts.of(FIRST).source == "program"
    reads("something else")
    read_coins.add([coin(2)])
    assert read_coins.picture_texts.read().done == [address(2)]
    assert read_coins.picture_texts.of(FIRST).text == "HODL\nto the moon"


def test_another_reader_reads_everything_again(
    read_coins: Library, reads: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_texts, "reader_name", lambda: "another one")
    reads("better")
    assert len(read_coins.picture_texts.read().done) == 2
    assert read_coins.picture_texts.of(FIRST).text == "better"


def test_a_text_is_found_by_words_and_by_its_own_filter(read_coins: Library) -> None:
    assert found(read_coins, "text:hodl") == {FIRST, SECOND}
    assert found(read_coins, 'text:"to the moon"') == {FIRST, SECOND}
    assert found(read_coins, "text:lambo") == set()
    assert found(read_coins, "-text:hodl") == set()
    assert found(read_coins, "hodl") == {FIRST, SECOND}
    assert [record.address for record in read_coins.named("moon", Filter(), limit=9)]


def test_a_correction_counts_before_what_is_read(
    read_coins: Library, reads: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_coins.correct_text([FIRST], "WEN LAMBO")
    monkeypatch.setattr(picture_texts, "reader_name", lambda: "another one")
    reads("misread")
    read_coins.picture_texts.read()
    text = read_coins.picture_texts.of(FIRST)
    assert (text.text, text.source, text.read) == ("WEN LAMBO", "person", "misread")
    assert found(read_coins, "text:lambo") == {FIRST}
    assert found(read_coins, "text:misread") == {SECOND}


def test_a_correction_is_a_decision_and_can_be_undone(read_coins: Library) -> None:
    read_coins.correct_text([FIRST], "", actor="ada")
    (event, *_) = read_coins.history(address=FIRST)
    assert (event.verb, event.actor) == ("correct text", "ada")
    assert found(read_coins, "text:hodl") == {SECOND}
    read_coins.undo(actor="ada")
    assert found(read_coins, "text:hodl") == {FIRST, SECOND}
    assert read_coins.picture_texts.of(FIRST).source == "program"


def test_a_correction_can_be_given_up_for_what_was_read(read_coins: Library) -> None:
    read_coins.correct_text([FIRST], "WEN LAMBO")
    read_coins.correct_text([FIRST], None)
    assert read_coins.picture_texts.of(FIRST).text == "HODL\nto the moon"
    assert "picture_text" not in read_coins.get(FIRST).sidecar


def test_a_correction_survives_the_loss_of_the_catalog(
    read_coins: Library, root: Path, embedder: Hashed
) -> None:
    read_coins.correct_text([FIRST], "WEN LAMBO")
    sidecar = read_coins.layout.sidecar("pending", FIRST)
    assert json.loads(sidecar.read_text())["picture_text"] == "WEN LAMBO"
    read_coins.close()
    for file in (root / "memecoins").glob("catalog.sqlite3*"):
        file.unlink()
    with open_library(root, embedder=embedder) as rebuilt:
        assert rebuilt.picture_texts.of(FIRST).text == "WEN LAMBO"
        assert found(rebuilt, "text:lambo") == {FIRST}
        assert len(rebuilt.picture_texts.unread()) == 2


def test_a_text_that_is_too_long_is_refused(read_coins: Library) -> None:
    outcome = read_coins.correct_text([FIRST], "a" * 20_001)
    assert [refusal.item for refusal in outcome.refused] == [FIRST]
    assert "20,000" in outcome.refused[0].reason


def test_an_unreadable_picture_is_named_and_the_others_are_read(
    library: Library, reads: Callable[[str], None]
) -> None:
    library.add([coin(0), coin(1)])
    reads("HODL")
    library.picture(FIRST).write_bytes(b"no picture")
    outcome = library.picture_texts.read()
    assert outcome.done == [SECOND]
    assert [refusal.item for refusal in outcome.refused] == [FIRST]


def test_a_picture_that_comes_after_all_were_read_is_unread(read_coins: Library) -> None:
    assert read_coins.picture_texts.unread() == {}
    read_coins.add([coin(9)])
    assert list(read_coins.picture_texts.unread().values()) == [address(9)]
    assert list(read_coins.picture_texts.unread().values()) == [address(9)]


def test_the_background_job_reads_what_is_new_and_counts_it(
    library: Library, reads: Callable[[str], None]
) -> None:
    reads("HODL")
    library.add([coin(number) for number in range(20)])
    library.picture(FIRST).write_bytes(b"no picture")
    job = models.read_new_pictures(library)
    library.jobs.wait(job.id, timeout=60)
    job = library.jobs.get(job.id)
    assert (job.state, job.done, job.refused, job.total) == ("done", 19, 1, 20)
    assert models.read_new_pictures(library) is None, "what could not be read is not tried again by itself"
    assert set(found(library, "text:hodl")) == {address(number) for number in range(1, 20)}


def test_pictures_are_read_by_one_job_at_a_time(
    library: Library, reads: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    library.add([coin(0), coin(1)])
    monkeypatch.setattr(library._text_reader, "read", lambda _: str(may_go_on.wait()))
    derived = library.derived
    job = models.read_new_pictures(library)
    assert job is not None
    library.add([coin(2)])
    assert models.read_new_pictures(library) is None
    assert library.derived == derived, "open pages are told once, at the end"
    may_go_on.set()
    library.jobs.wait(job.id, timeout=60)
    assert library.derived > derived


def test_a_stopped_job_does_not_begin_again_by_itself(
    library: Library, reads: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    library.add([coin(number) for number in range(20)])
    monkeypatch.setattr(library._text_reader, "read", lambda _: str(may_go_on.wait()))
    job = models.read_new_pictures(library)
    library.jobs.cancel(job.id)
    may_go_on.set()
    library.jobs.wait(job.id, timeout=60)
    assert library.jobs.get(job.id).state == "cancelled"
    assert models.read_new_pictures(library) is None


def test_a_paused_job_ends_after_the_picture_that_it_reads(
    library: Library, reads: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([coin(number) for number in range(5)])
    read: list[object] = []

    def pause(image: object) -> str:
        read.append(image)
        library.jobs.pause(library.jobs.open()[0].id)
        return "HODL"

    monkeypatch.setattr(library._text_reader, "read", pause)
    job = models.read_new_pictures(library)
    library.jobs.wait(job.id, timeout=60)
    assert len(read) == 1
    assert len(found(library, "text:hodl")) == 1
    monkeypatch.setattr(library._text_reader, "read", lambda _: "HODL")
    library.jobs.resume(job.id)
    library.jobs.wait(job.id, timeout=60)
    assert len(found(library, "text:hodl")) == 5


def test_without_the_extra_a_library_works_and_says_what_to_install(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_texts, "can_read", lambda: False)
    library.add([coin(0)])
    assert library.picture_texts.unread() == {}
    assert library.picture_texts.of(FIRST).source == "unread"
    library.correct_text([FIRST], "by hand")
    assert found(library, "text:hand") == {FIRST}
    with pytest.raises(ModelUnavailable, match=r"requirements-eyes\.txt"):
        library.picture_texts.read()


def test_copies_with_another_text_say_so(read_coins: Library) -> None:
    read_coins.add([coin(2, token_name="Coin 0")])
    copy = coin(3)
    read_coins.add([type(copy)("copy", copy.sidecar, coin(0).picture)])
    read_coins.duplicates.examine()
    (same,) = [one for one in read_coins.duplicates.of(address(3)) if one.other == FIRST]
    assert not same.has_other_letters
    read_coins.correct_text([FIRST], "another text")
    (other,) = [one for one in read_coins.duplicates.of(address(3)) if one.other == FIRST]
    assert other.has_other_letters
    read_coins.correct_text([FIRST], "hodl to  THE moon!")
    (alike,) = [one for one in read_coins.duplicates.of(address(3)) if one.other == FIRST]
    assert not alike.has_other_letters, "another space or sign is no other text"


def test_the_drafting_model_is_told_what_stands_in_the_picture(read_coins: Library) -> None:
    record = read_coins.get(FIRST)
    asked = question(record, b"", "{name}", [], picture_text="HODL {name}", only=None, hint="")
    text = asked.messages()[0]["content"][0]["text"]
    assert "HODL {name}" in text, "its words are no variables"
    bare = question(record, b"", "{name}", [], picture_text="", only=None, hint="")
    assert "stand in the picture" not in bare.messages()[0]["content"][0]["text"]


@pytest.fixture(scope="module")
def reader() -> TextReader:
    return TextReader()


@pytest.mark.slow
@pytest.mark.parametrize("turned", ["", "mirrored", "upside down"])
def test_a_text_is_read_in_every_orientation(reader: TextReader, turned: str) -> None:
    picture = Image.open(BytesIO(lettered("TO THE MOON", "BUY THE DIP", turned=turned)))
    lines = [line.replace(" ", "") for line in reader.read(picture).split("\n")]
    assert sorted(lines) == ["BUYTHEDIP", "TOTHEMOON"]


@pytest.mark.slow
def test_a_picture_without_text_has_none(reader: TextReader) -> None:
    assert reader.read(Image.new("RGB", (512, 512), "white")) == ""


@pytest.mark.slow
def test_one_letter_is_no_text(reader: TextReader) -> None:
    assert reader.read(Image.open(BytesIO(lettered("B")))) == ""


@pytest.mark.slow
def test_what_is_as_high_as_the_picture_is_no_text(reader: TextReader) -> None:
    picture = Image.new("RGB", (512, 512), "white")
    ImageDraw.Draw(picture).text((256, 256), "SO", font_size=330, anchor="mm", fill="black")
    assert reader.read(picture) == ""


SURE_WORD = ("number go up", 0.99)


@pytest.mark.parametrize(
    "line",
    [("to the moon", 0.81), ("WXQZ", 0.91), ("GM", 0.96), ("$WIF", 0.96), ("MOG", 0.9995), ("百科", 0.91)],
)
def test_words_are_believed(line: Line) -> None:
    assert believable([line]) == [line]


@pytest.mark.parametrize(
    "line",
    [
        ("laina", 0.86),
        ("LLLL", 0.99),
        ("NY", 0.9998),
        ("VSK", 0.9988),
        ("po", 0.87),
        ("to the moon", 0.79),
        ("中十", 0.88),
    ],
)
def test_strokes_that_look_like_letters_are_not(line: Line) -> None:
    assert believable([line]) == []


def test_a_short_word_is_believed_next_to_a_longer_one() -> None:
    assert believable([SURE_WORD, ("QTR", 0.96), ("HO", 0.93)]) == [SURE_WORD, ("QTR", 0.96)]


def test_a_turned_picture_needs_a_longer_line_that_is_read_clearly() -> None:
    assert believable([("OH", 0.99), ("to the moon", 0.88), ("zorer", 0.94)], is_turned=True) == []
    assert believable([("OH", 0.99), SURE_WORD], is_turned=True) == [("OH", 0.99), SURE_WORD]


@pytest.mark.slow
def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_texts, "find_spec", lambda _: None)
    with pytest.raises(ModelUnavailable, match=r"requirements-eyes\.txt"):
        TextReader().read(Image.new("RGB", (8, 8)))


@pytest.mark.parametrize(
    ("read", "words"),
    [
        ("BUYTHEDIP", "buy the dip"),
        ("TO THEMOON", "the moon"),
        ("WENLAMBO", "wen lambo"),
        ("moon rocket", ""),
        ("xqzwkj", ""),
    ],
)
def test_words_that_run_together_are_taken_apart(read: str, words: str) -> None:
    assert taken_apart(read) == words
