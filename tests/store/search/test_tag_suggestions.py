"""Tags are suggested from a few tagged coins, with a confidence that holds on coins not learned from."""

import numpy as np

from store.records import FACETS
from store.search.tag_suggestions import FEWEST, LEAST, TagLearner
from store.vectors.blocks import VectorSnapshot
from store.vectors.matrices import load

TAGS = ("dog", "cat", "frog")


def coins(count: int, *, seed: int = 0, noise: float = 0.6) -> tuple[VectorSnapshot, dict[str, str]]:
    """Coins of three kinds, whose vectors lie around those of their kind; and the kind of each."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(len(TAGS), 32))
    kinds = {f"coin{number:03}": TAGS[number % len(TAGS)] for number in range(count)}
    rows = []
    for address, kind in kinds.items():
        vectors = {}
        for facet in FACETS:
            vector = centres[TAGS.index(kind)] + noise * random.normal(size=32)
            vectors[facet] = (vector / np.linalg.norm(vector)).astype(np.float32)
        rows.append((address, vectors))
    return load(rows, dimensions=32, generation=1).snapshot(), kinds


def test_an_untagged_coin_is_suggested_the_tag_of_its_likes_from_few_examples() -> None:
    snapshot, kinds = coins(30)
    learner = TagLearner(snapshot, {address: [kind] for address, kind in list(kinds.items())[:12]})
    right = 0
    for address, kind in list(kinds.items())[12:]:
        found = learner.suggest(address, [])
        assert all(LEAST <= one.confidence <= 1 for one in found)
        right += bool(found) and found[0].tag == kind
    assert right == 18


def test_tags_that_a_coin_has_are_not_suggested_and_rare_ones_never() -> None:
    snapshot, kinds = coins(12)
    tags = {address: [kind, "once"] if address == "coin000" else [kind] for address, kind in kinds.items()}
    learner = TagLearner(snapshot, tags)
    assert learner.tags == sorted(TAGS)
    assert "dog" not in [one.tag for one in learner.suggest("coin000", ["dog", "once"])]
    assert TagLearner(snapshot, {"coin000": ["dog"]}).suggest("coin003", []) == []
    assert FEWEST == 3
    assert learner.suggest("unknown", []) == []


def test_the_confidence_promises_no_more_than_suggestions_keep() -> None:
    snapshot, kinds = coins(240, noise=3.0)
    learned = dict(list(kinds.items())[:160])
    learner = TagLearner(snapshot, {address: [kind] for address, kind in learned.items()})
    said, right = [], []
    for address, kind in kinds.items():
        if address not in learned:
            for one in learner.suggest(address, []):
                said.append(one.confidence)
                right.append(one.tag == kind)
    assert len(said) > 40
    assert 0.4 < np.mean(said) < np.mean(right) + 0.05


def test_a_coin_that_lacks_a_tag_is_judged_without_its_own_tags() -> None:
    snapshot, kinds = coins(30)
    tags = {address: [kind] for address, kind in kinds.items()}
    tags["coin000"] = ["cat"]  # mistaken: it looks like a dog
    assert [one.tag for one in TagLearner(snapshot, tags).suggest("coin000", ["cat"])][:1] == ["dog"]
