"""Where two names differ, character by character."""

import pytest

from store.duplicates.disguises import compared


def marked(one: str, other: str) -> tuple[str, list[str]]:
    """The marked characters of the first name, and the notes about them."""
    mine, _ = compared(one, other)
    return "".join(piece.text for piece in mine if piece.differs), [
        piece.note for piece in mine if piece.note
    ]


@pytest.mark.parametrize(
    ("one", "other", "marks", "notes"),
    [
        ("Рepe", "Pepe", "Р", ["cyrillic capital letter er, read as p"]),
        ("Sh1ba M00n", "Shiba Moon", "100", ["digit one, read as l", *["digit zero, read as o"] * 2]),
        ("Ca$h", "cash", "$", ["dollar sign, read as s"]),
        ("Pe\u200bpe", "Pepe", "▯", ["zero width space, which nobody sees"]),
        ("Doge 1", "Doge 2", "1", []),
        ("DOGE", "Doge", "", []),
        ("Cappy", "Capy", "p", []),
    ],
)
def test_differences_are_marked_and_confusable_characters_are_named(
    one: str, other: str, marks: str, notes: list[str]
) -> None:
    assert marked(one, other) == (marks, notes)


def test_the_pieces_add_up_to_both_names() -> None:
    mine, theirs = compared("Рepe the Frog", "Pepe, Frog!")
    assert "".join(piece.text for piece in mine) == "Рepe the Frog"
    assert "".join(piece.text for piece in theirs) == "Pepe, Frog!"
