"""The text in a picture, upright, mirrored and upside down."""

from io import BytesIO

import pytest
from PIL import Image

from store.errors import ModelUnavailable
from store.pictures import text_reader
from store.pictures.text_reader import TextReader
from tests.store.pictures.lettering import lettered

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader() -> TextReader:
    return TextReader()


@pytest.mark.parametrize("turned", ["", "mirrored", "upside down"])
def test_a_text_is_read_in_every_orientation(reader: TextReader, turned: str) -> None:
    picture = Image.open(BytesIO(lettered("TO THE MOON", "BUY THE DIP", turned=turned)))
    lines = [line.replace(" ", "") for line in reader.read(picture).split("\n")]
    assert sorted(lines) == ["BUYTHEDIP", "TOTHEMOON"]


def test_a_picture_without_text_has_none(reader: TextReader) -> None:
    assert reader.read(Image.new("RGB", (512, 512), "white")) == ""


def test_one_letter_is_no_text(reader: TextReader) -> None:
    assert reader.read(Image.open(BytesIO(lettered("B")))) == ""


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_reader, "find_spec", lambda _: None)
    with pytest.raises(ModelUnavailable, match=r"requirements-eyes\.txt"):
        TextReader().read(Image.new("RGB", (8, 8)))
