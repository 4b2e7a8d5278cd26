"""The page Insights: its figures, the lines behind its bars, and two sets compared."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.insights import content, figures, spread
from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.evaluation import evaluation, similarity
from store.importing.candidate import Candidate
from store.library import Library
from tests.browser.coins import COINS, DOG, PENDING, UNCAPTIONED
from tests.pages.conftest import opened, rerun, words

ALL = len(COINS) + 2  # one approved, one pending


def bars(app: AppTest) -> list[dict[str, Any]]:
    """All bars that lead to coins: each series with its name, values, lines and texts, without empty bars."""
    found = []
    for spec in (json.loads(chart.proto.spec) for chart in app.get("echarts_chart")):
        for one in (one for one in spec["series"] if one["type"] == "bar"):
            at = 0 if spec["yAxis"]["type"] == "category" else 1  # of the value
            drawn = [row for row in one["data"] if len(row) == 4 and row[2]]
            values, texts, lines = ([row[place] for row in drawn] for place in (at, 2, 3))
            if drawn:
                found.append({"name": one["name"], "values": values, "texts": texts, "lines": lines})
    return found


def coins_of(library: Library, line: str) -> int:
    found = parsed(line)
    assert not found.faults
    return library.count(found.filter)


def test_an_empty_library_says_what_to_do_next(empty: Library) -> None:
    app = opened("insights")
    assert "no coins yet" in words(app)
    links = [str(getattr(link, "label", "")) for link in app.main.get("page_link")]
    assert links == ["Import coins"]


def test_every_bar_leads_to_as_many_coins_as_it_counts(library: Library) -> None:
    library.reject([PENDING.address], reason="two words")
    pages = (opened("insights"), opened("insights", view="Reviewing"))
    checked = 0
    for app in pages:
        for bar in bars(app):
            for line, text in zip(bar["lines"], bar["texts"], strict=True):
                if " per hour" not in text and line and not line.startswith(figures.NAMED):
                    number = text.split(":")[-1].split(" of ")[0] if ":" in text else text
                    assert coins_of(library, line) == int("".join(filter(str.isdigit, number.split()[0])))
                    checked += 1
    assert checked > 10


def test_a_class_of_lengths_or_similarities_leads_to_its_coins(library: Library) -> None:
    app = opened("insights")
    app.session_state["insights-lengths-facet"] = "visual"
    (lengths,) = [bar for bar in bars(rerun(app)) if bar["name"] == "Visual"]
    counts = [coins_of(library, line) for line in lengths["lines"]]
    assert counts == [int(text.split()[0]) for text in lengths["texts"]]
    assert sum(counts) == library.count(Filter(tier="library", having=("visual",)))

    sample = similarity.similarities(library.snapshot(), "entity")
    assert sample is not None
    classes = spread.similarities(sample)
    find = spread.nearest_coins(library, sample)
    assert find is not None
    found = {
        one.line: library.addresses(parsed(find(one.line.removeprefix(figures.NAMED))).filter)
        for one in classes
        if one.line
    }
    assert sum(map(len, found.values())) == len(COINS), "each coin has one nearest"
    shares = [one.value for one in classes if one.line]
    assert [len(coins) for coins in found.values()] == [round(share * len(COINS)) for share in shares]


def test_numbers_that_came_with_coins_are_drawn_by_tier_and_against_each_other(library: Library) -> None:
    addresses = [coin.address for coin in COINS]
    given = {"holders": 5, "market_cap": "1200"}, {"holders": 40}, {"holders": 7_000, "market_cap": "9"}
    known = [{**library.get(one).sidecar, **more} for one, more in zip(addresses, given, strict=False)]
    library.add([Candidate("list", sidecar, b"") for sidecar in known])
    app = opened("insights")
    app.selectbox(key="insights-number").set_value("holders")
    found = [bar for bar in bars(rerun(app)) if "holders:>=" in "".join(bar["lines"])]
    texts = [text for bar in found for text in bar["texts"] if not text.startswith("Library: 0")]
    assert texts == [f"Library: 1 coin of {name}" for name in ("1 to 10", "10 to 100", "1k to 10k")]
    lines = [line for bar in found for line in bar["lines"] if line]
    assert lines[0] == "holders:>=1 holders:<10 tier:library"
    assert [coins_of(library, line) for line in lines] == [1, 1, 1]

    app.selectbox(key="insights-other-number").set_value("market_cap")
    specs = [json.loads(chart.proto.spec) for chart in rerun(app).get("echarts_chart")]
    (dots,) = [spec for spec in specs if any(one["type"] == "scatter" for one in spec["series"])]
    drawn = [row for one in dots["series"] if one["type"] == "scatter" for row in one["data"]]
    assert [(x, y, line) for x, y, _, line in drawn] == [
        (5, 1200, f"address:{addresses[0]}"),
        (7_000, 9, f"address:{addresses[2]}"),
    ]
    assert drawn[0][2] == f"{COINS[0].name}\nHolders 5\nMarket cap 1,200"
    assert (dots["xAxis"]["type"], dots["yAxis"]["type"]) == ("log", "value")


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0, 1.5, 40_000], [0, 1, 10, 100, 1_000, 10_000, 100_000]),
        ([1, 2.4, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ([-300, 700], [-300, -200, -100, 0, 100, 200, 300, 400, 500, 600, 700, 800]),
        ([0, 0.3], [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35]),
        ([0, 0], [0, 1]),
        ([7], [0, 10]),
    ],
)
def test_classes_of_numbers_have_round_limits(values: list[float], found: list[float]) -> None:
    assert content.limits(values) == found


def test_bars_of_what_the_line_asks_for_lead_to_its_coins(library: Library) -> None:
    tag, category = DOG.tags[0], library.taxonomy.category(DOG.tags[0])
    for line in (f"tag:{tag}", f"category:{category}"):
        drawn = [one for bar in bars(opened("insights", insights_words=line)) for one in bar["lines"]]
        assert line in drawn


def test_coins_of_drafts_are_found_by_model_and_fate(library: Library) -> None:
    find = figures.stored(library, lambda name: [DOG.address] if name == "edited m" else [])
    assert find is not None
    assert library.addresses(parsed(find("edited m")).filter) == [DOG.address]
    assert find("refused m") == ""


def test_a_reason_that_no_line_can_say_leads_nowhere(library: Library) -> None:
    library.reject([PENDING.address], reason='a "quote"')
    app = opened("insights", view="Reviewing")
    (reason,) = [bar for bar in bars(app) if 'a "quote"' in bar["texts"][0]]
    assert reason["lines"] == [""]


def test_two_sets_are_drawn_as_shares_of_each(library: Library) -> None:
    app = opened("insights", view="Reviewing", insights_compare="true", insights_other="tier:library")
    every, promoted = bars(app)[:2]
    assert (every["name"], promoted["name"]) == ("All coins", "tier:library")
    assert every["values"] == pytest.approx([100 / ALL, 100 / ALL, 100 * len(COINS) / ALL, 0], abs=1e-3)
    assert promoted["values"] == [0, 0, 100, 0]


def test_figures_of_two_sets_stand_side_by_side(library: Library) -> None:
    compared = {"insights_compare": "true", "insights_words": "tag:dog", "insights_other": "tag:cat"}
    app = opened("insights", **compared)
    titles = [one.value.replace("\\", "") for one in app.caption if " · " in one.value]
    assert titles == [
        f"{figure} · {one}"
        for figure in ("Coins by month of creation", "Subjects over time", "Numbers")
        for one in ("tag:dog", "tag:cat")
    ]


def test_a_line_with_a_fault_draws_nothing(library: Library) -> None:
    app = opened("insights", insights_words="colour:red")
    assert "Unknown filter" in words(app)
    assert not app.get("echarts_chart")
    assert "No coin matches" in words(opened("insights", insights_words="tag:nowhere"))


def test_search_quality_shows_the_stored_evaluation_with_its_weak_tags(library: Library) -> None:
    assert "There are no golden queries yet" in words(opened("insights", view="Search quality"))
    tags = library.tag_counts(Filter(tier="library"))
    for coin in COINS:
        library.golden.save(coin.entity, [coin.address])
    evaluation.store(library, evaluation.evaluate(library), actor="ann")
    app = opened("insights", view="Search quality")
    assert f"{len(COINS)} queries" in words(app)
    frequent = {tag for tag, count in tags.items() if count >= evaluation.FEWEST}
    drawn = [line for bar in bars(app) for line in bar["lines"] if "tag:" in line]
    assert len(drawn) == len(frequent)


def test_people_and_their_speed_are_shown_with_the_coins_they_decided(library: Library) -> None:
    library.reject([UNCAPTIONED.address], actor="bob")
    app = opened("insights", view="Reviewing")
    (speed,) = [bar for bar in bars(app) if any("per hour" in text for text in bar["texts"])]
    by_bob = next(line for line in speed["lines"] if "by:bob" in line)
    assert coins_of(library, by_bob) == 1


def test_scripts_have_their_names_as_written_in_english(library: Library) -> None:
    [languages] = [
        bar for bar in bars(opened("insights")) if any("language:" in line for line in bar["lines"])
    ]
    assert languages["lines"] == ["language:latin"]
    assert languages["texts"][0].startswith("Latin: ")
