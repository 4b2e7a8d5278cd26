"""Words that were read as one are found one by one."""

import pytest

from store.pictures.glued_words import taken_apart


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
