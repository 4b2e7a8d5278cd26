"""Which languages the models read, by the writing of a text."""

import pytest

from store.embedding.languages import not_read, unread_language
from store.embedding.universal_sentence import NAME

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
    assert unread_language(text, "offline") == language
    assert unread_language(text, "litellm:any") == "", "nothing is known of it"


def test_the_sentence_names_a_model_that_reads_it() -> None:
    assert "all-MiniLM-L6-v2 does not read Chinese" in not_read("安娜对花生过敏", MINI)
    assert NAME in not_read("安娜对花生过敏", MINI)
    assert not_read("安娜对花生过敏", NAME) == ""
    assert not_read("שלום עולם", NAME) == (
        "multilingual-v3 does not read Hebrew: words are found, meaning is not"
    )
