"""Words and stems: one word for singular and plural, tags for the search only."""

from store.catalog.filters import Filter
from store.catalog.words import content_words, forms
from store.library import Library
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
