"""Coins of every tier are suggested the tags of library coins that they resemble."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from store.catalog.filters import Filter
from store.library import Library
from store.progress import Progress
from store.records import Facet
from store.runtime import open_library
from store.search import tag_suggestions
from store.search.tag_suggestions import FEWEST, LEAST, Floats, Kernel, TagLearner, TagSuggestions
from store.tasks import tags
from store.vectors.matrices import VectorSnapshot
from tests.length import repeated
from tests.store.conftest import address, coin, create_in_tier, written
from tests.store.search.test_picture_similarity import RedAngleEmbedder, shade


def unit(random: np.random.Generator, count: int) -> Floats:
    rows = random.normal(size=(count, 12))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def is_as_from_nothing(found: Kernel) -> bool:
    plain = Kernel.of(found.vectors)
    return np.allclose(found.similarities, plain.similarities) and np.allclose(found.inverse, plain.inverse)


def test_after_any_changes_it_is_as_if_computed_from_nothing() -> None:
    random = np.random.default_rng(0)
    found = Kernel.of(unit(random, 0))
    for most in (30, *[3] * 40, 0, 60, 1):
        there = len(found.vectors)
        kept = np.sort(random.permutation(there)[random.integers(0, most + 1) :])
        others = unit(random, int(random.integers(0, most + 2)))
        expected = np.concatenate([found.vectors[kept], others])
        found = found.renewed(kept, others)
        assert np.array_equal(found.vectors, expected)
        assert is_as_from_nothing(found)


def test_few_changes_invert_few_rows_and_many_begin_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random, inverted = np.random.default_rng(0), []
    invert = tag_suggestions._inverted
    found = Kernel.of(unit(random, 50))
    monkeypatch.setattr(tag_suggestions, "_inverted", lambda rows: inverted.append(len(rows)) or invert(rows))
    for _ in range(26):
        found = found.renewed(np.arange(1, 50), unit(random, 1))
    assert inverted == [*[1] * 24, 50, 1]


TAGS = ("dog", "cat", "frog")
ROUNDS = repeated(80, least=25)  # of random changes


def coins(count: int, *, noise: float = 0.6) -> tuple[dict[str, Floats], dict[str, str]]:
    """Coins of three kinds, each with a vector around the centre of its kind; and the kind of each."""
    random = np.random.default_rng(0)
    centres = np.random.default_rng(99).normal(size=(len(TAGS), 96))
    kinds = {f"coin{number:03}": TAGS[number % len(TAGS)] for number in range(count)}
    vectors = {}
    for key, kind in kinds.items():
        vector = centres[TAGS.index(kind)] + noise * random.normal(size=96)
        vectors[key] = vector / np.linalg.norm(vector)
    return vectors, kinds


def learned(vectors: dict[str, Floats], tags: dict[str, list[str]]) -> TagLearner:
    kernel = Kernel.of(np.array([vectors[key] for key in tags]))
    return TagLearner(list(tags), kernel, list(tags.values()))


def test_an_untagged_coin_is_suggested_the_tag_of_its_likes_from_few_examples() -> None:
    vectors, kinds = coins(30)
    learner = learned(vectors, {key: [kind] for key, kind in list(kinds.items())[:12]})
    right = 0
    for key, kind in list(kinds.items())[12:]:
        found = learner.suggest(key, vectors[key], [])
        assert all(LEAST <= one.confidence <= 1 for one in found)
        right += bool(found) and found[0].tag == kind
    assert right == 18


def test_tags_that_a_coin_has_are_not_suggested_and_rare_ones_never() -> None:
    vectors, kinds = coins(12)
    tags = {key: [kind, "once"] if key == "coin000" else [kind] for key, kind in kinds.items()}
    learner = learned(vectors, tags)
    assert learner.tags == sorted(TAGS)
    assert "dog" not in [one.tag for one in learner.suggest("coin000", vectors["coin000"], ["dog", "once"])]
    assert learned(vectors, {"coin000": ["dog"]}).suggest("coin003", vectors["coin003"], []) == []
    assert FEWEST == 3


def test_the_confidence_promises_no_more_than_suggestions_keep() -> None:
    vectors, kinds = coins(240, noise=3.0)
    known = dict(list(kinds.items())[:160])
    learner = learned(vectors, {key: [kind] for key, kind in known.items()})
    said, right = [], []
    for key, kind in kinds.items():
        if key not in known:
            for one in learner.suggest(key, vectors[key], []):
                said.append(one.confidence)
                right.append(one.tag == kind)
    assert len(said) > 40
    assert 0.4 < np.mean(said) < np.mean(right) + 0.05


def test_a_coin_that_lacks_a_tag_is_judged_without_its_own_tags() -> None:
    vectors, kinds = coins(30)
    tags = {key: [kind] for key, kind in kinds.items()}
    tags["coin000"] = ["cat"]  # mistaken: it looks like a dog
    found = learned(vectors, tags).suggest("coin000", vectors["coin000"], ["cat"])
    assert [one.tag for one in found][:1] == ["dog"]


RED, DARK, UNKNOWN = address(20), address(21), address(22)
pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.fixture
def library(root: Path) -> Iterator[Library]:
    """Six red and six dark coins in the library, tagged; one more of each that is pending."""
    with open_library(root, embedder=RedAngleEmbedder()) as library:
        reds = {number: 200 + number for number in range(6)}
        darks = {number: number for number in range(6, 12)}
        library.add(shade(number, red) for number, red in {**reds, **darks, 20: 206, 21: 5}.items())
        inside = [address(number) for number in (*reds, *darks)]
        library.approve(inside)
        for one in inside:
            library.caption(one, caption=written(f"text of {one}"))
        library.promote(inside)
        library.edit_tags([address(number) for number in reds], add=["ruby"])
        library.edit_tags([address(number) for number in darks], add=["night"])
        library._prefetcher.embed_next(Progress())
        yield library


def suggested(library: Library, *addresses: str) -> dict[str, list[str]]:
    found = library.suggested_tags(library.records(addresses))
    return {one: [each.tag for each in suggestions] for one, suggestions in found.items()}


def test_pending_coins_are_suggested_the_tags_of_library_coins_with_similar_pictures(
    library: Library,
) -> None:
    assert suggested(library, RED, DARK, UNKNOWN) == {RED: ["ruby"], DARK: ["night"]}


def test_a_tag_that_a_coin_has_is_not_suggested_and_new_tags_are_learned(library: Library) -> None:
    assert suggested(library, address(0)) == {address(0): []}
    library.edit_tags([address(0)], remove=["ruby"], add=["odd"])
    assert suggested(library, address(0)) == {address(0): ["ruby"]}


def _add(library: Library, one: str, random: Random) -> None:
    create_in_tier(library, "library", random.randrange(100, 10**9))


def _tag(library: Library, one: str, random: Random) -> None:
    library.edit_tags([one], add=random.sample(["dog", "cat", "moon", "frog"], 2))


def _untag(library: Library, one: str, random: Random) -> None:
    library.edit_tags([one], remove=library.get(one).tags)


def _rename(library: Library, one: str, random: Random) -> None:
    tags.rename(library, dict([random.sample(["dog", "cat", "moon", "frog"], 2)]))


def _delete(library: Library, one: str, random: Random) -> None:
    library.delete([one])
    library.trash.empty(expected=library.count(Filter(tier="trash")))


CHANGES: tuple[Callable[[Library, str, Random], object], ...] = (
    _add,
    _tag,
    _tag,
    _untag,
    _rename,
    _delete,
    lambda library, one, random: library.delete([one]),
    lambda library, one, random: library.degrade([one]),
    lambda library, one, random: library.caption(one, caption=written(f"text {random.random()}")),
    lambda library, one, random: library.add([coin(random.randrange(100, 10**9))]),
    lambda library, one, random: library.undo(random.randrange(1, 4)),
)


@pytest.mark.parametrize("largest", [12, 1_500])
def test_after_any_changes_tags_are_suggested_as_if_all_were_learned_from_nothing(
    library: Library, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tag_suggestions, "_LARGEST", largest)
    create_in_tier(library, "library", *range(40, 60))
    random, seen = Random(1), 0
    for _ in range(ROUNDS):
        inside = library.addresses(Filter(tier="library"))
        random.choice(CHANGES)(library, random.choice(inside), random)
        library._prefetcher.embed_next(Progress())
        records = library.find(Filter())
        from_nothing = TagSuggestions(
            library._pictures, snapshot=library.snapshot, sample=library.tagged_sample
        )
        expected, found = from_nothing.of(records), library.suggested_tags(records)
        assert found.keys() == expected.keys()
        for one, suggestions in expected.items():
            assert [each.tag for each in found[one]] == [each.tag for each in suggestions]
            confidences = [each.confidence for each in suggestions]
            assert [each.confidence for each in found[one]] == pytest.approx(confidences)
            seen += len(suggestions)
    assert seen > ROUNDS


def test_a_change_reads_the_vectors_of_the_coins_that_it_concerns(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggested(library, address(0), RED)
    read: list[int] = []
    side_by_side = tag_suggestions.side_by_side

    def counted(snapshot: VectorSnapshot, rows: NDArray[np.intp], facets: Sequence[Facet]) -> Floats:
        read.append(len(rows))
        return side_by_side(snapshot, rows, facets)

    monkeypatch.setattr(tag_suggestions, "side_by_side", counted)
    library.reject([DARK])
    suggested(library, address(0), RED)
    assert read == [1], "of the coin itself"
    library.edit_tags([address(1), address(2)], add=["odd"])
    suggested(library, address(0), RED)
    assert read == [1, 1, 2, 2], "of the coin itself; and of the two, by all facets and by picture"
