"""Words that carry meaning, misspelt ones, emoji by their names, and languages by their letters."""

import pytest

from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.catalog.words import (
    LANGUAGES,
    cjk_pairs,
    cjk_runs,
    content_words,
    distance,
    forms,
    in_words,
    join_cjk_lines,
    without_cjk,
    words_in,
)
from store.library import Library
from store.reading import statistics
from store.search.query import Query
from store.search.query_syntax import read
from tests.store.conftest import coin


def test_plural_and_singular_are_one_word() -> None:
    assert {"frog", "frogs"} <= set(forms("frog")) & set(forms("frogs"))
    assert "puppy" in forms("puppies")
    assert "boxes" in forms("box")
    assert content_words("The frogs of the RAIN, and 🐸!") == ("frogs", "rain", "frog")


def test_tags_are_indexed_for_search_but_not_for_the_word_filter(library: Library) -> None:
    library.add([coin(1, tags=["hoodie"])])
    with library.catalog.reading() as db:
        assert db.execute("SELECT count(*) FROM words WHERE words MATCH 'hoodie'").fetchone()[0] == 1
    assert library.count(Filter(words="hoodie")) == 0


def test_distance_counts_insertions_deletions_substitutions_and_swaps() -> None:
    assert [distance("frog", other) for other in ("frog", "frg", "froog", "frag", "frgo", "dogs")] == [
        0, 1, 1, 1, 1, 3,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("🐸", "frog"), ("🚀 to the 🌕", "rocket to the full moon"), ("👏🏽", "clapping hands sign"),
        ("🇺🇸", "us"), ("DOGE™ café", "DOGE™ café"), ("\u200d", "\u200d"), ("👨‍👩‍👧", "man woman girl"),
    ],
)  # fmt: skip
def test_an_emoji_is_replaced_by_its_name(text: str, message: str) -> None:
    assert in_words(text) == message


@pytest.mark.slow
def test_an_emoji_finds_the_same_coins_as_its_name(demo_library: Library) -> None:
    from store.reading.query_binding import parts_of

    parts, faults = parts_of(demo_library, read("🐸"), pictures=lambda name: None)
    assert not faults
    found = demo_library.search(Query(parts, top=5, fused=True))
    assert all("frog" in one.tags for one in demo_library.records(hit.address for hit in found.hits))


NAMES = {
    "latin": "Käsehund",
    "chinese": "狗币",
    "japanese": "柴犬コイン",
    "korean": "강아지",
    "cyrillic": "Собака",
    "arabic": "كلب",
    "thai": "สุนัข",
    "hebrew": "כלב",
    "greek": "Σκύλος",
    "devanagari": "कुत्ता",
}
pytestmark = pytest.mark.usefixtures("without_chroma")


def test_each_language_finds_the_coin_with_its_letters_alone(library: Library) -> None:
    library.add(coin(number, token_name=name) for number, name in enumerate(NAMES.values()))
    found = {language: library.find(parsed(f"language:{language}").filter) for language in LANGUAGES}
    assert {language: [one.name for one in coins] for language, coins in found.items()} == {
        language: [name] for language, name in NAMES.items()
    }
    assert statistics.languages(library, Filter()) == dict.fromkeys(LANGUAGES, 1)
    assert statistics.languages(library, Filter(language="thai")) == {"thai": 1}


def test_a_language_that_is_not_known_is_named_with_those_that_are() -> None:
    [fault] = parsed("language:klingon").faults
    assert "latin, chinese" in fault


def test_words_are_found_in_the_singular_and_the_plural() -> None:
    assert words_in("Lamps of the city.", ("lamp", "cities", "deep")) == ("lamp", "cities")


def test_runs_and_their_pairs() -> None:
    assert cjk_runs("API 错误 and 再起動") == ["错误", "再起動"]
    assert cjk_pairs("API 错误 and 再起動 猫") == ("错误", "再起", "起動", "猫")
    assert without_cjk("API 错误 now").split() == ["API", "now"]


def test_lines_are_joined_without_a_space_where_a_sentence_goes_on() -> None:
    assert join_cjk_lines("备份保存\n九十天。\n下一句") == "备份保存九十天。\n下一句"
    assert join_cjk_lines("two\nwords 和\nmore") == "two\nwords 和\nmore"
