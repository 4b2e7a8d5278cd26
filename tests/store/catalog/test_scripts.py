"""Coins are found by the letters of their texts."""

import pytest

from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.catalog.scripts import LANGUAGES
from store.library import Library
from store.reading import statistics
from tests.store.conftest import coin

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
