"""Sessions whose files do not say their id: none overwrites another conversation of the same name."""

from pathlib import Path

import pytest

from store.memory.memory import Memory
from store.memory.transcripts import session_ids
from tests.store.memory.transcripts.sessions import EVENTS, lines


def texts(memory: Memory, id: str) -> list[str]:
    return [row["text_content"] for row in memory.transcripts.messages(id)]


def put(path: Path, *said: str) -> Path:
    """A file of a conversation, the user's and the assistant's turns alternating below a system message."""
    path.parent.mkdir(parents=True, exist_ok=True)
    roles = ["user", "assistant"] * len(said)
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    lines(path, [{"role": "system", "content": "be brief"}, *messages])
    return path


def test_two_conversations_of_one_file_name_are_both_kept(memory: Memory, tmp_path: Path) -> None:
    put(tmp_path / "in" / "a" / "chat.jsonl", "why is the sky blue", "it scatters light")
    put(tmp_path / "in" / "b" / "chat.jsonl", "how do frogs sleep", "with open eyes")
    first, second = memory.transcripts.import_sessions([tmp_path / "in"]).sessions
    assert (first, second[:5]) == ("chat", "chat-")
    assert texts(memory, first)[1:] == ["why is the sky blue", "it scatters light"]
    assert texts(memory, second)[1:] == ["how do frogs sleep", "with open eyes"]
    report = memory.transcripts.import_sessions([tmp_path / "in"])
    assert (report.sessions, report.present, report.messages) == ([first, second], 6, 0)


@pytest.mark.parametrize("has_a_double", [False, True])
def test_a_conversation_that_grew_or_was_edited_is_still_the_same(
    memory: Memory, tmp_path: Path, has_a_double: bool
) -> None:
    if has_a_double:
        memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "another", "conversation")])
    (id,) = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "two", "three")]).sessions
    report = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "2", "three", "four")])
    assert (report.sessions, report.changed, report.messages) == ([id], 1, 1)
    assert texts(memory, id)[1:] == ["one", "2", "three", "four"]


@pytest.mark.parametrize("opening", [("summarise the report",), ("hi", "hello!")])
def test_two_conversations_with_a_common_opening_are_both_kept(
    memory: Memory, tmp_path: Path, opening: tuple[str, ...]
) -> None:
    rest = {name: [f"{name} {number}" for number in range(len(opening))] for name in "ab"}
    for name in "abab":
        memory.transcripts.import_sessions([put(tmp_path / name / "chat.jsonl", *opening, *rest[name])])
    ids = [one["session_id"] for one in memory.transcripts.sessions()]
    assert sorted(texts(memory, id)[1:] for id in ids) == [[*opening, *rest["a"]], [*opening, *rest["b"]]]


def test_of_two_alike_sessions_the_one_is_continued_of_which_least_would_be_replaced(
    memory: Memory, tmp_path: Path
) -> None:
    put(tmp_path / "a" / "chat.jsonl", "one", "two", "three", "end of a", "and more")
    put(tmp_path / "b" / "chat.jsonl", "one", "two", "three", "end of b", "and on")
    first, second = memory.transcripts.import_sessions([tmp_path]).sessions
    assert first != second, "they share more than half, but both are of this import"
    put(tmp_path / "b" / "chat.jsonl", "one", "two", "three", "end of b", "and on", "and on")
    report = memory.transcripts.import_sessions([tmp_path / "b"])
    assert (report.sessions, report.messages, report.changed) == ([second], 1, 0)
    assert texts(memory, first)[1:] == ["one", "two", "three", "end of a", "and more"]


def test_a_file_that_was_dropped_twice_is_one_session(memory: Memory, tmp_path: Path) -> None:
    paths = [put(tmp_path / name / "chat.jsonl", "one", "two") for name in "ab"]
    assert memory.transcripts.import_sessions(paths).sessions == ["chat", "chat"]


