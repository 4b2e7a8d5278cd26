"""World lore: names, limits, logging and failures; worlds from YAML."""

import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ModelUnavailable
from store.memory.engine.inputs import InvalidInput
from store.memory.memory import Memory
from store.memory.story.lore import World, split_lines
from tests.store.memory.bags import Bags
from tests.store.memory.chroma_as_it_is import stored
from tests.store.memory.conftest import Clock

LINE = "the mountains were forged by dragons in a long forgotten age of fire and ash "


def world(lore: str, **more: str) -> World:
    return World(**{"id": "peaks", "name": "Crimson Peaks", "start_message": "Hail", "lore": lore, **more})


def ids(memory: Memory) -> list[str]:
    return [row["id"] for row in memory.lore.entries.find(limit=None)]


# -- add_lore ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("chroma")
def test_lore_is_stored_under_world_and_lore_id_with_its_metadata(memory: Memory, tmp_path: Path) -> None:
    given = {"category": "geography", "world_id": "another"}
    memory.lore.add_lore("crimson_peaks", "mountain_lore_1", "Forged in dragon fire", metadata=given)
    assert given == {"category": "geography", "world_id": "another"}, "the caller's own is left alone"
    assert memory.wait_for_chroma(60)
    memory.close()
    (found,) = stored(tmp_path / "res", "world_lore").items()
    assert found[0] == "crimson_peaks_mountain_lore_1"
    assert found[1]["metadata"] == {"category": "geography", "world_id": "crimson_peaks"}
    assert found[1]["document"] is None


@pytest.mark.parametrize(
    "metadata",
    [{"a": "\ud83d"}, {"\ud83d": "a"}, {"a": 2**63}, {"a": float("nan")}, {"chroma:document": "a"}],
    ids=["unpaired surrogate", "in its name", "64 bits", "NaN", "Chroma's own name"],
)
def test_metadata_that_chroma_cannot_hold_is_refused(memory: Memory, metadata: dict) -> None:
    with pytest.raises(InvalidInput, match="metadata"):
        memory.lore.add_lore("peaks", "one", "text", metadata=metadata)
    assert memory.lore.entries.count() == 0


def test_adding_the_same_lore_id_replaces_the_text(memory: Memory) -> None:
    memory.lore.add_lore("peaks", "one", "old text")
    memory.lore.add_lore("peaks", "one", "new words")
    assert memory.lore.query_lore("peaks", "old text") == (["new words"], False)
    assert memory.lore.entries.count(words="old") == 0


def test_lore_whose_joined_id_belongs_to_another_world_is_refused(memory: Memory) -> None:
    memory.lore.add_lore("a", "b_c", "first")
    with pytest.raises(InvalidInput, match="already an entry of a"):
        memory.lore.add_lore("a_b", "c", "second")
    assert memory.lore.query_lore("a", "first") == (["first"], False)


@pytest.mark.parametrize("given", [("", "l", "text"), ("w", "", "text"), ("w", "l", " ")])
def test_lore_without_world_id_or_text_is_refused(memory: Memory, given: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match="is empty"):
        memory.lore.add_lore(*given)


# -- query_lore ----------------------------------------------------------------------------------------------


def test_lore_is_filtered_by_world(memory: Memory) -> None:
    memory.lore.add_lore("peaks", "1", "dragons of the peaks")
    memory.lore.add_lore("swamp", "1", "dragons of the swamp")
    assert memory.lore.query_lore("swamp", "dragons of the peaks") == (["dragons of the swamp"], False)
    assert memory.lore.query_lore("nowhere", "dragons") == ([], False)


def test_three_results_are_returned_by_default_nearest_first(memory: Memory) -> None:
    for number in range(5):
        memory.lore.add_lore("peaks", str(number), "dragon " + " ".join(f"w{i}" for i in range(number)))
    documents, _ = memory.lore.query_lore("peaks", "dragon")
    assert documents == ["dragon ", "dragon w0", "dragon w0 w1"]
    assert len(memory.lore.query_lore("peaks", "dragon", n_results=5)[0]) == 5


