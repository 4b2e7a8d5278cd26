"""Names that look or read like another, and where two names differ, character by character."""

import pytest

from store.catalog.confusables import compared_names, spelling


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Doge", "DOGE"),
        ("Doge", "D\u200bo\u00adge"),  # invisible characters
        ("Doge", "𝕯𝖔𝖌𝖊"),
        ("Doge", "ＤＯＧＥ"),
        ("dog  wif hat", " Dog wif\that "),
        ("❤\ufe0f", "❤"),
    ],
)
def test_case_width_fonts_and_invisible_characters_do_not_matter(one: str, other: str) -> None:
    assert spelling(one, "").name == spelling(other, "").name


@pytest.mark.parametrize(
    ("original", "trick"),
    [
        ("Pepe", "Рере"),  # Cyrillic
        ("PEPE", "ΡΕΡΕ"),  # Greek
        ("HOBA", "НОВА"),
        ("Bonk", "BØNK"),
        ("Solana", "SoIana"),
        ("Shiba Moonwalk", "Sh1ba M00nwalk"),
        ("Cash", "Ca$h"),
        ("dogwifhat", "dog wif-hat"),
        ("Café", "Cafe"),
        ("modern", "rnodern"),
        ("Golden Shiba", "Golden Shibaa"),
        ("Doge", "Doge 🚀"),
    ],
)
def test_look_alike_names_differ_but_share_a_skeleton(original: str, trick: str) -> None:
    one, other = spelling(original, ""), spelling(trick, "")
    assert one.name != other.name
    assert one.name_skeleton == other.name_skeleton


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Coin 1", "Coin 11"),
        ("Coin 6", "Coin 9"),
        ("Doge", "Dove"),
        ("柴犬", "柴犬币"),
        ("🐸", "🚀"),
        ("कि", "का"),
        ("क्क", "कक"),
    ],
)
def test_different_names_stay_different(one: str, other: str) -> None:
    assert spelling(one, "").name_skeleton != spelling(other, "").name_skeleton


def test_a_dollar_sign_does_not_change_a_ticker() -> None:
    assert spelling("", " $WIF").ticker == spelling("", "wif").ticker
    assert spelling("", "W1F").ticker != spelling("", "WIF").ticker
    assert spelling("", "W1F").ticker_skeleton == spelling("", "WIF").ticker_skeleton


def test_repeated_letters_make_a_ticker_different() -> None:
    assert spelling("", "BOO").ticker_skeleton != spelling("", "BO").ticker_skeleton


def marked(one: str, other: str) -> tuple[str, list[str]]:
    """The marked characters of the first name, and the notes about them."""
    mine, _ = compared_names(one, other)
    return "".join(piece.text for piece in mine if piece.differs), [
        piece.note for piece in mine if piece.note
    ]


@pytest.mark.parametrize(
    ("one", "other", "marks", "notes"),
    [
        ("Рepe", "Pepe", "Р", ["cyrillic capital letter er, read as p"]),
        ("Sh1ba M00n", "Shiba Moon", "100", ["digit one, read as l", *["digit zero, read as o"] * 2]),
        ("Ca$h", "cash", "$", ["dollar sign, read as s"]),
        ("Pe\u200bpe", "Pepe", "▯", ["zero width space, invisible"]),
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
    mine, theirs = compared_names("Рepe the Frog", "Pepe, Frog!")
    assert "".join(piece.text for piece in mine) == "Рepe the Frog"
    assert "".join(piece.text for piece in theirs) == "Pepe, Frog!"