def test_the_end_of_a_conversation_does_not_replace_its_beginning(memory: Memory, tmp_path: Path) -> None:
    memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "hi", "hello!", "why", "because")])
    memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "why", "because")])
    assert texts(memory, "chat")[1:] == ["hi", "hello!", "why", "because"]


def test_a_file_whose_own_name_ends_like_a_hash_is_a_session_of_its_own(
    memory: Memory, tmp_path: Path
) -> None:
    said = ("hi", "hello!", "how are you")
    put(tmp_path / "log-20240101.jsonl", *said, "well", "good")
    put(tmp_path / "log.jsonl", *said, "badly", "sorry")
    for name in ("log-20240101", "log", "log-20240101", "log"):
        assert memory.transcripts.import_sessions([tmp_path / f"{name}.jsonl"]).sessions == [name]
    assert texts(memory, "log-20240101")[4:] == ["well", "good"]


@pytest.mark.parametrize("first_is_removed", [False, True])
def test_a_session_to_which_version_1_1_1_gave_an_id_is_found(
    memory: Memory, tmp_path: Path, first_is_removed: bool
) -> None:
    memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "another", "conversation")])
    given = "chat-2eaa7b92"  # what that version makes of it
    lines(tmp_path / "named.jsonl", [
        {"session_id": given, "role": role, "content": text}
        for role, text in (("system", "be brief"), ("user", "one"), ("assistant", "two"))
    ])  # fmt: skip
    memory.transcripts.import_sessions([tmp_path / "named.jsonl"])
    if first_is_removed:
        memory.transcripts.remove_session("chat")
    report = memory.transcripts.import_sessions([put(tmp_path / "chat.jsonl", "one", "two")])
    assert (report.sessions, report.messages, report.present) == ([given], 0, 3)


def test_a_conversation_of_which_version_1_0_0_read_less_is_still_the_same(
    memory: Memory, tmp_path: Path
) -> None:
    call = {"function_call": {"name": "bash", "arguments": "{}"}}
    asked, answered = {"role": "user", "content": "why"}, {"role": "assistant", "content": None}
    lines(tmp_path / "chat.jsonl", [asked, answered])
    memory.transcripts.import_sessions([tmp_path / "chat.jsonl"])
    lines(tmp_path / "chat.jsonl", [asked, {**answered, **call}])
    report = memory.transcripts.import_sessions([tmp_path / "chat.jsonl"])
    assert (report.sessions, report.changed) == (["chat"], 1)


def test_two_sessions_of_events_alone_are_both_kept(memory: Memory, tmp_path: Path) -> None:
    for project, rows in (("a", EVENTS[:2]), ("b", [{**row, "event": "b"} for row in EVENTS[:2]])):
        folder = tmp_path / "projects" / project / "sessions" / "1"
        folder.mkdir(parents=True)
        lines(folder / "events.jsonl", rows)
    report = memory.transcripts.import_sessions([tmp_path / "projects"])
    first, second = report.sessions
    assert (first, second[:2], report.events, report.present) == ("1", "1-", 4, 0)
    again = memory.transcripts.import_sessions([tmp_path / "projects"])
    assert (again.sessions, again.events, again.present) == ([first, second], 0, 4)
    lines(folder / "events.jsonl", [*({**row, "event": "b"} for row in EVENTS[:2]), EVENTS[2]])
    grown = memory.transcripts.import_sessions([tmp_path / "projects"])
    assert (grown.sessions, grown.events, grown.present) == ([first, second], 1, 4)
    put(folder / "transcript.jsonl", "what", "happened")
    assert memory.transcripts.import_sessions([folder]).sessions == [second], (
        "the events tell which one it is"
    )


def test_a_session_of_events_does_not_take_in_the_events_of_a_conversation_of_its_name(
    memory: Memory, tmp_path: Path
) -> None:
    for name in "ab":
        (tmp_path / name / "1").mkdir(parents=True)
        lines(tmp_path / name / "1" / "events.jsonl", [{**row, "event": name} for row in EVENTS])
    put(tmp_path / "b" / "1" / "transcript.jsonl", "what", "happened")
    report = memory.transcripts.import_sessions([tmp_path])
    assert (report.events, report.present, len({*report.sessions})) == (6, 0, 2)


