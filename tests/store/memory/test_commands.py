"""The text memory on the command line."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from store.cli import main
from store.cli.terminal import Terminal
from store.errors import MemedexError, ModelUnavailable
from store.memory.engine.entries import Entries
from store.memory.memory import Memory
from tests.store.memory.bags import Bags


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run one command as `python -m store memory` does; return its exit status and its answer."""
    Memory.open(tmp_path / "res", embedder=Bags(name="offline")).close()
    monkeypatch.setattr("store.memory.memory.open_embedder", lambda name: Bags(name=name))
    monkeypatch.setattr(sys, "stdout", sys.stdout)

    def run(*words: str, root: str = str(tmp_path / "res")) -> tuple[int, Any]:
        capsys.readouterr()
        stdout = sys.stdout
        try:
            status = main(["memory", *words, "--root", root, "--json"])
        finally:
            sys.stdout = stdout
        answer, messages = capsys.readouterr()
        if messages.startswith("memory: "):
            raise MemedexError(messages)
        return status, json.loads(answer) if answer else None

    monkeypatch.setattr("store.memory.memory.Memory.wait_for_chroma", lambda self, timeout=None: True)
    return run


def test_worlds_are_imported_and_searched(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "worlds"
    folder.mkdir()
    (folder / "peaks.yaml").write_text("id: peaks\nname: Peaks\nlore: Dragons live here.\n")
    (folder / "broken.yaml").write_text("- nothing")
    status, found = run("worlds", str(folder))
    assert (status, found) == (1, [{"id": "peaks", "name": "Peaks", "file": "peaks.yaml"}])
    status, found = run("lore", "peaks", "dragons")
    assert [row["id"] for row in found] == ["peaks_base_lore_0"]


def test_documents_are_imported_searched_and_compared(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("liquidity pools")
    (tmp_path / "b.docx").write_bytes(b"PK")
    status, done = run(
        "import-document", str(tmp_path / "a.md"), str(tmp_path / "b.docx"), "--protocol", "Aave"
    )
    assert (status, len(done["done"]), done["refused"][0]["item"]) == (1, 1, "b.docx")
    status, found = run("documents", "liquidity", "--protocol", "aave")
    assert (status, found[0]["metadata"]["page"]) == (0, 1)
    assert run("documents", "liquidity", "--compare")[1].keys() == {"aave"}


def test_papers_of_a_folder_are_imported_and_what_is_none_is_left_alone(run: Any, tmp_path: Path) -> None:
    for name in ("aave/paper.md", "uni/paper.md", "uni/figure.png", ".obsidian/notes.md"):
        (tmp_path / "papers" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "papers" / name).write_text(name)
    status, done = run("import-document", str(tmp_path / "papers"), "--protocol", "lore")
    assert (status, done["refused"]) == (0, [])
    assert [one["id"] for one in done["done"]] == ["lore/paper.md", "lore/uni/paper.md"]


def test_transcripts_are_imported_and_searched_and_sessions_deleted(run: Any, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(json.dumps({"role": "user", "content": "why is it slow"}) + "\n")
    status, report = run("import-transcripts", str(tmp_path / "s.jsonl"))
    assert (status, report["messages"]) == (0, 1)
    assert run("transcripts", "slow", "--type", "user_query")[1][0]["message"]["session_id"] == "s"
    with Memory.open(tmp_path / "res") as memory:
        memory.session_memory.add_memory("elf_s1", "1", "a secret")
    assert run("recall", "elf_s1", "secret")[1][0]["text"] == "a secret"
    assert run("forget", "elf_s1") == (0, {"elf_s1": 1})
    assert run("status")[1]["counts"] == {
        "memories": 0,
        "documents": 0,
        "world_lore": 0,
        "session_memory": 0,
        "transcript_vectors": 1,
    }


def test_messages_and_memories_of_the_last_day_are_found_until_that_day(run: Any, tmp_path: Path) -> None:
    message = {"role": "user", "content": "frog pond", "ts": "2026-01-31T12:00:00Z"}
    (tmp_path / "s.jsonl").write_text(json.dumps(message))
    run("import-transcripts", str(tmp_path / "s.jsonl"))
    run("store", "frog pond")
    (memory,) = run("search", "frog")[1]["results"]
    for day, found in (("2026-01-30", 0), ("2026-01-31", 1)):
        assert len(run("transcripts", "frog", "--until", day)[1]) == found
    today = memory["timestamp"][:10]
    assert run("search", "frog", "--until", today)[1]["total_results"] == 1


def test_transcripts_are_found_by_words_while_the_model_is_away(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.jsonl").write_text(json.dumps({"role": "user", "content": "why is it slow"}))
    run("import-transcripts", str(tmp_path / "s.jsonl"))

    def refuse(self: Entries, text: str) -> None:
        raise ModelUnavailable("no weights")

    message = list[str]()
    monkeypatch.setattr(Entries, "question", refuse)
    monkeypatch.setattr(Terminal, "say", lambda self, text: message.append(text))
    for mode in ("semantic", "hybrid"):
        message.clear()
        (found,) = run("transcripts", "slow", "--mode", mode)[1]
        assert (found["cosine"], found["words_rank"]) == (None, 1)
        assert message[-1] == "the model is away: words alone were compared"


def test_events_are_filtered_by_level_and_time(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tmp_path / "s1"
    session.mkdir()
    told = [{"event": f"e{n}", "ts": f"2026-01-0{n}", "lvl": "INFO"} for n in (1, 2, 3)]
    (session / "events.jsonl").write_text("\n".join(map(json.dumps, told)))
    run("import-transcripts", str(session))
    status, found = run("events", "--level", "INFO", "--since", "2026-01-02", "-n", "1", "--offset", "1")
    assert (status, [event["event"] for event in found]) == (0, ["e2"])
    assert len(run("events", "--level", "info")[1]) == 3
    message: list[str] = []
    monkeypatch.setattr(Terminal, "say", lambda self, line: message.append(line))
    assert run("events", "--error-type", "Timeout", "--model", "x") == (0, [])
    assert run("events", "--level", "inf") == (0, [])
    assert any("no level 'inf'; the nearest: 'INFO'" in line for line in message)


def test_changing_the_model_reembeds_one_kind(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("store", "short tickers are preferred")
    monkeypatch.setattr("store.memory.memory.open_embedder", lambda name: Bags(name=name))
    status, models = run("model", "other", "--kind", "memories")
    assert (status, models["memories"], models["documents"]) == (0, "other", "offline")
    with Memory.open_for_reading(tmp_path / "res") as memory:
        assert memory.kinds["memories"].model == "other"
        assert memory.kinds["memories"].to_embed() == 0


def test_a_section_is_asked_about_and_those_of_earlier_papers_are_found(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Lending\n\nRates rise.", encoding="utf-8")
    run("import-document", str(tmp_path / "a.md"), "--protocol", "aave")
    assert run("find-sections") == (0, {"done": {}, "refused": []})
    with Memory.open(tmp_path / "res") as memory, memory.documents.entries.database.writing() as db:
        db.execute("UPDATE documents SET section = ''")
        db.execute("UPDATE sources SET has_sections = 0")
    assert run("find-sections") == (0, {"done": {"aave/a.md": 1}, "refused": []})
    (hit,) = run("documents", "rates", "--section", "Lending")[1]
    assert hit["metadata"]["section"] == "Lending"
    assert run("search", "rates", "--kind", "documents", "--section", "Lending")[1][0]["id"] == hit["id"]
    with pytest.raises(MemedexError, match="nearest: 'Lending'"):
        run("documents", "rates", "--section", "Lendings")


@pytest.mark.slow
def test_search_has_every_filter_of_every_kind(run: Any) -> None:
    run("store", "frog pond", "--tag", "green")
    run("store", "frog pond", "--tag", "blue")
    status, found = run("search", "frog", "--tag", "green", "--since", "2020-01-01", "--mmr", "0.5")
    assert (status, [hit["tags"] for hit in found["results"]]) == (0, [["green"]])
    assert run("search", "frog", "--until", "2020-01-01")[1]["total_results"] == 0
    run("store", "--kind", "world_lore", "--in", "peaks", "--name", "1", "--new", "frog pond")
    asked = ("search", "frog", "--kind", "world_lore")
    assert [row["id"] for row in run(*asked, "--in", "peaks")[1]] == ["peaks_1"]
    (near,) = run(*asked, "--min-score", "95", "--near-misses", "3")[1]
    assert near["near_miss"]
    with pytest.raises(MemedexError, match="belong to no user"):
        run(*asked, "--user", "ann")
    given = ("--since", "2020-01-01", "--min-score", "10", "--user", "ann")
    assert run("transcripts", "frog", *given) == (0, [])


def test_the_junk_of_a_memory_is_listed_with_the_merge_that_would_end_it(run: Any) -> None:
    first = run("store", "Frogs like rain")[1]["memory_id"]
    second = run("store", "Frogs like rain")[1]["memory_id"]
    run("store", "Ledgers balance daily")
    run("store", "Who whistles?")
    status, found = run("junk")
    assert (status, found["entries"], found["share"]) == (0, 4, 0.5)
    assert found["parts"] == {"repeat": 1, "prompt": 1}
    repeat = found["worst"][0]
    assert (repeat["id"], repeat["merge"], repeat["merged"]) == (second, [first, second], "Frogs like rain")
    run("merge", *repeat["merge"], "--yes")
    assert run("junk")[1]["parts"] == {"prompt": 1}


def test_entries_that_their_own_words_do_not_find_are_listed(run: Any) -> None:
    for _ in range(6):
        run("store", "Frogs like rain")
    status, found = run("recall-test")
    assert (status, found["asked"], len(found["unfound"])) == (0, 6, 1)
    assert found["unfound"][0]["question"] == "frogs like rain"