@pytest.mark.parametrize(("length", "warning"), [(500, False), (501, True)])
def test_results_above_max_chars_give_a_warning_and_are_not_cut(
    memory: Memory, length: int, warning: bool
) -> None:
    memory.lore.add_lore("peaks", "1", "d" * 500)
    memory.lore.add_lore("peaks", "2", "e" * length)
    documents, warned = memory.lore.query_lore("peaks", "anything")
    assert sorted(map(len, documents)) == [500, length]
    assert warned is warning
    assert memory.lore.query_lore("peaks", "anything", max_chars=1001)[1] is False


@pytest.mark.parametrize("n_results", [0, -1, None])
def test_a_failing_query_is_logged_and_returns_nothing(
    memory: Memory, bags: Bags, caplog: pytest.LogCaptureFixture, n_results: int
) -> None:
    memory.lore.add_lore("peaks", "1", "dragons")
    assert memory.lore.query_lore("peaks", "dragons", n_results=n_results) == ([], False)
    assert "Error querying lore: n_results" in caplog.text
    bags.fails = True
    assert memory.lore.query_lore("peaks", "dragons") == ([], False)
    assert "Error querying lore: the model is on fire" in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.ERROR}
    with pytest.raises(OSError, match="on fire"):
        memory.lore.search("peaks", "dragons")


def test_a_query_of_an_unknown_world_finds_nothing(memory: Memory) -> None:
    assert memory.lore.query_lore("test", "test") == ([], False)


# -- worlds --------------------------------------------------------------------------------------------------


def test_base_lore_is_split_and_numbered(memory: Memory) -> None:
    memory.lore.put_world(world("\n".join([LINE * 9] * 3)))
    assert ids(memory) == ["peaks_base_lore_0", "peaks_base_lore_1", "peaks_base_lore_2"]
    assert memory.lore.entries.counts() == {"peaks": 3}


def test_importing_a_world_again_replaces_its_chunks_and_keeps_added_lore(memory: Memory) -> None:
    memory.lore.put_world(world("\n".join([LINE * 9] * 4)))
    memory.lore.add_lore("peaks", "base_lore_1_notes", "added by hand")
    memory.lore.put_world(world("all of it is new"))
    assert sorted(ids(memory)) == ["peaks_base_lore_0", "peaks_base_lore_1_notes"]
    assert memory.lore.entries.count(words="dragons") == 0


def test_an_undo_of_a_changed_name_alone_counts_the_world(memory: Memory) -> None:
    memory.lore.put_world(world("Dragons live here."))
    memory.lore.put_world(world("Dragons live here.", name="Red Peaks"))
    assert memory.undo().done == ["peaks"]
    assert [found.name for found in memory.lore.worlds()] == ["Crimson Peaks"]


def test_undo_restores_the_previous_chunks_of_a_world(memory: Memory) -> None:
    memory.lore.put_world(world("\n".join([LINE * 9] * 3)))
    before = memory.lore.entries.find(limit=None)
    memory.lore.put_world(world("all of it is new", name="Other"))
    memory.undo()
    assert sorted(memory.lore.entries.find(limit=None), key=lambda row: row["id"]) == before
    assert [found.name for found in memory.lore.worlds()] == ["Crimson Peaks"]


def test_unchanged_chunks_are_not_embedded_again(memory: Memory, bags: Bags) -> None:
    memory.lore.put_world(world("\n".join([LINE * 9, "x" * 600])))
    bags.requests.clear()
    memory.lore.put_world(world("\n".join([LINE * 9, "y" * 600])))
    assert bags.requests == ["y" * 600]


