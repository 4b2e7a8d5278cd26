"""Lines that stand in old links and saved searches ask for what they asked before there was a grammar.

`earlier_lines.json` was written by the parsers of version 1.0.0.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter, matching
from store.records import FACETS
from store.search.query_syntax import Term, read

EARLIER = json.loads(Path(__file__).with_name("earlier_lines.json").read_text(encoding="utf-8"))
NOTHING = asdict(Filter())


def asked(filter: dict[str, Any]) -> dict[str, Any]:
    """What a filter asks for: its words as full text search takes them, in no order."""
    said = {name: value for name, value in json.loads(json.dumps(filter)).items() if value != NOTHING[name]}
    said = {name: value for name, value in said.items() if value != []}
    return {**said, "words": sorted(matching(said["words"]).split())} if "words" in said else said


def term(source: str, said: str, weight: float, facets: str) -> Term:
    about = FACETS if facets == "all" else tuple(one for one in FACETS if one in facets.split(","))
    return Term(source, said, weight, about)  # type: ignore[arg-type]


@pytest.mark.parametrize("earlier", EARLIER["filters"], ids=lambda earlier: earlier["line"])
def test_an_earlier_filter_finds_the_same(earlier: dict[str, Any]) -> None:
    line = parsed(earlier["line"], base=Filter(tier="pending"), actor="ann")
    assert asked(asdict(line.filter)) == asked(earlier["filter"])
    assert line.faults == earlier["faults"]


@pytest.mark.parametrize("earlier", EARLIER["questions"], ids=lambda earlier: earlier["line"])
def test_an_earlier_question_asks_the_same(earlier: dict[str, Any]) -> None:
    question = read(earlier["line"], actor="ann")
    assert list(question.terms) == [term(*said) for said in earlier["terms"]]
    assert asked(asdict(question.filter)) == asked(earlier["filter"])
    assert list(question.faults) == earlier["faults"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('frog "to the mo', '"frog"* "to the mo"*'),  # were words anywhere in the text
        ("«dog» „cat“", '"dog" "cat"'),  # were words, not phrases
    ],
)
def test_quotes_mean_the_same_wherever_they_are_typed(line: str, words: str) -> None:
    assert matching(parsed(line).filter.words) == words
    assert parsed("tag:„a pond“").filter.tags == ("a pond",)
