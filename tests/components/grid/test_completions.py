"""Completions offered by the page parse to the filters they name (tests/shared/completions.json)."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.grid.actions import REJECT
from store.catalog.filter_conditions import NO_REASON
from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter

CASES = json.loads((Path(__file__).parents[2] / "shared" / "completions.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_completed_lines_are_parsed_as_intended(case: dict[str, Any]) -> None:
    for line, reads in zip(case["offered"], case["reads"], strict=True):
        if reads is None:  # the name of a filter, whose value comes next
            continue
        own = {name: tuple(value) if isinstance(value, list) else value for name, value in reads.items()}
        read = parsed(line, base=Filter())
        assert not read.faults
        assert read.filter == Filter(**own)


def test_every_reason_of_the_reject_menu_is_offered() -> None:
    (case,) = (case for case in CASES if case["line"] == "reason:")
    assert [read["rejected_for"] for read in case["reads"]] == [*REJECT.reasons, ""]
    assert case["offered"][-1] == f"reason:{NO_REASON}"
