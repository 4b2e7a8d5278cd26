"""Any transcript, document or world gives entries of the text memory or a named error."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import BadSource, MemedexError
from store.memory.documents import pdf
from store.memory.memory import Memory
from store.memory.story.lore import parse_world
from tests.fuzz.cases import TEXTS, altered, bounded, fuzz, garbled
from tests.store.memory.bags import Bags
from tests.store.memory.documents.small_pdf import small_pdf
from tests.store.memory.transcripts.sessions import EVENTS, MESSAGES

OPENAI: dict[str, Any] = {
    "id": "s2",
    "user": "ann",
    "messages": [
        {"role": "developer", "content": "be brief"},
        {"role": "user", "content": [{"type": "input_text", "text": "why"}], "created_at": 1_700_000_000},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"role": "assistant", "content": None, "reasoning_content": "so", "tool_calls": [{"id": "1"}]},
        {"type": "function_call_output", "output": "42"},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "x"}]}]},
    ],
}
WORLD = "id: harbour\nname: Harbour\nstart_message: Ahoy.\nlore: |\n  No ship leaves at night.\n"
PAPER = small_pdf("alpha beta on the first page", "", "gamma")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    from store.chroma.follower import ChromaFollower

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChromaFollower, "wake", lambda self: None)
        with Memory.open(tmp_path_factory.mktemp("memory") / "res", embedder=Bags()) as memory:
            yield memory


def lines(rows: Any) -> bytes:
    return "\n".join(json.dumps(row) for row in (rows if isinstance(rows, list) else [rows])).encode()


FILES = st.one_of(
    st.builds(lambda rows: {"s/transcript.jsonl": lines(rows)}, altered(MESSAGES)),
    st.builds(lambda rows: {"s/events.jsonl": lines(rows)}, altered(EVENTS)),
    st.builds(
        lambda value: {"s/metadata.json": lines(value), "s/transcript.jsonl": lines(MESSAGES)},
        altered({"session_id": "s1", "user_id": "bob", "project_slug": "p"}),
    ),
    st.builds(lambda value: {"one.json": json.dumps(value).encode()}, altered(OPENAI)),
    st.builds(lambda value: {"many.jsonl": lines([value, OPENAI])}, altered(OPENAI)),
    st.builds(lambda content: {"one.json": content}, garbled(json.dumps(OPENAI).encode())),
    st.builds(lambda content: {"s/transcript.jsonl": content}, garbled(lines(MESSAGES))),
)  # fmt: skip


@fuzz(share=0.1)
@given(files=FILES)
def test_any_transcript_is_imported_or_refused(
    memory: Memory, tmp_path: Path, files: dict[str, bytes]
) -> None:
    (tmp_path / "s").mkdir(exist_ok=True)
    try:
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        with bounded():
            report = memory.transcripts.import_sessions([tmp_path])
            assert report.messages or report.events or report.changed or report.present or report.refused
            for session in memory.transcripts.sessions():
                memory.transcripts.messages(session["session_id"])
            memory.transcripts.event_sessions()
            memory.transcripts.search("why")
            json.dumps([refusal.reason for refusal in report.refused])
        for found in memory.transcripts.sessions():
            memory.transcripts.remove_session(found["session_id"])
    finally:
        for name in files:
            (tmp_path / name).unlink()


@fuzz(share=0.08)
@given(
    content=garbled(PAPER), page=st.sampled_from((1, 2, 3, 4, 0, -1)), passage=TEXTS | st.just("alpha beta")
)
def test_any_pdf_is_read_or_refused(content: bytes, page: int, passage: str) -> None:
    with bounded():
        try:
            texts = pdf.read(content, name="p.pdf").pages
        except BadSource:
            return
        "".join(texts).encode()
        for ask in (
            lambda: pdf.marks(content, name="p.pdf", page=page, passage=passage),
            lambda: pdf.page_picture(content, name="p.pdf", page=page),
        ):
            with suppress(BadSource):
                ask()


@fuzz(share=0.03)
@given(
    name=st.sampled_from(("p.pdf", "p.md", "p.txt", "p.rst", "p")) | TEXTS,
    content=garbled(PAPER) | garbled(b"# Title\n\nA paragraph.\n"),
    protocol=TEXTS | st.just("aave"),
)
def test_any_document_is_imported_or_refused(
    memory: Memory, name: str, content: bytes, protocol: str
) -> None:
    with bounded():
        try:
            source = memory.documents.import_document(Path(name), protocol=protocol, content=content).source
        except MemedexError:
            pass
        else:
            for row in memory.documents.search("title", 2):
                memory.documents.cite(row["id"])
            memory.documents.remove_document(source.protocol, source.source)


@fuzz(share=0.03)
@given(content=garbled(WORLD.encode()))
def test_any_world_is_read_or_refused(content: bytes) -> None:
    with bounded():
        try:
            world = parse_world(content, file="w.yaml")
        except ValueError:
            pass
        else:
            f"{world.id}{world.lore}".encode()
