"""The offline model: unit vectors, meaning, colours, pictures on white, and no files in the home folder."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from store.embedding import open_embedder
from store.embedding.offline import COLOURS, MiniLM, colour_shares
from store.embedding.protocol import OFFLINE, OFFLINE_TEXT, Embedder, ForeignReader


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("own_interpreter")
def test_a_model_writes_no_files_to_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime stores a machine id for telemetry there unless it is disabled first."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "ORT_DISABLE_TELEMETRY"):
        monkeypatch.delenv(variable, raising=False)
    run_python("from store.embedding import open_embedder; open_embedder('offline').embed_texts(['a frog'])")
    assert [*tmp_path.rglob("*")] == []


@pytest.fixture(scope="module")
def offline() -> Embedder:
    return open_embedder(OFFLINE)


def picture(colour: str) -> Image.Image:
    image = Image.new("RGB", (512, 512), "white")
    ImageDraw.Draw(image).ellipse((100, 150, 400, 380), fill=colour)
    return image


def cosines(rows: np.ndarray) -> np.ndarray:
    return rows @ rows.T


def test_the_offline_model_gives_unit_vectors_of_768_numbers_and_a_status() -> None:
    model = open_embedder(OFFLINE)
    assert model.status == "not loaded"
    texts, images = model.embed_texts(["a dog", ""]), model.embed_images([picture("red")])
    assert model.status == "ready"
    for rows in (texts, images):
        assert rows.dtype == np.float32
        assert rows.shape[1] == model.dimensions == 768
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


def test_empty_input_gives_empty_arrays(offline: Embedder) -> None:
    assert offline.embed_texts([]).shape == offline.embed_images([]).shape == (0, 768)


def test_a_text_and_a_picture_are_compared_by_their_first_halves_alone(offline: Embedder) -> None:
    (text,), (image,) = offline.embed_texts(["a dog"]), offline.embed_images([picture("red")])
    across = text * offline.cross_modal_scale
    assert not across[384:].any()
    first, meaning = text[:384], image[:384]
    cosine = first @ meaning / np.linalg.norm(first) / np.linalg.norm(meaning)
    assert across @ image == pytest.approx(cosine, abs=1e-5)
    assert np.linalg.norm(meaning) == pytest.approx(0.5, abs=1e-5)


TRANSLATED = {
    "English": ("a frog with a crown", "a dog flies to the moon", "losing money on the market"),
    "German": ("ein Frosch mit einer Krone", "ein Hund fliegt zum Mond", "Geld an der Börse verlieren"),
    "Spanish": ("una rana con corona", "un perro vuela a la luna", "perder dinero en la bolsa"),
    "Chinese": ("戴皇冠的青蛙", "狗飞向月球", "在股市亏钱"),
    "Japanese": ("王冠をかぶったカエル", "犬が月へ飛ぶ", "株で損をする"),
}


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_question_in_another_language_finds_the_english_text(offline: Embedder, language: str) -> None:
    english, asked = (offline.embed_texts(TRANSLATED[one]) for one in ("English", language))
    assert (asked @ english.T).argmax(axis=1).tolist() == [0, 1, 2]


@pytest.fixture(scope="module")
def text_model() -> Embedder:
    return open_embedder(OFFLINE_TEXT)


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_text_model_finds_it_as_well(text_model: Embedder, language: str) -> None:
    english, asked = (text_model.embed_texts(TRANSLATED[one]) for one in ("English", language))
    assert (asked @ english.T).argmax(axis=1).tolist() == [0, 1, 2]


def test_the_text_model_parts_answers_from_the_rest_at_a_cosine_of_three_tenths(text_model: Embedder) -> None:
    said = text_model.embed_texts(["User is allergic to peanuts", "Invoices are paid within 14 days"])
    asked = ["Am I allergic to anything?", "How long do we have to settle bills?", "How do volcanoes form?"]
    found = said @ text_model.embed_texts(asked).T > 0.3
    assert found.tolist() == [[True, False, False], [False, True, False]]


def test_the_text_model_gives_the_same_numbers_alone_and_among_others(text_model: Embedder) -> None:
    texts = ["User is allergic to peanuts", "", "ein Frosch", "BONK wif pepe", "word " * 700]
    together = text_model.embed_texts(texts)
    assert together.shape == (5, text_model.dimensions) == (5, 384)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(together[::-1], text_model.embed_texts(texts[::-1]))
    assert text_model.embed_texts([]).shape == (0, 384)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("a frog with a crown", 1), ("", 1), ("42 !", 1), ("戴皇冠的青蛙", 0), ("лягушка", 0),
        ("pepe", 0.3), ("frog pepe", 0.65),
    ],
)  # fmt: skip
def test_minilm_reads_words_of_its_vocabulary_and_others_in_pieces(text: str, share: float) -> None:
    assert MiniLM().shares_read([text]) == pytest.approx([share])


@pytest.mark.parametrize(
    ("text", "is_foreign"),
    [
        ("ein Frosch mit einer Krone", True), ("Frühstück", True), ("戴皇冠的青蛙", True), ("王冠", True),
        ("a frog with a crown", False), ("xqzvkj", False), ("asdfgh qwerty", False), ("", False),
        ("שלום עולם", False),
    ],
)  # fmt: skip
def test_texts_of_languages_that_the_model_reads_are_told_from_nonsense(text: str, is_foreign: bool) -> None:
    model = open_embedder(OFFLINE)
    assert isinstance(model, ForeignReader)
    assert model.is_foreign(text) is is_foreign


def test_texts_with_similar_meaning_are_closer_than_others(offline: Embedder) -> None:
    dog, puppy, tax = offline.embed_texts(["a dog on the moon", "a puppy in space", "a tax return"])
    assert dog @ puppy > dog @ tax + 0.2


def drawn(what: str) -> Image.Image:
    """A simple drawing."""
    image = Image.new("RGB", (512, 512), "white")
    pen = ImageDraw.Draw(image)
    if what == "a smiling face":
        pen.ellipse((60, 60, 450, 450), fill=(255, 220, 60), outline="black", width=8)
        pen.ellipse((170, 170, 210, 230), fill="black")
        pen.ellipse((300, 170, 340, 230), fill="black")
        pen.arc((150, 180, 360, 370), 20, 160, fill="black", width=16)
    elif what == "a house":
        pen.rectangle((130, 240, 390, 450), fill=(220, 180, 120), outline="black", width=8)
        pen.polygon(((100, 240), (256, 90), (412, 240)), fill=(190, 60, 50), outline="black")
        pen.rectangle((220, 330, 290, 450), fill=(110, 70, 40))
        pen.rectangle((150, 270, 205, 320), fill=(150, 210, 240))
    else:
        corners = np.arange(10)
        radii = np.where(corners % 2, 80, 200)
        across, up = radii * np.sin(corners * np.pi / 5), radii * np.cos(corners * np.pi / 5)
        star = list(zip((256 + across).tolist(), (256 - up).tolist(), strict=True))
        pen.polygon(star, fill=(255, 210, 0), outline="black")
    return image


def test_drawings_are_found_by_what_they_show(offline: Embedder) -> None:
    """Without what clip art teaches, the star is a smiling face."""
    names = ["a smiling face", "a house", "a star"]
    asked = offline.embed_texts(names) * offline.cross_modal_scale
    found = asked @ offline.embed_images([drawn(name) for name in names]).T
    assert found.argmax(axis=1).tolist() == [0, 1, 2]


def test_similar_pictures_are_closer_than_others(offline: Embedder) -> None:
    red, smaller, grey = offline.embed_images(
        [picture("red"), picture("red").resize((300, 300)), Image.new("RGB", (512, 512), "grey")]
    )
    assert red @ smaller > 0.9 > red @ grey


@pytest.mark.slow
def test_a_vector_does_not_depend_on_the_rest_of_its_batch(offline: Embedder) -> None:
    texts = ["short", "a sentence of some more words than that", "word " * 700]
    together = offline.embed_texts(texts)
    alone = np.concatenate([offline.embed_texts([text]) for text in texts])
    assert together == pytest.approx(alone, abs=1e-5)
    images = [picture("red"), picture("blue")]
    assert offline.embed_images(images)[1] == pytest.approx(offline.embed_images(images[1:])[0], abs=1e-5)


def test_transparent_grey_and_palette_pictures_are_embedded_on_white(offline: Embedder) -> None:
    clear = Image.new("RGBA", (512, 512), (255, 0, 0, 0))
    ImageDraw.Draw(clear).ellipse((100, 150, 400, 380), fill="blue")
    forms = [picture("blue"), clear, picture("blue").quantize(16)]
    assert cosines(offline.embed_images(forms)).min() > 0.98
    assert offline.embed_images([picture("blue").convert("L")]).shape == (1, 768)


def test_the_white_frame_that_the_library_adds_changes_nothing(offline: Embedder) -> None:
    long = Image.linear_gradient("L").convert("RGB").resize((300, 160))
    framed = Image.new("RGB", (512, 512), "white")
    framed.paste(long.resize((512, 273)), (0, 119))
    plain, padded = offline.embed_images([long.resize((512, 273)), framed])
    assert plain @ padded > 0.98


def test_a_colour_finds_the_picture_of_that_colour(offline: Embedder) -> None:
    colours = ["red", "green", "blue", "yellow"]
    texts = offline.embed_texts([f"something on a {colour} background" for colour in colours])
    pictures = offline.embed_images(
        [Image.new("RGB", (128, 128), {"green": "forestgreen"}.get(colour, colour)) for colour in colours]
    )
    assert (texts @ pictures.T).argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_a_fingerprint_is_stable_and_differs_between_models(offline: Embedder) -> None:
    assert offline.fingerprint == open_embedder(OFFLINE).fingerprint
    assert offline.fingerprint != open_embedder("sentence-transformers:all-MiniLM-L6-v2").fingerprint


@pytest.mark.parametrize("colour", COLOURS)
def test_a_picture_of_one_colour_has_that_colour_alone(colour: str) -> None:
    found = dict(zip(COLOURS, colour_shares(Image.new("RGB", (64, 64), COLOURS[colour])), strict=True))
    assert {name for name, share in found.items() if share} == {colour}
    assert found[colour] == 1


def test_shares_follow_the_area() -> None:
    image = Image.new("RGB", (96, 96), "black")
    image.paste("white", (0, 0, 96, 24))
    found = dict(zip(COLOURS, colour_shares(image), strict=True))
    assert (found["white"], found["black"]) == (0.25, 0.75)
