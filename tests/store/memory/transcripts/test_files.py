"""The formats of messages: what one says is stored, found by its words, and counted as what it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from store.memory.memory import Memory
from store.memory.transcripts import files
from tests.store.memory.transcripts.sessions import lines

FORMS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "Google's parts": (
        [
            {"role": "user", "parts": [{"text": "Paint me a frog"}]},
            {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "A green frog."}]},
        ],
        [("user", "Paint me a frog"), ("assistant", "Hm.\n\nA green frog.")],
    ),
    "parts that are texts": (
        [{"role": "user", "parts": ["Paint", "a toad"]}], [("user", "Paint\n\na toad")],
    ),
    "one part": ([{"role": "user", "parts": {"text": "Paint"}}], [("user", "Paint")]),
    "Google's tools": (
        [
            {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"what": "frogs"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"is": "RIBBIT"}}}]},
        ],
        [("assistant", "find\nwhat: frogs"), ("tool", "is: RIBBIT")],
    ),
    "parts of the AI SDK": (
        [
            {
                "role": "assistant",
                "parts": [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Yes."}],
            }
        ],
        [("assistant", "Hm.\n\nYes.")],
    ),
    "Amazon's blocks": (
        [
            {"role": "user", "content": [{"text": "Count frogs"}]},
            {"role": "assistant", "content": [{"toolUse": {"name": "count", "input": {"of": "frogs"}}}]},
            {"role": "user", "content": [{"toolResult": {"content": [{"text": "Two"}]}}]},
        ],
        [("user", "Count frogs"), ("assistant", "count\nof: frogs"), ("tool", "text: Two")],
    ),
    "an object around the parts": (
        [{"role": "user", "content": {"content_type": "text", "parts": ["Why?"]}}], [("user", "Why?")],
    ),
    "text": ([{"role": "user", "text": "Why?"}], [("user", "Why?")]),
    "content beside parts": (
        [{"role": "user", "content": "Why?", "parts": [{"text": "Why?"}]}], [("user", "Why?")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_texts_of_every_form_are_stored(memory: Memory, tmp_path: Path, form: str) -> None:
    given, expected = FORMS[form]
    (tmp_path / "history.json").write_text(json.dumps(given))
    report = memory.transcripts.import_sessions([tmp_path / "history.json"])
    assert (report.messages, report.refused) == (len(expected), [])
    found = [(row["role"], row["text_content"]) for row in memory.transcripts.messages("history")]
    assert found == expected
    again = memory.transcripts.import_sessions([tmp_path / "history.json"])
    assert (again.messages, again.changed, again.present) == (0, 0, len(expected))


def test_a_request_to_googles_api_is_a_session_with_its_instruction(memory: Memory, tmp_path: Path) -> None:
    body = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Why?"}]}],
    }
    (tmp_path / "request.json").write_text(json.dumps(body))
    memory.transcripts.import_sessions([tmp_path / "request.json"])
    found = [(row["role"], row["text_content"]) for row in memory.transcripts.messages("request")]
    assert found == [("system", "Be brief."), ("user", "Why?")]


@pytest.mark.parametrize("name", ["conversations", "data"])
def test_conversations_under_a_name_are_those_of_a_list(memory: Memory, tmp_path: Path, name: str) -> None:
    said = [{"role": "user", "content": "Who lives here?"}, {"role": "assistant", "content": "A heron."}]
    sessions = [{"id": "x1", "messages": said}, {"id": "x2", "messages": said[:1]}]
    (tmp_path / "export.json").write_text(json.dumps({"version": 3, name: sessions}))
    for new, present in ((3, 0), (0, 3)):
        report = memory.transcripts.import_sessions([tmp_path / "export.json"])
        assert (report.messages, report.present, report.refused) == (new, present, [])
    found = [row["text_content"] for row in memory.transcripts.messages("x1")]
    assert found == ["Who lives here?", "A heron."]


def test_a_message_without_content_is_refused_and_one_without_words_is_not_counted_as_text(
    memory: Memory, tmp_path: Path
) -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}}
    lines(tmp_path / "chat.jsonl", [
        {"role": "user"}, {"role": "user", "parts": []}, {"role": "user", "content": [picture]},
        {"role": "assistant", "content": "A toad."},
    ])  # fmt: skip
    report = memory.transcripts.import_sessions([tmp_path / "chat.jsonl"])
    assert (report.messages, report.without_text) == (1, 1)
    assert [(one.item, one.reason) for one in report.refused] == [
        (f"chat: message {number}", "left out: it has no content") for number in (1, 2)
    ]


def test_a_session_that_an_earlier_memedex_stored_without_its_texts_gets_them(
    memory: Memory, tmp_path: Path
) -> None:
    lines(tmp_path / "history.jsonl", [{"role": "user", "content": None}, {"role": "model", "content": None}])
    assert memory.transcripts.import_sessions([tmp_path / "history.jsonl"]).without_text == 2
    given = [{"role": role, "parts": [{"text": f"by the {role}"}]} for role in ("user", "model")]
    lines(tmp_path / "history.jsonl", given)
    report = memory.transcripts.import_sessions([tmp_path / "history.jsonl"])
    assert (report.sessions, report.messages, report.changed) == (["history"], 0, 2)
    assert len(memory.transcripts.search("by the model", mode="full_text")) == 1


def test_times_and_turns_are_read_by_what_they_mean_and_the_others_are_named(
    memory: Memory, tmp_path: Path
) -> None:
    given: list[dict[str, Any]] = [
        {"timestamp": "2026-01-31T10:00:00Z", "turn": "1"}, {"created_at": "2026-01-31", "turn": 2.0},
        {"ts": None, "create_time": 1769853600.0}, {"timestamp": "soon", "turn": "third"}, {},
    ]  # fmt: skip
    lines(
        tmp_path / "chat.jsonl", [{"role": "user", "content": str(n), **one} for n, one in enumerate(given)]
    )
    report = memory.transcripts.import_sessions([tmp_path / "chat.jsonl"])
    assert [(row["ts"], row["turn"]) for row in memory.transcripts.messages("chat")] == [
        ("2026-01-31T10:00:00.000+00:00", 1), ("2026-01-31T00:00:00.000+00:00", 2),
        ("2026-01-31T10:00:00.000+00:00", None), (None, None), (None, None),
    ]  # fmt: skip
    assert report.notes == [
        "chat: message 4: its timestamp 'soon' is no date or time; it is stored without one",
        "chat: message 4: its turn 'third' is no number; it is stored without one",
    ]


def test_an_array_is_read_piece_by_piece_and_what_is_before_a_fault_comes_in(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_READ", 16)
    said = [{"role": "user", "content": f"Wörter von {number} " * number} for number in range(1, 20)]
    path = tmp_path / "chat.json"
    whole = json.dumps(said, ensure_ascii=False, indent=1).encode()
    path.write_bytes(whole)
    assert memory.transcripts.import_sessions([path]).messages == len(said)
    assert [json.loads(row["content"]) for row in memory.transcripts.messages("chat")] == [
        one["content"] for one in said
    ]
    path.write_bytes(whole[: whole.index("Wörter von 7".encode()) + 3])
    report = memory.transcripts.import_sessions([path])
    assert (report.present, [one.reason[:31] for one in report.refused]) == (
        6, ["cannot be read to its end: Unte"],
    )  # fmt: skip
