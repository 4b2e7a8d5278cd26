"""Large sessions are read in a process of their own, with the same outcome."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from store.chroma.process import ChildProcess
from store.errors import NotWritten
from store.memory.memory import Memory
from store.memory.transcripts import reader
from store.progress import Progress
from tests.store.memory.transcripts.sessions import EVENTS, MESSAGES, lines

KEY = "ghp_0123456789abcdefghij"


@pytest.fixture(autouse=True)
def _every_import_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_LARGE", 0)


def test_messages_events_titles_and_refusals_arrive_and_a_second_import_changes_nothing(
    memory: Memory, session: Path
) -> None:
    said = [*MESSAGES, {"role": "user", "content": f"push with {KEY}"}, {"content": "no role"}]
    lines(session / "transcript.jsonl", said)
    progress = Progress()
    report = memory.transcripts.import_sessions([session], progress=progress, user_id="ann")
    assert (report.sessions, report.messages, report.events) == (["s1"], len(MESSAGES) + 1, len(EVENTS))
    assert [one.reason for one in report.refused] == ["left out: it has no role"]
    assert report.notes == ["1 secret is masked (1 GitHub token)"]
    found = memory.transcripts.messages("s1")
    assert [json.loads(row["content"]) for row in found[:-1]] == [one["content"] for one in MESSAGES]
    assert found[-1]["text_content"] == "push with [masked GitHub token]"
    assert memory.transcripts.search("push", mode="full_text")
    again = memory.transcripts.import_sessions([session], user_id="ann")
    assert (again.messages, again.changed, again.events) == (0, 0, 0)
    assert again.present == report.messages + report.events


def test_sessions_of_one_name_are_compared_with_what_was_read_just_before(
    memory: Memory, tmp_path: Path
) -> None:
    for folder, word in (("a", "lamps"), ("b", "frogs")):
        (tmp_path / folder).mkdir()
        rows = [{"role": "user", "content": f"{word} {number}"} for number in range(3)]
        lines(tmp_path / folder / "chat.jsonl", rows)
    first, second = memory.transcripts.import_sessions([tmp_path]).sessions
    assert (first, second.startswith("chat-"), len(second)) == ("chat", True, len("chat-") + 16)


def test_what_was_read_stays_if_the_process_is_killed_and_another_import_goes_on(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        rows = [{"role": "user", "content": f"{name} {number}"} for number in range(3)]
        lines(tmp_path / f"{name}.jsonl", [*rows, {"role": "tool", "content": "lamp"}])

    def begun(process: ChildProcess[Any]) -> "subprocess.Popen[bytes]":
        started = start(process)
        os.kill(started.pid, signal.SIGKILL)
        return started

    start = ChildProcess._start
    monkeypatch.setattr(ChildProcess, "_start", begun)
    with pytest.raises(NotWritten, match="another import goes on"):
        memory.transcripts.import_sessions([tmp_path])
    monkeypatch.undo()
    assert memory.transcripts.import_sessions([tmp_path]).messages == 12


def test_an_error_of_the_reader_is_raised_here(memory: Memory, tmp_path: Path) -> None:
    lines(tmp_path / "x.jsonl", MESSAGES)
    with memory.database.writing() as db:
        db.execute("ALTER TABLE transcripts RENAME COLUMN sequence TO place")
    with pytest.raises(Exception, match="no such column"):
        memory.transcripts.import_sessions([tmp_path / "x.jsonl"])


def test_a_cancelled_import_reads_nothing_more(memory: Memory, session: Path) -> None:
    progress = Progress()
    progress.cancel()
    report = memory.transcripts.import_sessions([session], progress=progress)
    assert (report.sessions, report.messages, memory.transcripts.messages("s1")) == ([], 0, [])
