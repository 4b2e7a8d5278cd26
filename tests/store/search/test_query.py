"""Which queries are valid, their default weights; saved searches, weights and query pictures, by name."""

import os
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from store.catalog.filters import Filter
from store.errors import BadPicture, InvalidRecord, ReadOnly
from store.library import Library
from store.runtime import open_reader
from store.search import query_pictures
from store.search.query import Part, Query, SavedSearch
from tests.store.conftest import address, coin, normal_picture, picture

COIN = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
FROG = Part(text="frog")


def test_a_text_query_weights_captions_and_not_pictures() -> None:
    assert Query((FROG,)).sliders == {"image": 0, "entity": 4, "context": 3, "visual": 2, "emotions": 1}


def test_a_picture_query_weights_only_pictures() -> None:
    sliders = Query((Part(image=b"jpg"),)).sliders
    assert sliders == {"image": 4, "entity": 0, "context": 0, "visual": 0, "emotions": 0}


@pytest.mark.parametrize("parts", [(Part(like=COIN),), (FROG, Part(image=b"jpg", weight=-1))])
def test_an_example_or_a_text_with_a_picture_weights_every_facet(parts: tuple[Part, ...]) -> None:
    assert Query(parts).sliders == {"image": 4, "entity": 4, "context": 3, "visual": 2, "emotions": 1}


def test_naming_a_facet_gives_it_a_default_weight() -> None:
    of_pictures = Query((Part(text="frog", facets=("image",)),)).sliders
    assert of_pictures == {"image": 4, "entity": 0, "context": 0, "visual": 0, "emotions": 0}
    of_captions = Query((Part(image=b"jpg", facets=("entity", "visual")),)).sliders
    assert of_captions == {"image": 0, "entity": 4, "context": 0, "visual": 2, "emotions": 0}


def test_a_part_of_weight_zero_does_not_affect_the_default_weights() -> None:
    assert Query((FROG, Part(image=b"jpg", weight=0))).sliders == Query((FROG,)).sliders


def test_given_weights_replace_the_default_weights() -> None:
    sliders = Query((FROG,), weights={"visual": 2, "image": 0.5}).sliders
    assert sliders == {"image": 0.5, "entity": 0, "context": 0, "visual": 2, "emotions": 0}


def test_an_address_is_normalised() -> None:
    assert Part(like="0x" + "AB" * 20).like == "0x" + "ab" * 20


def test_facets_are_deduplicated_and_ordered() -> None:
    assert Part(text="frog", facets=("visual", "image", "visual")) == Part(
        text="frog", facets=("image", "visual")
    )


def test_equal_queries_have_equal_hashes_and_other_weights_differ() -> None:
    first = Query((FROG, Part(image=b"jpg")), weights={"image": 1})
    again = Query([Part(text="frog"), Part(image=b"jpg")], weights={"image": 1.0, "visual": 0})  # type: ignore[arg-type]
    assert first == again
    assert hash(first) == hash(again)
    assert replace(first, weights={"image": 2}) != first


def test_the_embedding_key_does_not_depend_on_weight_or_facets() -> None:
    assert Part(text="frog", weight=2).key == Part(text="frog", facets=("image",)).key
    assert len({Part(text=COIN).key, Part(like=COIN).key, Part(image=COIN.encode()).key}) == 3


@pytest.mark.parametrize(
    "number", [float("nan"), float("inf"), -float("inf"), -0.5, 1e300, True, "4", None, 10**400]
)
def test_an_invalid_weight_is_refused_with_the_name_of_its_facet(number: float) -> None:
    with pytest.raises(InvalidRecord, match="weight of visual"):
        Query((FROG,), weights={"visual": number})


def test_an_unknown_facet_is_refused_with_a_list_of_the_facets() -> None:
    with pytest.raises(InvalidRecord, match=r"mood is not a facet.*emotions"):
        Query((FROG,), weights={"mood": 1})  # type: ignore[dict-item]
    with pytest.raises(InvalidRecord, match="mood is not a facet"):
        Part(text="frog", facets=("mood",))  # type: ignore[arg-type]


def test_a_text_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="unpaired surrogate"):
        Part(text="frog \udcff")


@pytest.mark.parametrize("top", [0, -1, 10_001, 2.5, True])
def test_a_number_of_results_out_of_range_is_refused(top: int) -> None:
    with pytest.raises(InvalidRecord, match="ask for 1 to 10,000"):
        Query((FROG,), top=top)


