"""Search by words and meaning, limited by content type, session, user and project."""

from pathlib import Path
from typing import Any

import pytest

from store.errors import ModelUnavailable
from store.memory.engine.inputs import InvalidInput
from store.memory.inspect.probe import probe_messages
from store.memory.memory import Memory
from store.memory.transcripts.events import EventFilter
from store.memory.transcripts.search import Mode
from tests.store.memory.transcripts.sessions import lines


def rows(memory: Memory, query: str) -> list[dict[str, Any]]:
    with memory.transcripts.entries.database.reading() as db:
        return [dict(row) for row in db.execute(query)]


# -- search --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content_type", "text"),
    [
        ("user_query", "why does the bridge fail"),
        ("assistant_response", "The relayer has stopped."),
        ("assistant_thinking", "perhaps the relayer is offline"),
        ("tool_output", "relayer: connection refused"),
        ("tool_output", "structured output"),
        ("tool_call", "bash\ncommand: systemctl status"),
    ],
)
@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_search_can_be_limited_to_one_content_type(
    imported: Memory, mode: Any, content_type: Any, text: str
) -> None:
    hit, *_ = imported.transcripts.search(text, mode=mode, content_types=[content_type])
    assert hit.chunk is not None
    assert (hit.chunk["content_type"], hit.chunk["source_text"]) == (content_type, text)


def test_full_text_covers_message_texts_and_chunk_texts(imported: Memory) -> None:
    found = imported.transcripts.search("relayer", mode="full_text")
    assert {hit.message["sequence"] for hit in found} == {1, 2}
    (hit,) = imported.transcripts.search("brief", mode="full_text")
    assert (hit.message["role"], hit.chunk) == ("system", None), "a message text that is not embedded"
    assert imported.transcripts.search("brief", mode="full_text", content_types=["tool_output"]) == []
    (hit,) = imported.transcripts.search("systemctl", mode="full_text")
    assert hit.message["sequence"] == 1
    assert imported.transcripts.search('re" OR (relay*', mode="full_text") == []


def test_a_question_by_words_needs_any_of_its_telling_words_and_ranks_by_how_telling_they_are(
    memory: Memory, tmp_path: Path
) -> None:
    texts = [
        "Who moved the vault?", "The vault keys are with Mira.", "Keys open doors.", "The frog sleeps.",
    ]  # fmt: skip
    path = tmp_path / "s.jsonl"
    lines(path, [{"role": "user", "content": text} for text in texts])
    memory.transcripts.import_sessions([path])

    def found(question: str) -> list[str]:
        hits = memory.transcripts.search(question, mode="full_text")
        return [hit.message["text_content"] for hit in hits]

    assert found("Where can I find a key of the vault?")[0] == "The vault keys are with Mira."
    assert set(found("Where can I find a key of the vault?")) == set(texts[:3])
    assert found('"vault keys"') == ["The vault keys are with Mira."], "quoted words stay together"
    assert found("fro") == ["The frog sleeps."], "the beginning of a word, if nothing has the word"