def test_worlds_are_loaded_from_yaml_on_opening(reopen: Callable[[], Memory], tmp_path: Path) -> None:
    folder = tmp_path / "res" / "memory" / "worlds"
    folder.mkdir(parents=True)
    (folder / "peaks.yaml").write_text(
        "id: peaks\nname: Crimson Peaks\nstart_message: Hail\nlore: |\n  Dragons live here.\n  So do goats.\n"
    )
    (folder / "bare.yml").write_text("id: bare\nname: Bare\n")
    memory = reopen()
    assert [(found.id, found.name, found.start_message) for found in memory.lore.worlds()] == [
        ("bare", "Bare", ""),
        ("peaks", "Crimson Peaks", "Hail"),
    ]
    assert memory.lore.query_lore("peaks", "dragons") == (["Dragons live here.\nSo do goats."], False)
    assert memory.lore.query_lore("bare", "dragons") == ([], False), "a world without lore is a world"
    (folder / "peaks.yaml").write_text("id: peaks\nlore: Only goats are left.\n")
    memory = reopen()
    assert memory.lore.query_lore("peaks", "dragons") == (["Only goats are left."], False)


def test_an_unchanged_world_is_not_embedded_on_the_next_opening(
    reopen: Callable[[], Memory], tmp_path: Path, bags: Bags
) -> None:
    folder = tmp_path / "res" / "memory" / "worlds"
    folder.mkdir(parents=True)
    (folder / "peaks.yaml").write_text("id: peaks\nlore: Dragons.\n")
    reopen()
    bags.requests.clear()
    memory = reopen()
    assert bags.requests == []
    assert [decision.verb for decision in memory.log.find()] == ["load world"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"id: [unclosed", "not YAML"),
        (b"id: peaks\nname: Peaks\nlore: a: b\n", "line 3: this is not YAML: mapping values"),
        (
            b"- a list",
            "line 1: add fields such as `id` and `lore`; a world looks like this:\nid: frogland\nname:",
        ),
        (b"title: no world", "add an `id`"),
        (b"id: true\nlore: text", "add an `id`"),
        (b"id: peaks\nlore: [1, 2]", "line 2: its lore is not text"),
        (b"\xff\xfe\x00", "not YAML"),
        (b'id: peaks\nlore: "half \\ud83d"', "surrogate"),
        (b"!!python/object/apply:os.system [true]", "not YAML"),
    ],
)
def test_a_broken_world_file_is_reported_and_the_others_are_loaded(
    reopen: Callable[[], Memory], tmp_path: Path, content: bytes, reason: str
) -> None:
    folder = tmp_path / "res" / "memory" / "worlds"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_bytes(content)
    (folder / "swamp.yaml").write_text("id: swamp\nlore: Frogs.\n")
    memory = reopen()
    assert [found.id for found in memory.lore.worlds()] == ["swamp"]
    assert [refusal.item for refusal in memory.lore.refused] == ["broken.yaml"]
    assert reason in memory.lore.refused[0].reason


@pytest.mark.parametrize(
    "content",
    [
        "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{f'*a{n - 1}, ' * 9}]}}\n" for n in range(1, 20)),
        f"id: a\nlore: [{'[],' * 100_000}]",
    ],
    ids=["merged aliases", "many values"],
)
def test_a_world_file_that_would_fill_the_memory_is_refused_with_the_limit(
    memory: Memory, content: str
) -> None:
    (memory.lore.folder / "bomb.yaml").write_text(content)
    (memory.lore.folder / "good.yaml").write_text("id: good\nname: &name Good\nlore: *name")
    (refused,) = memory.lore.load_worlds().refused
    assert refused.item == "bomb.yaml"
    assert "it has more than 10,000 values, the limit for a world" in refused.reason
    assert [row["text"] for row in memory.lore.entries.find()] == ["Good"]


def test_a_second_file_with_the_same_world_id_is_refused(memory: Memory) -> None:
    folder = memory.places.worlds
    (folder / "a.yaml").write_text("id: peaks\nlore: First.\n")
    (folder / "b.yaml").write_text("id: peaks\nlore: Second.\n")
    report = memory.lore.load_worlds()
    assert (report.done, [refusal.item for refusal in report.refused]) == (["peaks"], ["b.yaml"])
    assert memory.lore.query_lore("peaks", "which") == (["First."], False)
    (folder / "a.yaml").unlink()
    assert memory.lore.load_worlds().done == ["peaks"], "renamed, it is taken"
    assert memory.lore.query_lore("peaks", "which") == (["Second."], False)


