"""What the metadata of another program's Chroma mean."""

from typing import Any

import pytest

from store.adopting.texts.chroma_entries import ENTRIES, tags_of


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        (["dog", " moon ", "dog", 7], ["dog", "moon"]),
        ('["dog", "moon"]', ["dog", "moon"]),
        ("dog, moon", ["dog", "moon"]),
        ("dog;moon", ["dog", "moon"]),
        ("[dog, moon", ["[dog", "moon"]),
        ("[" * 100_000, ["[" * 100_000]),
        (None, []),
    ],
)
def test_tags_of_every_form_are_read(given: object, tags: list[str]) -> None:
    assert tags_of(given) == tags


TODAY = "2026-11-26 10:00:00"  # when Chroma got it


@pytest.mark.parametrize(
    ("id", "metadata", "timestamp"),
    [
        ("a", {"timestamp": "2026-01-31T10:00:00Z"}, "2026-01-31T10:00:00Z"),
        ("a", {"timestamp": "2026-01-31"}, "2026-01-31"),
        ("a", {"created_at": "2026-01-31T10:00:00+02:00"}, "2026-01-31T10:00:00+02:00"),
        ("a", {"created_at": 1769853600.0}, "2026-01-31T10:00:00Z"),
        ("a", {"createdAt": "1769853600000"}, "2026-01-31T10:00:00Z"),
        ("a", {"timestamp": "Sat, 31 Jan 2026 10:00:00 GMT"}, "2026-01-31T10:00:00Z"),
        ("a", {"timestamp": "", "created_at": "2026-01-31"}, "2026-01-31"),
        ("mem_1769853600", {"tags": "a"}, "2026-01-31T10:00:00Z"),
        ("mem_1769853600", {"created_at": "2025-01-31"}, "2025-01-31"),
        ("a", {"tags": "a"}, TODAY),
    ],
)
def test_a_memory_counts_since_it_was_stored_under_whichever_name_that_is(
    id: str, metadata: dict[str, Any], timestamp: str
) -> None:
    entry = ENTRIES["memories"](id, "text", metadata, TODAY)
    assert (entry.row["timestamp"], entry.unread) == (timestamp, ())


@pytest.mark.parametrize("name", ["timestamp", "created_at"])
def test_a_time_that_cannot_be_read_is_named_and_not_replaced(name: str) -> None:
    entry = ENTRIES["memories"]("mem_1769853600", "text", {name: "yesterday"}, TODAY)
    assert (entry.row["timestamp"], entry.metadata) == ("", {name: "yesterday"})
    assert entry.unread == (f"its {name} 'yesterday' is no date or time",)
    exchange = ENTRIES["session_memory"]("hero_1", "text", {"session_id": "hero", name: "yesterday"}, TODAY)
    assert (exchange.row["at"], len(exchange.unread)) == (0.0, 1)
    lore = ENTRIES["world_lore"]("peaks_1", "text", {"world_id": "peaks", name: "yesterday"}, TODAY)
    assert len(lore.unread) == 1


def test_an_exchange_has_the_time_that_its_metadata_say() -> None:
    metadata = {"session_id": "hero", "created_at": "2026-01-31T10:00:00Z"}
    assert ENTRIES["session_memory"]("hero_1", "text", metadata, TODAY).row["at"] == 1769853600
    assert ENTRIES["session_memory"]("hero_1", "text", {"session_id": "hero"}, TODAY).row["at"] > 1769853600


def test_the_calendar_of_a_story_is_no_time() -> None:
    metadata = {"world_id": "peaks", "date": "the third age", "time": "dusk"}
    assert ENTRIES["world_lore"]("peaks_1", "text", metadata, TODAY).unread == ()
