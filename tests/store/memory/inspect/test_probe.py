"""A probe reports near misses, and why entries were excluded."""

from typing import Any

import pytest

from store.memory.inspect.probe import probe
from store.memory.memory import Memory


def test_a_probe_reports_near_misses_and_why_they_were_excluded(memory: Memory) -> None:
    for world, number, text in [
        ("peaks", 1, "dragon fire"),
        ("peaks", 2, "dragon fire burns"),
        ("peaks", 3, "dragon"),
        ("peaks", 4, "goats"),
        ("swamp", 1, "dragon fire here"),
    ]:
        memory.lore.add_lore(world, str(number), text)
    passages = memory.lore.passages
    asked = probe(passages, "dragon fire", n=2, where={"world_id": "peaks"}, floor=0.5)
    assert [one.row["id"] for one in asked.hits] == ["peaks_1", "peaks_2"]
    assert {one.row["id"]: one.kept_out for one in asked.misses} == {
        "swamp_1": "filter",
        "peaks_3": "n",
        "peaks_4": "threshold",
    }
    assert asked.hits[0].score == pytest.approx(1)
    assert asked.hits[0].calibrated > asked.hits[1].calibrated > 0
    assert asked.compared == 5
    asked = probe(passages, "dragon fire", n=3, where={"world_id": "peaks"}, budget=20)
    assert [one.row["id"] for one in asked.hits] == ["peaks_1", "peaks_3"]
    assert asked.misses[0].kept_out in ("budget", "filter")
    assert passages.questions.all() == {}, "a probe is no question of the story"


def rows(memory: Memory, query: str) -> list[dict[str, Any]]:
    with memory.transcripts.passages.database.reading() as db:
        return [dict(row) for row in db.execute(query)]
