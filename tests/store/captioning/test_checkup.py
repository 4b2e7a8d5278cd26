"""Caption QA finds exactly the captions that need attention, each with its reason."""

import time

import pytest

from store.captioning import checkup
from store.captioning.checkup import CheckUp, Kind, overlap, repeats, words_of
from store.library import Library
from store.progress import Progress
from store.tags.taxonomy import Taxonomy
from tests.store.conftest import address, approved_with_caption, coin

pytestmark = pytest.mark.usefixtures("without_chroma")
GOOD = {
    "entity": "A frog in a raincoat stands on a lily pad",
    "context": "Plays on the falling market as bad weather",
    "visual": "Flat pixel art",
    "emotions": "",
}


def found(library: Library, kind: Kind) -> dict[str, str]:
    """The reason for each address with a finding of this kind."""
    taxonomy = Taxonomy.load(library.layout.taxonomy)
    return {finding.address: finding.reason for finding in CheckUp(library).findings(taxonomy)[kind]}


def write(library: Library, number: int, **caption: str) -> str:
    library.add([coin(number)])
    library.approve([address(number)])
    library.caption(address(number), caption={**GOOD, **caption})  # type: ignore[dict-item]
    return address(number)


def test_a_good_caption_has_no_findings(library: Library) -> None:
    write(library, 0)
    assert found(library, "lacking") == found(library, "unwritten") == found(library, "short") == {}
    assert found(library, "long") == found(library, "repeated") == found(library, "tags") == {}


def test_a_facet_declared_empty_is_not_missing(library: Library) -> None:
    declared = write(library, 0, visual="")
    library.caption(declared, caption={"emotions": None})
    library.add([coin(1), coin(2)])
    library.approve([address(1)])
    assert found(library, "lacking") == {address(1): "lacks entity and context"}, (
        "pending ones wait for review"
    )
    (why,) = found(library, "unwritten").values()
    assert why.startswith("emotions neither")


def test_short_and_long_captions_and_unknown_tags_are_found(library: Library) -> None:
    short = write(library, 0, entity="A frog")
    long = write(library, 1, entity="word " * 100)
    library.edit_tags([long], add=["gone"])
    assert found(library, "short") == {short: "2 words"}
    assert found(library, "long") == {long: "102 tokens, the model reads 77 at once"}
    assert found(library, "tags") == {long: "not in the taxonomy: gone"}


def test_repeated_texts_are_found_within_a_caption_and_across_the_library(library: Library) -> None:
    frog, same = write(library, 0), write(library, 1, context="Something wholly different this time round")
    within = write(
        library, 2, entity="the falling market as weather", context="The falling market, as weather!"
    )
    why = found(library, "repeated")
    assert why[frog] == why[same] == "the same words as another"
    assert why[within] == "says the same as its own entity"


def test_captions_that_fit_their_picture_least_come_first(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkup, "AT_ODDS", 0.0)  # these pictures have nothing to do with their captions
    addresses = approved_with_caption(library, *range(26))
    library.promote(addresses[6:])
    assert set(found(library, "picture")) < set(addresses[6:])
    library._prefetcher.embed_next(Progress())  # embed approved pictures too
    taxonomy = Taxonomy.load(library.layout.taxonomy)
    listed = CheckUp(library).findings(taxonomy)["picture"]
    assert {one.address for one in listed} & set(addresses[:6])
    assert [one.order for one in listed] == sorted(one.order for one in listed)
    assert 0 < len(listed) < 26


def test_findings_follow_every_change(library: Library) -> None:
    check, taxonomy = CheckUp(library), Taxonomy.load(library.layout.taxonomy)
    short = write(library, 0, entity="A frog")
    assert [finding.address for finding in check.findings(taxonomy)["short"]] == [short]
    library.caption(short, caption={"entity": GOOD["entity"]})
    assert check.findings(taxonomy)["short"] == []


def test_repeats_match_a_comparison_of_all_pairs() -> None:
    texts = {n: words_of(" ".join(f"w{(n * k * k + k) % 13}" for k in range(1, 7))) for n in range(300)}
    alike = {
        one
        for one, own in texts.items()
        for other, bag in texts.items()
        if one != other and overlap(own, bag) >= 0.8
    }
    assert repeats(texts).keys() == alike
    assert all(overlap(texts[one], texts[other]) == share for one, (other, share) in repeats(texts).items())


def test_ten_thousand_similar_captions_are_compared_within_five_seconds() -> None:
    texts = {n: words_of(f"logo of the token number x{n} on a chain") for n in range(10_000)}
    began = time.process_time()
    assert len(repeats(texts)) in (0, 10_000)
    assert time.process_time() - began < 5
