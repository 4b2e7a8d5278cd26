"""Tags have categories, free tags are `other`, and a broken taxonomy raises a clear error."""

import json

import pytest

from store.disk.layout import RESOURCES
from store.errors import BadSource
from store.tags.taxonomy import Taxonomy


def taxonomy(folder, entries):
    path = folder / "taxonomy.json"
    path.write_text(json.dumps(entries))
    return Taxonomy.load(path)


def test_a_known_tag_has_its_category_and_a_free_tag_is_other(tmp_path):
    known = taxonomy(tmp_path, {"dog": "animals", "Rocket ": "space"})
    assert known.category("dog") == "animals"
    assert known.category(" DOG ") == "animals"
    assert known.category("rocket") == "space"
    assert known.category("never heard of") == "other"
    assert known.tags == ["dog", "rocket"]


def test_categories_are_unique_and_in_tag_order(tmp_path):
    known = taxonomy(tmp_path, {"dog": "animals", "cat": "animals", "moon": "space"})
    assert known.categories(["moon", "dog", "what", "cat", "ever"]) == ["space", "animals", "other"]
    assert known.categories([]) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"dog": 7}',
        b'{"a,b": "c"}',
        b'{"a": "b,c"}',
        b'{"": "x"}',
        b"\xff",
        b"[" * 100_000,
    ],
    ids=lambda content: repr(content[:12]),
)
def test_the_error_names_a_broken_taxonomy_file(tmp_path, content):
    path = tmp_path / "mine.json"
    path.write_bytes(content)
    with pytest.raises(BadSource, match=r"mine\.json"):
        Taxonomy.load(path)


def test_the_error_names_a_missing_taxonomy_file(tmp_path):
    with pytest.raises(BadSource, match=r"nothing\.json"):
        Taxonomy.load(tmp_path / "nothing.json")


def test_the_bundled_taxonomy_is_readable():
    assert Taxonomy.load(RESOURCES / "taxonomy.json").tags
