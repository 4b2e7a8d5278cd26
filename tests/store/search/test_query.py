"""Which queries are valid, and their default weights."""

from dataclasses import replace

import pytest

from store.errors import InvalidRecord
from store.records import FACETS
from store.search.query import Part, Query

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


def test_all_weights_may_be_zero() -> None:
    assert not any(Query((FROG,), weights={}).sliders.values())


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


def test_every_kind_of_part_has_a_default_for_every_facet() -> None:
    for part in (FROG, Part(image=b"jpg"), Part(like=COIN)):
        assert tuple(Query((part,)).sliders) == FACETS
