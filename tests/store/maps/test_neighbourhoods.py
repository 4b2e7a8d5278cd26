"""Neighbourhoods are the dense places of a map, named by what sets their coins apart; so are selections."""

from collections.abc import Callable

import numpy as np
import pytest

from store.library import Library
from store.maps import Map
from store.maps.neighbourhoods import common_terms, has_term, neighbourhoods, sample
from store.records import Record

RANDOM = np.random.default_rng(4)
SUBJECTS = ("frog", "rocket", "pizza")


def record(number: int, subject: str) -> Record:
    caption = {"entity": f"A happy {subject} coin", "context": "everybody is happy about this meme"}
    return Record(
        {"token_address": f"local-{number}", "tags": [subject, "happy"], "caption": caption}, "library"
    )


def three_places() -> tuple[Map, dict[str, Record]]:
    """Sixty coins of three subjects, each subject at its own place."""
    records = [record(number, SUBJECTS[number % 3]) for number in range(60)]
    middles = np.array([(-0.8, 0), (0.8, 0), (0, 0.9)])[np.arange(60) % 3]
    points = (middles + 0.05 * RANDOM.standard_normal((60, 2))).astype(np.float32)
    addresses = tuple(one.address for one in records)
    return Map("fused", "tsne", addresses, points), {one.address: one for one in records}


def test_each_dense_place_is_named_by_its_own_subject_not_by_what_all_share() -> None:
    chart, records = three_places()
    found = [place for place in neighbourhoods(chart, sample(chart), records) if place.level == 0]
    assert {place.name.split(" · ")[0]: round(place.x, 1) for place in found} == {
        "frog": -0.8,
        "rocket": 0.8,
        "pizza": 0.0,
    }
    assert [place.coins for place in found] == [20, 20, 20]
    assert not any("happy" in place.name.split(" · ")[0] for place in found)


def test_places_inside_a_place_have_other_names() -> None:
    chart, records = three_places()
    names = [place.name for place in neighbourhoods(chart, sample(chart), records)]
    assert len(names) == len(set(names))


def test_coins_without_words_have_places_without_names() -> None:
    chart, _ = three_places()
    assert neighbourhoods(chart, sample(chart), {}) == []


@pytest.mark.usefixtures("without_chroma")
def test_the_job_finds_places_and_looks_again_without_another_layout(
    library: Library, captioned: Callable[..., list[str]]
) -> None:
    library.promote(captioned(*range(12)))
    assert library.maps.neighbourhoods("entity") is None
    layouts = []
    for number in range(2):
        job = library.jobs.start("map", name=f"layout {number}", options={"space": "entity"})
        assert library.jobs.wait(job.id, timeout=60)
        layouts.append(library.maps.of("entity", "tsne").points.tolist())
    assert layouts[0] == layouts[1]
    assert library.maps.neighbourhoods("entity") is not None


def test_terms_that_set_a_selection_apart_are_found_with_their_shares_and_usual_ones_are_not() -> None:
    frogs = [record(number, "frog") for number in range(5)]
    rockets = [record(number, "rocket") for number in range(5, 20)]
    [frog] = common_terms(frogs, [*frogs, *rockets])  # all are happy
    assert (frog.term, frog.share, frog.usual) == ("frog", 1.0, 0.25)
    assert has_term(frogs[0], "frog")
    assert not has_term(rockets[0], "frog")


def test_a_selection_like_everything_else_has_nothing_in_common() -> None:
    frogs = [record(number, "frog") for number in range(8)]
    assert common_terms(frogs[:4], frogs) == []