def test_what_is_stored_is_read_once_in_an_import_however_many_files_have_the_name(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()
    piece = session_ids._piece
    monkeypatch.setattr(session_ids, "_piece", lambda message: read.append(message[1]) or piece(message))
    for number in range(12):
        put(tmp_path / "in" / str(number) / "chat.jsonl", f"question {number}", f"answer {number}")
    assert memory.transcripts.import_sessions([tmp_path / "in"]).messages == 36
    assert len(read) == 11 * 3 + 11 * 3, "of each file but the first, and of each session before the last"


def test_folders_of_one_name_in_two_projects_are_two_sessions(memory: Memory, tmp_path: Path) -> None:
    for project in ("bridges", "rivers"):
        put(
            tmp_path / "projects" / project / "sessions" / "1" / "transcript.jsonl",
            "hello",
            f"from {project}",
        )
    memory.transcripts.import_sessions([tmp_path / "projects"])
    found = {one["project_slug"]: one["session_id"] for one in memory.transcripts.sessions()}
    assert {project: texts(memory, id)[2] for project, id in found.items()} == {
        "bridges": "from bridges", "rivers": "from rivers",
    }  # fmt: skip


def test_two_files_that_say_one_id_and_contradict_each_other_are_both_kept(
    memory: Memory, tmp_path: Path
) -> None:
    for name, said in (("before", ("one", "two", "three", "four")), ("after", ("one", "two", "3", "4", "5"))):
        lines(
            tmp_path / f"{name}.jsonl", [{"session_id": "s1", "role": "user", "content": one} for one in said]
        )
    report = memory.transcripts.import_sessions([tmp_path / "before.jsonl"])
    assert report.notes == []
    report = memory.transcripts.import_sessions([tmp_path / "after.jsonl"])
    (other,) = report.sessions
    assert report.notes == [f"another conversation is stored as s1; this one is kept as {other}"]
    assert (report.messages, report.changed) == (5, 0)
    assert texts(memory, "s1") == ["one", "two", "three", "four"]
    assert texts(memory, other) == ["one", "two", "3", "4", "5"]
    again = memory.transcripts.import_sessions([tmp_path / "before.jsonl", tmp_path / "after.jsonl"])
    assert (again.sessions, again.messages, again.changed, again.notes) == (["s1", other], 0, 0, [])


def test_copies_that_were_continued_apart_late_are_both_kept(memory: Memory, tmp_path: Path) -> None:
    said = [f"message {number}" for number in range(500)]
    for name, tail in (
        ("a", "to the left"),
        ("b", "to the right"),
        ("a", "to the left"),
        ("b", "to the right"),
    ):
        memory.transcripts.import_sessions([put(tmp_path / name / "chat.jsonl", *said, tail)])
    sessions = memory.transcripts.sessions()
    assert [one["messages"] for one in sessions] == [502, 502]
    ends = [memory.transcripts.messages(one["session_id"], offset=501) for one in sessions]
    assert sorted(end["text_content"] for (end,) in ends) == ["to the left", "to the right"]


def test_other_events_at_the_places_of_stored_ones_are_kept_beside_them(
    memory: Memory, tmp_path: Path
) -> None:
    for name in "abab":
        folder = put(tmp_path / name / "1" / "transcript.jsonl", "what", "happened").parent
        lines(folder / "events.jsonl", [EVENTS[0], {**EVENTS[1], "event": f"only in {name}"}])
        report = memory.transcripts.import_sessions([folder])
    assert (report.events, report.messages, report.present) == (0, 0, 5)
    assert {"only in a", "only in b"} <= {*memory.transcripts.event_values("event")}


# -- Claude Code ---------------------------------------------------------------------------------------------

ORIGINAL, FORK = "11111111-2222-4333-8444-555555555555", "22222222-2222-4333-8444-555555555555"


def claude(path: Path, *said: tuple[str, str], **more: object) -> Path:
    """A file as Claude Code writes it: pairs of the id that a row repeats and what it says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines(path, [
        {
            "sessionId": id, "isSidechain": False, "uuid": text, "timestamp": "2026-03-01T10:00:00Z", **more,
            "type": ("user", "assistant")[place % 2],
            "message": {"role": ("user", "assistant")[place % 2], "content": text},
        }
        for place, (id, text) in enumerate(said)
    ])  # fmt: skip
    return path


@pytest.mark.parametrize("folder", [f"{ORIGINAL}/subagents", "."])
def test_sub_agents_are_sessions_of_their_own_named_after_their_parent(
    memory: Memory, tmp_path: Path, folder: str
) -> None:
    claude(tmp_path / "in" / f"{ORIGINAL}.jsonl", (ORIGINAL, "Find frogs"), (ORIGINAL, "Three coins match"))
    for agent in ("a1b2c3", "d4e5f6"):
        rows = [(ORIGINAL, f"Helper task of {agent}"), (ORIGINAL, f"Done by {agent}")]
        claude(tmp_path / "in" / folder / f"agent-{agent}.jsonl", *rows, agentId=agent, isSidechain=True)
    report = memory.transcripts.import_sessions([tmp_path / "in"])
    assert sorted(report.sessions) == [
        ORIGINAL, f"{ORIGINAL}/agent-a1b2c3", f"{ORIGINAL}/agent-d4e5f6",
    ]  # fmt: skip
    assert (report.messages, report.changed, report.refused) == (6, 0, [])
    assert texts(memory, ORIGINAL) == ["Find frogs", "Three coins match"]
    assert texts(memory, f"{ORIGINAL}/agent-d4e5f6") == ["Helper task of d4e5f6", "Done by d4e5f6"]
    again = memory.transcripts.import_sessions([tmp_path / "in"])
    assert (again.messages, again.changed, again.present) == (0, 0, 6)


def test_a_forked_session_is_another_one_than_its_original(memory: Memory, tmp_path: Path) -> None:
    common = ((ORIGINAL, "Where does Otto sleep?"), (ORIGINAL, "In the reeds."))
    original = claude(
        tmp_path / f"{ORIGINAL}.jsonl", *common, (ORIGINAL, "And Berta?"), (ORIGINAL, "On a bridge.")
    )
    fork = claude(tmp_path / f"{FORK}.jsonl", *common, (FORK, "What does Otto eat?"), (FORK, "Small fish."))
    for path in (fork, original):
        memory.transcripts.import_sessions([path])
    assert texts(memory, ORIGINAL)[2:] == ["And Berta?", "On a bridge."]
    assert texts(memory, FORK)[2:] == ["What does Otto eat?", "Small fish."]
    again = memory.transcripts.import_sessions([tmp_path])
    assert (again.messages, again.changed, again.present) == (0, 0, 8)


def test_a_file_that_was_renamed_is_still_the_session_that_it_says(memory: Memory, tmp_path: Path) -> None:
    memory.transcripts.import_sessions([claude(tmp_path / f"{ORIGINAL}.jsonl", (ORIGINAL, "Hi"))])
    report = memory.transcripts.import_sessions([claude(tmp_path / "otto.jsonl", (ORIGINAL, "Hi"))])
    assert (report.sessions, report.present) == ([ORIGINAL], 1)


@pytest.mark.parametrize("file", [f"{FORK}.jsonl", "agent-a1b2c3.jsonl"])
def test_what_version_1_1_2_stored_under_the_id_that_rows_repeat_is_found(
    memory: Memory, tmp_path: Path, file: str
) -> None:
    rows = ((ORIGINAL, "Helper task"), (ORIGINAL, "Done"))
    memory.transcripts.import_sessions([claude(tmp_path / "as_before.jsonl", *rows)])
    report = memory.transcripts.import_sessions([claude(tmp_path / file, *rows)])
    assert (report.sessions, report.messages, report.present) == ([ORIGINAL], 0, 2)
