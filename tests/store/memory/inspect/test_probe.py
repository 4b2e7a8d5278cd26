"""A probe reports near misses, and why entries were excluded."""

from typing import Any

import pytest

from store.memory.inspect.probe import probe, probe_messages
from store.memory.memory import Memory


def test_a_probe_reports_near_misses_and_why_they_were_excluded(memory: Memory) -> None:
    for world, number, text in [
        ("peaks", 1, "dragon fire"), ("peaks", 2, "dragon fire burns"), ("peaks", 3, "dragon"),
        ("peaks", 4, "goats"), ("swamp", 1, "dragon fire here"),
    ]:  # fmt: skip
        memory.lore.add_lore(world, str(number), text)
    passages = memory.lore.passages
    asked = probe(passages, "dragon fire", n=2, where={"world_id": "peaks"}, floor=0.5)
    assert [one.row["id"] for one in asked.hits] == ["peaks_1", "peaks_2"]
    assert {one.row["id"]: one.kept_out for one in asked.misses} == {
        "swamp_1": "filter", "peaks_3": "n", "peaks_4": "threshold",
    }  # fmt: skip
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


def test_a_transcript_probe_reports_why_messages_were_excluded(imported: Memory) -> None:
    def kept_out(question: str = "relayer", **asked: Any) -> list[tuple[int, str]]:
        given = {"mode": "semantic", "n": 2, **asked}
        found = probe_messages(imported.passages["transcript_vectors"], question, **given)
        return [(told.hit.message["sequence"], told.kept_out) for told in found]

    assert kept_out() == [(2, ""), (1, ""), (0, "n")], "thinking and answer of one message are one hit"
    assert kept_out(floor=0.4) == [(2, ""), (1, ""), (0, "threshold")]
    assert kept_out(where={"content_type": ["tool_output"]}) == [(2, ""), (1, "filter"), (0, "filter")]
    assert kept_out(budget=30) == [(2, ""), (1, "budget"), (0, "budget")]
    assert [kept for _, kept in kept_out(mode="hybrid", mmr=0.5)] == ["", "", "n"]
    assert kept_out("brief", mode="full_text") == [(4, "")], "the text of a message without any chunk"
    assert kept_out("connection relayer", mode="hybrid", floor=0.9)[0][1] == "threshold"
    first = probe_messages(imported.passages["transcript_vectors"], "the relayer has", mode="hybrid", n=1)[0]
    assert first.hit.cosine is not None
    assert first.calibrated is not None
