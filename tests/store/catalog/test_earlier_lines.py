"""Lines in old links and saved searches mean the same as before the grammar was introduced.

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


def narrowing(filter: dict[str, Any]) -> dict[str, Any]:
    """The fields set in a filter, with its words in the form of full-text search, sorted."""
    narrow = {name: value for name, value in json.loads(json.dumps(filter)).items() if value != NOTHING[name]}
    narrow = {name: value for name, value in narrow.items() if value != []}
    return {**narrow, "words": sorted(matching(narrow["words"]).split())} if "words" in narrow else narrow


def term(source: str, narrow: str, weight: float, facets: str) -> Term:
    about = FACETS if facets == "all" else tuple(one for one in FACETS if one in facets.split(","))
    return Term(source, narrow, weight, about)  # type: ignore[arg-type]


@pytest.mark.parametrize("earlier", EARLIER["filters"], ids=lambda earlier: earlier["line"])
def test_an_old_filter_line_parses_the_same(earlier: dict[str, Any]) -> None:
    line = parsed(earlier["line"], base=Filter(tier="pending"), actor="ann")
    assert narrowing(asdict(line.filter)) == narrowing(earlier["filter"])
    assert line.faults == earlier["faults"]


@pytest.mark.parametrize("earlier", EARLIER["questions"], ids=lambda earlier: earlier["line"])
def test_an_old_search_line_parses_the_same(earlier: dict[str, Any]) -> None:
    question = read(earlier["line"], actor="ann")
    assert list(question.terms) == [term(*narrow) for narrow in earlier["terms"]]
    assert narrowing(asdict(question.filter)) == narrowing(earlier["filter"])
    assert list(question.faults) == earlier["faults"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('frog "to the mo', '"frog"* "to the mo"*'),  # were words anywhere in the text
        ("«dog» „cat“", '"dog" "cat"'),  # were words, not phrases
    ],
)
def test_all_kinds_of_quotes_mark_a_phrase(line: str, words: str) -> None:
    assert matching(parsed(line).filter.words) == words
    assert parsed("tag:„a pond“").filter.tags == ("a pond",)
