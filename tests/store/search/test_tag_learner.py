"""Tags are suggested from a few tagged coins, with a confidence that holds on coins not learned from."""

import numpy as np

from store.search.kernel import Floats, Kernel
from store.search.tag_learner import FEWEST, LEAST, TagLearner

TAGS = ("dog", "cat", "frog")


def coins(count: int, *, noise: float = 0.6) -> tuple[dict[str, Floats], dict[str, str]]:
    """Coins of three kinds, each with a vector around the centre of its kind; and the kind of each."""
    random = np.random.default_rng(0)
    centres = np.random.default_rng(99).normal(size=(len(TAGS), 96))
    kinds = {f"coin{number:03}": TAGS[number % len(TAGS)] for number in range(count)}
    vectors = {}
    for address, kind in kinds.items():
        vector = centres[TAGS.index(kind)] + noise * random.normal(size=96)
        vectors[address] = vector / np.linalg.norm(vector)
    return vectors, kinds


def learned(vectors: dict[str, Floats], tags: dict[str, list[str]]) -> TagLearner:
    kernel = Kernel.of(np.array([vectors[address] for address in tags]))
    return TagLearner(list(tags), kernel, list(tags.values()))


def test_an_untagged_coin_is_suggested_the_tag_of_its_likes_from_few_examples() -> None:
    vectors, kinds = coins(30)
    learner = learned(vectors, {address: [kind] for address, kind in list(kinds.items())[:12]})
    right = 0
    for address, kind in list(kinds.items())[12:]:
        found = learner.suggest(address, vectors[address], [])
        assert all(LEAST <= one.confidence <= 1 for one in found)
        right += bool(found) and found[0].tag == kind
    assert right == 18


def test_tags_that_a_coin_has_are_not_suggested_and_rare_ones_never() -> None:
    vectors, kinds = coins(12)
    tags = {address: [kind, "once"] if address == "coin000" else [kind] for address, kind in kinds.items()}
    learner = learned(vectors, tags)
    assert learner.tags == sorted(TAGS)
    assert "dog" not in [one.tag for one in learner.suggest("coin000", vectors["coin000"], ["dog", "once"])]
    assert learned(vectors, {"coin000": ["dog"]}).suggest("coin003", vectors["coin003"], []) == []
    assert FEWEST == 3


def test_the_confidence_promises_no_more_than_suggestions_keep() -> None:
    vectors, kinds = coins(240, noise=3.0)
    known = dict(list(kinds.items())[:160])
    learner = learned(vectors, {address: [kind] for address, kind in known.items()})
    said, right = [], []
    for address, kind in kinds.items():
        if address not in known:
            for one in learner.suggest(address, vectors[address], []):
                said.append(one.confidence)
                right.append(one.tag == kind)
    assert len(said) > 40
    assert 0.4 < np.mean(said) < np.mean(right) + 0.05


def test_a_coin_that_lacks_a_tag_is_judged_without_its_own_tags() -> None:
    vectors, kinds = coins(30)
    tags = {address: [kind] for address, kind in kinds.items()}
    tags["coin000"] = ["cat"]  # mistaken: it looks like a dog
    found = learned(vectors, tags).suggest("coin000", vectors["coin000"], ["cat"])
    assert [one.tag for one in found][:1] == ["dog"]