def test_a_world_remains_after_its_file_is_deleted(reopen: Callable[[], Memory]) -> None:
    memory = reopen()
    (memory.places.worlds / "a.yaml").write_text("id: peaks\nlore: First.\n")
    memory = reopen()
    (memory.places.worlds / "a.yaml").unlink()
    assert reopen().lore.query_lore("peaks", "which") == (["First."], False)


def test_queries_of_a_world_are_counted_but_not_stored(reopen: Callable[[], Memory], tmp_path: Path) -> None:
    memory = reopen()
    memory.lore.add_lore("peaks", "1", "dragons")
    for _ in range(3):
        memory.lore.query_lore("peaks", "an unmistakable questionnaire")
    assert memory.lore.entries.asked() == {"peaks": (3, 1_769_853_600.25)}
    memory.close()
    assert all(b"questionnaire" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_memory_opens_when_the_model_is_unavailable(
    memory: Memory, reopen: Callable[[], Memory], bags: Bags, monkeypatch: pytest.MonkeyPatch
) -> None:
    (memory.places.worlds / "peaks.yaml").write_text("id: peaks\nlore: The forge is cold.\n")

    def fails(texts: object) -> None:
        raise ModelUnavailable("no weights here")

    with monkeypatch.context() as broken:
        broken.setattr(bags, "embed_texts", fails)
        opened = reopen()
        assert [(one.item, one.reason) for one in opened.lore.refused] == [
            ("peaks.yaml", "it was not imported: no weights here")
        ]
    assert [world.id for world in reopen().lore.worlds()] == ["peaks"], "the next opening imports it"


def test_an_undone_change_of_a_world_file_stays_undone_after_a_restart(
    reopen: Callable[[], Memory], tmp_path: Path
) -> None:
    folder = tmp_path / "res" / "memory" / "worlds"
    memory = reopen()
    for lore in (b"Dragons live here.", b"Only goats are left."):
        memory.lore.put_file("peaks.yaml", b"id: peaks\nlore: " + lore)
        memory.lore.load_worlds()
    file = folder / "peaks.yaml"
    memory.undo()
    assert file.read_bytes() == b"id: peaks\nlore: Dragons live here."
    memory = reopen()
    assert memory.lore.query_lore("peaks", "who") == (["Dragons live here."], False)
    memory.redo()
    assert file.read_bytes() == b"id: peaks\nlore: Only goats are left."
    memory = reopen()
    assert memory.lore.query_lore("peaks", "who") == (["Only goats are left."], False)


def test_an_undone_edit_of_a_world_file_whose_former_state_is_not_kept_leaves_no_file(
    reopen: Callable[[], Memory], tmp_path: Path
) -> None:
    file = tmp_path / "res" / "memory" / "worlds" / "peaks.yaml"
    reopen()
    for lore in ("Dragons live here.", "Only goats are left."):
        file.write_text(f"id: peaks\nlore: {lore}")
        memory = reopen()
    memory.undo()
    assert not file.exists()
    memory = reopen()
    assert memory.lore.query_lore("peaks", "who") == (["Dragons live here."], False)
    memory.redo()
    assert file.read_text() == "id: peaks\nlore: Only goats are left."


def test_a_redone_load_of_a_world_has_its_file_again(memory: Memory) -> None:
    folder, content = memory.places.worlds, b"id: peaks\nlore: Dragons live here."
    memory.lore.put_file("peaks.yaml", content)
    memory.lore.load_worlds()
    memory.undo()
    assert not (folder / "peaks.yaml").exists()
    memory.redo()
    assert (folder / "peaks.yaml").read_bytes() == content
    (folder / "peaks.yaml").write_bytes(b"id: peaks\nlore: edited since")
    memory.undo()
    assert (folder / "peaks.yaml").read_bytes() == b"id: peaks\nlore: edited since", "it is somebody's"


def test_an_undone_change_of_a_worlds_id_has_the_file_of_the_world_before(memory: Memory) -> None:
    folder = memory.places.worlds
    frog, toad = (b"id: frog\nlore: Green.", b"id: toad\nlore: Brown.")
    for content in (frog, toad):
        memory.lore.put_file("frog.yaml", content)
        memory.lore.load_worlds()
    for _ in range(2):
        memory.undo()
        assert (folder / "frog.yaml").read_bytes() == frog
        memory.redo()
        assert (folder / "frog.yaml").read_bytes() == toad


def test_a_folder_among_the_files_set_aside_is_passed_over(memory: Memory) -> None:
    folder, content = memory.places.worlds, b"id: peaks\nlore: Dragons live here."
    (memory.places.folder / "set-aside" / "1-peaks.yaml").mkdir(parents=True)
    memory.lore.put_file("peaks.yaml", content)
    memory.lore.load_worlds()
    memory.undo()
    assert memory.redo().refused == []
    assert (folder / "peaks.yaml").read_bytes() == content


def test_an_undo_names_the_world_files_that_the_disk_refuses_to_move(memory: Memory) -> None:
    in_the_way = memory.places.folder / "set-aside"
    memory.lore.put_file("peaks.yaml", b"id: peaks\nlore: Dragons live here.")
    memory.lore.load_worlds()
    in_the_way.write_text("a file")
    (refusal,) = memory.undo().refused
    assert refusal.item == "peaks.yaml"
    assert re.search(f"could not be moved: .*{in_the_way}", refusal.reason)
    assert memory.lore.worlds() == []


def test_lore_counts_since_the_time_that_its_metadata_say(memory: Memory, clock: Clock) -> None:
    told = {"1": {"created_at": "2025-01-31T10:00:00Z"}, "2": {"timestamp": 1738317600}, "3": {"date": "412"}}
    for lore_id, metadata in told.items():
        memory.lore.add_lore("peaks", lore_id, "Dragons", metadata)
    written = memory.lore.entries.written([f"peaks_{lore_id}" for lore_id in told])
    assert written == {"peaks_1": 1738317600, "peaks_2": 1738317600, "peaks_3": clock.now}


texts = st.text(st.sampled_from("ab  \n\n\t\r é界𝔘"), max_size=400) | st.text(max_size=200)


def split(text: str, longest: int = 800) -> list[str]:
    return [text[start:end] for start, end in split_lines(text, longest=longest)]


def reference(text: str, longest: int) -> list[str]:
    """The story engine's loop, but with the last chunk and without empty chunks."""
    chunks, current = [], ""
    for line in text.split("\n"):
        if len(current) + len(line) > longest and current:
            chunks.append(current.strip())
            current = ""
        current += line + "\n"
    return [chunk for chunk in [*chunks, current.strip()] if chunk]


@given(texts, st.integers(1, 60))
def test_only_white_space_at_chunk_edges_is_lost(text: str, longest: int) -> None:
    spans = split_lines(text, longest=longest)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert not "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)).strip()


@given(texts, st.integers(1, 60))
def test_no_chunk_is_empty_too_long_or_has_white_space_at_its_edges(text: str, longest: int) -> None:
    for chunk in split(text, longest):
        assert 0 < len(chunk) <= longest
        assert chunk == chunk.strip()


@given(texts, st.integers(1, 60))
def test_chunks_match_the_reference_when_every_line_fits(text: str, longest: int) -> None:
    if all(len(line) <= longest for line in text.split("\n")):
        assert split(text, longest) == reference(text, longest)


def test_800_characters_are_one_chunk_and_801_are_two() -> None:
    assert [len(chunk) for chunk in split("a" * 400 + "\n" + "b" * 399)] == [800]
    assert [len(chunk) for chunk in split("a" * 400 + "\n" + "b" * 400)] == [400, 400]


def test_a_single_line_longer_than_800_is_cut_between_words() -> None:
    line = "word " * 400
    chunks = split(f"before\n{line}\nafter")
    assert chunks[0] == "before"
    assert max(map(len, chunks)) <= 800
    assert " ".join(chunks).split() == ["before", *["word"] * 400, "after"]
    assert chunks[-1].endswith("\nafter"), "its last piece goes on with the next line"


def test_a_word_longer_than_800_is_cut_in_the_middle() -> None:
    assert [len(chunk) for chunk in split("x" * 2000)] == [800, 800, 400]
