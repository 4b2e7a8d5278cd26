"""What the metadata of another program's Chroma mean."""

import pytest

from store.adopting.texts.chroma_entries import tags_of


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        (["dog", " moon ", "dog", 7], ["dog", "moon"]),
        ('["dog", "moon"]', ["dog", "moon"]),
        ("dog, moon", ["dog", "moon"]),
        ("dog;moon", ["dog", "moon"]),
        ("[dog, moon", ["[dog", "moon"]),
        ("[" * 100_000, ["[" * 100_000]),
        (None, []),
    ],
)
def test_tags_of_every_form_are_read(given: object, tags: list[str]) -> None:
    assert tags_of(given) == tags
