"""Captions that say nothing, by their words, in small and large libraries, and after changes."""

import pytest

from store.catalog import silent_captions
from store.catalog.silent_captions import SilentCaptions
from store.library import Library
from tests.store.conftest import address, approved_with_caption

TELLS = "a green frog in the rain"


@pytest.fixture
def silent(library: Library) -> SilentCaptions:
    library.promote(approved_with_caption(library, *range(8)))
    return SilentCaptions(library.catalog)


def caption(library: Library, number: int, text: str) -> None:
    """The same text for every facet."""
    library.caption(address(number), caption=dict.fromkeys(("entity", "context", "visual"), text))


@pytest.mark.parametrize(
    "text",
    ["A meme coin.", "coin 17", "Community driven token on Solana!", "0x12ab", "…", "Coin 0", "C0"],
)
def test_name_numbers_and_words_of_any_coin_say_nothing(
    library: Library, silent: SilentCaptions, text: str
) -> None:
    for number in range(8):
        caption(library, number, f"{TELLS} {chr(97 + number)}x")
    caption(library, 0, text)
    assert silent.current() == {address(0)}


@pytest.mark.parametrize("text", [TELLS, "a frog coin", "frog", "蛙"])
def test_one_word_of_its_own_says_something(library: Library, silent: SilentCaptions, text: str) -> None:
    caption(library, 0, text)
    assert address(0) not in silent.current()


def test_one_facet_that_says_something_is_enough(library: Library, silent: SilentCaptions) -> None:
    caption(library, 0, "A meme coin.")
    library.caption(address(0), caption={"visual": TELLS})
    assert address(0) not in silent.current()


def test_the_same_sentence_for_many_coins_says_nothing(library: Library, silent: SilentCaptions) -> None:
    for number in range(8):
        caption(library, number, TELLS if number < 5 else f"a blue whale under waves {chr(97 + number)}x")
    assert silent.current() == {address(number) for number in range(5)}
    caption(library, 0, "a red fox on a hill")
    assert address(0) not in silent.current()


def test_a_label_that_many_coins_share_says_something(library: Library, silent: SilentCaptions) -> None:
    for number in range(8):
        caption(library, number, "a frog")
    assert silent.current() == frozenset()


def test_a_change_is_seen_and_else_the_answer_is_the_same_object(
    library: Library, silent: SilentCaptions
) -> None:
    for number in range(8):
        caption(library, number, f"{TELLS} {chr(97 + number)}x")
    before = silent.current()
    caption(library, 1, "a red fox")
    assert silent.current() is before
    caption(library, 1, "token 1")
    assert silent.current() == {address(1)}
    library.degrade([address(1)])
    assert silent.current() == frozenset()


def test_of_a_large_library_all_captions_are_read_if_some_say_nothing(
    library: Library, silent: SilentCaptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silent_captions, "_READ", 4)
    for number in range(8):
        caption(library, number, f"{TELLS} {chr(97 + number)}x" if number % 4 != 1 else "A meme coin.")
    assert SilentCaptions(library.catalog).current() == {address(1), address(5)}
    monkeypatch.setattr(silent_captions, "MOST", 7)
    assert SilentCaptions(library.catalog).current() == frozenset()
