"""A probe reports near misses, and why entries were excluded."""

from typing import Any

import numpy as np
import pytest

from store.errors import ModelUnavailable
from store.memory.inspect.probe import ProbeCandidate, probe
from store.memory.memory import Memory
from tests.store.memory.bags import Bags

MEASURED = ((0.4, 0.0), (0.15, 1.0), (0.3, 0.0))  # cosine and words


def test_a_probe_reports_near_misses_and_why_they_were_excluded(memory: Memory) -> None:
    for world, number, text in [
        ("peaks", 1, "dragon fire"),
        ("peaks", 2, "dragon fire burns"),
        ("peaks", 3, "dragon"),
        ("peaks", 4, "goats"),
        ("swamp", 1, "dragon fire here"),
    ]:
        memory.lore.add_lore(world, str(number), text)
    entries = memory.lore.entries
    asked = probe(memory, "dragon fire", kind="world_lore", n=2, where={"world_id": "peaks"}, floor=0.5)
    assert [one.row["id"] for one in asked.hits] == ["peaks_1", "peaks_2"]
    assert {one.row["id"]: one.kept_out for one in asked.misses} == {
        "swamp_1": "filter",
        "peaks_3": "n",
        "peaks_4": "threshold",
    }
    assert asked.hits[0].score == pytest.approx(1)
    first, second = (one.calibrated for one in asked.hits)
    assert first is not None
    assert second is not None
    assert first > second > 0
    assert asked.compared == 5
    asked = probe(memory, "dragon fire", kind="world_lore", n=3, where={"world_id": "peaks"}, budget=20)
    assert [one.row["id"] for one in asked.hits] == ["peaks_1", "peaks_3"]
    assert asked.misses[0].kept_out in ("budget", "filter")
    assert entries.asked() == {}, "a probe is no question of the story"


def test_a_probe_has_the_order_in_which_entries_are_handed_out(
    memory: Memory, bags: Bags, monkeypatch: pytest.MonkeyPatch
) -> None:
    ones = np.full(384, 384**-0.5, np.float32)
    monkeypatch.setattr(bags, "embed_texts", lambda texts: np.array([ones] * len(texts)))
    for id, text in (("a", "Nothing of the kind."), ("b", "Dwarves forged lamps."), ("c", "A lamp.")):
        memory.lore.add_lore("peaks", id, text)
    asked = probe(memory, "Who forged the lamps?", kind="world_lore", n=2)
    handed_out = memory.lore.search("peaks", "Who forged the lamps?", n=2)
    assert (
        [one.row["id"] for one in asked.hits]
        == [hit.row["id"] for hit in handed_out]
        == ["peaks_b", "peaks_c"]
    )
    assert [one.words for one in asked.hits] == [hit.words for hit in handed_out]
    assert asked.by_meaning


def test_a_hit_is_strong_by_what_was_measured_for_its_model() -> None:
    row: dict[str, Any] = {"id": "a"}
    by_local = [ProbeCandidate(row, score, 0.0, "", words, is_measured=True) for score, words in MEASURED]
    assert [one.is_strong for one in by_local] == [True, True, False]
    others = [ProbeCandidate(row, 0.8, deviations, "") for deviations in (2.5, 1.5)]
    assert [one.is_strong for one in others] == [True, False], "other models' cosines are all high"
    by_words = [ProbeCandidate(row, None, None, "", words) for words in (1.0, 0.2)]
    assert [one.is_strong for one in by_words] == [True, False], "the model is away"


def test_a_probe_compares_words_alone_while_the_model_is_away(
    memory: Memory, bags: Bags, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.lore.add_lore("peaks", "1", "dragon fire")
    memory.lore.add_lore("peaks", "2", "goats")

    def refuse(texts: list[str]) -> None:
        raise ModelUnavailable("no weights")

    monkeypatch.setattr(bags, "embed_texts", refuse)
    asked = probe(memory, "dragon fire", kind="world_lore", n=2)
    assert not asked.by_meaning
    assert [(one.row["id"], one.score, one.words) for one in asked.hits] == [("peaks_1", None, 1)]


def rows(memory: Memory, query: str) -> list[dict[str, Any]]:
    with memory.transcripts.entries.database.reading() as db:
        return [dict(row) for row in db.execute(query)]