@pytest.mark.parametrize(
    "parts", [(), (Part(text="frog", weight=0), Part(like=COIN, weight=0)), (FROG,) * 33]
)
def test_a_query_without_parts_or_weights_or_with_too_many_parts_is_refused(parts: tuple[Part, ...]) -> None:
    with pytest.raises(InvalidRecord, match=r"needs a text|weighs nothing|at most 32"):
        Query(parts)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"text": "frog", "image": b"jpg"},
        {"text": " \n"},
        {"text": "x" * 20_001},
        {"image": b""},
        {"like": "../../x"},
        {"text": "frog", "facets": ()},
        {"text": "frog", "weight": float("nan")},
        {"text": "frog", "weight": float("-inf")},
    ],
)
def test_an_empty_or_ambiguous_part_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(InvalidRecord):
        Part(**given)  # type: ignore[arg-type]


def test_the_repr_of_a_query_omits_picture_bytes() -> None:
    assert "jpg" not in repr(Query((Part(image=b"jpg"),)))


pytestmark = pytest.mark.usefixtures("without_chroma")


def test_a_saved_search_keeps_its_weights_and_who_viewed_it(library: Library) -> None:
    library.searches.save("  frogs  in rain ", SavedSearch("frog", {"entity": 4.0}))
    library.searches.mark_seen("frogs in rain", actor="ann")
    kept = library.searches.all()["frogs in rain"]
    assert (kept.line, kept.weights, list(kept.looked)) == ("frog", {"entity": 4.0}, ["ann"])
    library.searches.mark_seen("nothing of this name")
    library.searches.delete("frogs in rain")
    assert library.searches.all() == {}
    with pytest.raises(InvalidRecord, match="1 to 60"):
        library.searches.save(" ", SavedSearch("frog"))


def test_only_coins_added_since_the_last_view_are_new(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(0, 1))
    with library.catalog.reading() as db:
        moment = db.execute("SELECT max(moved_at) FROM records").fetchone()[0]
    library.promote(captioned(2))
    assert library.came_since([address(0), address(1), address(2)], moment) == 1


def test_a_coin_that_returns_to_the_library_is_not_new(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(0, 1))
    library.degrade([address(1)])
    with library.catalog.reading() as db:
        moment = db.execute("SELECT max(moved_at) FROM records").fetchone()[0]
    library.degrade([address(0)])
    library.undo()
    assert library.came_since([address(0)], moment) == 0
    library.promote([address(1)])  # it was not there at the last view
    assert library.came_since([address(0), address(1)], moment) == 1


def test_weight_presets_are_saved_by_name_for_all_users(library: Library) -> None:
    library.presets.save("mine", {"visual": 3, "image": 1})
    assert library.presets.all()["mine"] == {
        "image": 1,
        "entity": 0,
        "context": 0,
        "visual": 3,
        "emotions": 0,
    }
    with pytest.raises(InvalidRecord):
        library.presets.save("wrong", {"visual": -1})
    with pytest.raises(InvalidRecord, match="choose another name"):
        library.presets.save("looks", {"visual": 1})  # the page's own, which the evaluation asks by this name
    library.presets.delete("mine")
    assert library.presets.all() == {}


def test_a_query_picture_is_found_by_its_name(library: Library) -> None:
    name = library.samples.store(picture(1))
    assert library.samples.store(normal_picture(1)) != ""
    assert library.samples.get(name) == normal_picture(1)
    assert len(list(library.layout.samples.glob("*.jpg"))) <= 2
    assert library.samples.get("../catalog") is None
    with pytest.raises(BadPicture):
        library.samples.store(b"no picture")


def test_a_query_picture_in_use_is_not_displaced_by_newer_ones(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_pictures, "KEPT", 1)
    searched, written, opened, loose = (library.samples.store(picture(number)) for number in range(4))
    library.searches.save("like it", SavedSearch(f'2 × picture:{searched} − "rain"'))
    library.add([coin(0)])
    library.reject([address(0)], reason=f"found by Picture:{written}")
    for age, name in enumerate((loose, opened, written, searched), start=2):
        long_ago = time.time() - age * query_pictures.OPEN
        os.utime(library.layout.samples / f"{name}.jpg", (long_ago, long_ago))

    assert library.samples.get(opened), "a page that shows it uses it"
    library.samples.store(picture(4))

    kept = {path.stem for path in library.layout.samples.glob("*.jpg")}
    assert kept == {searched, written, opened, query_pictures.named(picture(4))[0]}
    library.searches.delete("like it")
    library.samples.store(picture(5))
    assert library.samples.get(searched) is None, "once nothing asks with it, it goes with the others"


def test_a_reader_cannot_store_query_pictures(library: Library) -> None:
    with open_reader(library.layout.root) as reader:
        assert reader.searches.all() == {}
        with pytest.raises(ReadOnly):
            reader.samples.store(picture(1))


def test_a_quoted_phrase_must_match_as_a_whole(library: Library) -> None:
    library.add([coin(0, description="to the moon"), coin(1, description="the moon to")])
    assert library.addresses(Filter(words='"to the moon"')) == [address(0)]
    assert len(library.addresses(Filter(words="to the moon"))) == 2