def test_words_of_most_messages_do_not_hide_a_rare_one(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.memory.transcripts.search.EXACT", 4)
    monkeypatch.setattr("store.memory.transcripts.search.NEWEST", 2)
    texts = ["the walrus talks about coins", *(f"coins of day {n}" for n in range(8))]
    path = tmp_path / "s.jsonl"
    lines(path, [{"role": "user", "content": text} for text in texts])
    memory.transcripts.import_sessions([path])
    hits = memory.transcripts.search("coins of the walrus", mode="full_text")
    assert [hit.message["text_content"] for hit in hits] == ["the walrus talks about coins"]


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_search_by_meaning_answers_by_words_and_says_so_while_the_model_is_away(
    imported: Memory, monkeypatch: pytest.MonkeyPatch, mode: Mode
) -> None:
    assert not imported.transcripts.search("another question", mode=mode).by_words_alone

    def refuse(texts: list[str]) -> None:
        raise ModelUnavailable("no weights")

    monkeypatch.setattr(imported.transcripts.entries.embedder, "embed_texts", refuse)
    found = imported.transcripts.search("relayer", mode=mode)
    assert {hit.message["sequence"] for hit in found} == {1, 2}
    assert {hit.cosine for hit in found} == {None}
    assert found.by_words_alone
    probed = probe_messages(imported, "relayer", mode=mode, n=2)
    assert probed.by_words_alone
    assert {one.hit.message["sequence"] for one in probed} == {1, 2}
    assert not imported.transcripts.search("relayer", mode="full_text").by_words_alone, "as it was asked"
    with pytest.raises(ModelUnavailable):
        imported.transcripts.search("relayer", mode=mode, min_score=10)


def test_only_the_newest_matches_of_a_common_word_are_ranked(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.memory.transcripts.search.EXACT", 4)
    monkeypatch.setattr("store.memory.transcripts.search.NEWEST", 2)
    for session, count in (("x", 5), ("y", 4)):
        messages = [{"role": "user", "content": f"common word {n}"} for n in range(count)]
        lines(tmp_path / f"{session}.jsonl", messages)
        memory.transcripts.import_sessions([tmp_path / f"{session}.jsonl"])

    def found(words: str, **where: str) -> set[tuple[str, int]]:
        hits = memory.transcripts.search(words, mode="full_text", **where)  # type: ignore[arg-type]
        return {(hit.message["session_id"], hit.message["sequence"]) for hit in hits}

    assert found("common") == {("y", 2), ("y", 3)}
    assert found("common", session_id="x") == {("x", 3), ("x", 4)}, "five pass the filter"
    assert len(found("common", session_id="y")) == 4, "no more pass the filter than are all ranked"
    assert found("common 1") == {("x", 1), ("y", 1)}


def test_hybrid_search_ranks_the_best_by_words_and_meaning_first(imported: Memory) -> None:
    best, *_ = imported.transcripts.search("relayer connection refused")
    assert best.message["sequence"] == 2
    assert (best.score, best.words_rank) == (1.0, 1)
    assert best.cosine == pytest.approx(1)


def test_search_returns_ten_results_by_default(memory: Memory, tmp_path: Path) -> None:
    lines(tmp_path / "x.jsonl", [{"role": "user", "content": f"bridge {n}"} for n in range(30)])
    memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    for mode in ("full_text", "semantic", "hybrid"):
        assert len(memory.transcripts.search("bridge", mode=mode)) == 10  # type: ignore[arg-type]


def test_search_filters_by_session_user_and_project(imported: Memory, tmp_path: Path) -> None:
    lines(tmp_path / "s2.jsonl", [{"role": "user", "content": "why does the bridge fail"}])
    imported.transcripts.import_sessions([tmp_path / "s2.jsonl"], user_id="bob")
    for mode in ("full_text", "semantic", "hybrid"):
        for where in ({"session_id": "s2"}, {"user_id": "bob"}):
            found = imported.transcripts.search("bridge fail", mode=mode, **where)  # type: ignore[arg-type]
            assert {hit.message["session_id"] for hit in found} == {"s2"}
        found = imported.transcripts.search("bridge fail", mode=mode, project_slug="bridges")  # type: ignore[arg-type]
        assert {hit.message["session_id"] for hit in found} == {"s1"}


@pytest.mark.parametrize(
    "wrong", [{"mode": "fuzzy"}, {"content_types": ["dreams"]}, {"n": 0}, {"mmr": 1.5}], ids=str
)
def test_invalid_search_arguments_are_refused(imported: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        imported.transcripts.search("relayer", **wrong)
    with pytest.raises(ValueError, match="the question"):
        imported.transcripts.search(" ")


# -- marginal relevance --------------------------------------------------------------------------------------


def test_search_with_mmr_returns_diverse_results(memory: Memory, tmp_path: Path) -> None:
    texts = [
        "bridge fails today",
        "bridge fails today now",
        "bridge fails today again",
        "bridge paint colour",
    ]
    lines(tmp_path / "x.jsonl", [{"role": "user", "content": text} for text in texts])
    memory.transcripts.import_sessions([tmp_path / "x.jsonl"])
    plain = memory.transcripts.search("bridge fails today", mode="semantic", n=2)
    varied = memory.transcripts.search("bridge fails today", mode="semantic", n=2, mmr=0.3)
    assert [hit.message["sequence"] for hit in plain] == [0, 1]
    assert [hit.message["sequence"] for hit in varied] == [0, 3]
    assert len(memory.transcripts.search("bridge fails today", mode="semantic", n=4, mmr=0.3)) == 4


# -- events --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("since", ["yesterday", "2025-13-01", ""])
def test_an_invalid_since_date_is_refused(since: str, imported: Memory) -> None:
    with pytest.raises(InvalidInput, match="no date or time"):
        imported.transcripts.find_events(EventFilter(since=since))


def test_a_transcript_probe_reports_why_messages_were_excluded(imported: Memory) -> None:
    def kept_out(question: str = "relayer", **asked: Any) -> list[tuple[int, str]]:
        given = {"mode": "semantic", "n": 2, **asked}
        found = probe_messages(imported, question, **given)
        return [(told.hit.message["sequence"], told.kept_out) for told in found]

    assert kept_out() == [(2, ""), (1, ""), (0, "n"), (3, "n")], (
        "thinking and answer of one message are one hit"
    )
    assert kept_out(floor=0.4) == [(2, ""), (1, ""), (0, "threshold"), (3, "threshold")]
    assert kept_out(where={"content_type": ["tool_output"]}) == [
        (2, ""),
        (3, ""),
        (1, "filter"),
        (0, "filter"),
    ]
    assert kept_out(budget=30) == [(2, ""), (1, "budget"), (0, "budget"), (3, "budget")]
    assert [kept for _, kept in kept_out(mode="hybrid", mmr=0.5)] == ["", "", "n", "n"]
    assert kept_out("brief", mode="full_text") == [(4, "")], "the text of a message without any chunk"
    assert kept_out("connection relayer", mode="hybrid", floor=0.9)[0][1] == "threshold"
    first = probe_messages(imported, "the relayer has", mode="hybrid", n=1)[0]
    assert first.hit.cosine is not None
    assert first.calibrated is not None
