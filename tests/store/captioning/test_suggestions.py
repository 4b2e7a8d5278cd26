"""Suggestions without a language model: tags of the taxonomy and phrases of similar coins, marked as such."""

from store.captioning.suggestions import nearest_texts, suggest_nearest
from store.library import Library
from tests.store.conftest import address, approved_with_caption, coin, normal_picture


def test_suggestions_use_phrases_and_tags_of_similar_coins_and_name_the_model(library: Library) -> None:
    library.promote(approved_with_caption(library, 0, 1))
    twin = coin(9, tags=[])
    library.add([type(twin)(twin.item, twin.sidecar, normal_picture(0))])
    assert suggest_nearest(library, address(9)) >= 4
    entities = [one for one in library.suggestions.of(address(9)) if one.facet == "entity"]
    assert [one.text for one in entities] == ["text 0 entity", "text 1 entity"], (
        "the nearest first, not joined"
    )
    assert [one.model for one in entities] == [
        f"nearest · hashed · {library.get(address(n)).name}" for n in (0, 1)
    ]
    found = {one.facet: one for one in library.suggestions.of(address(9))}
    assert found["tags"].tags[0] == "dog", "both of its look-alikes carry it"
    assert found["tags"].model == "nearest · hashed"
    assert suggest_nearest(library, address(9)) >= 4
    assert len(library.suggestions.of(address(9))) == 7, "the earlier ones are replaced"
    assert {one.prompt for one in found.values()} == {""}
    assert library.get(address(9)).caption == {}


def test_an_empty_library_suggests_only_tags(library: Library) -> None:
    library.add([coin(1, tags=["dog"])])
    found = nearest_texts(library, address(1))
    assert [[*borrowed.texts] for borrowed in found] == [["tags"]]
    assert set(found[0].texts["tags"].split(",")) <= {"cat", "moon"}
