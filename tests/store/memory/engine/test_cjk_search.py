"""Words inside Chinese, Japanese and Korean text are found in every kind; lines are joined without spaces."""

import json
from pathlib import Path

import pytest

from store.memory.engine.cjk_search import join_lines, pairs, runs, without_runs
from store.memory.memory import Memory

TEXTS = {"zh": "安娜对花生过敏。", "ja": "サーバーは毎週日曜に再起動される", "ko": "사용자의고양이는 미소다"}
ASKED = {"zh": "谁不能吃花生", "ja": "再起動はいつ", "ko": "고양이"}


@pytest.fixture
def filled(memory: Memory, tmp_path: Path) -> Memory:
    for number, text in enumerate(TEXTS.values()):
        memory.memories.store_memory(text)
        memory.lore.add_lore("peaks", str(number), text)
        memory.session_memory.add_memory("elf_s1", str(number), text)
        memory.documents.import_document(Path(f"{number}.md"), protocol="aave", content=text.encode())
    lines = [json.dumps({"role": "user", "content": text}) for text in TEXTS.values()]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    memory.transcripts.import_sessions([tmp_path / "s.jsonl"])
    return memory


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("kind", ["memories", "world_lore", "session_memory", "documents"])
def test_a_word_inside_a_run_is_found_and_listed(filled: Memory, kind: str, language: str) -> None:
    entries = filled.kinds[kind]
    hits = entries.best(ASKED[language], n=3)
    assert [hit.row[entries.kind.text] for hit in hits if hit.words] == [TEXTS[language]]
    assert hits[0].words > 0
    inner = {"zh": "花生", "ja": "日曜", "ko": "고양이"}[language]
    (row,) = entries.find(words=inner)
    assert row[entries.kind.text] == TEXTS[language]
    assert entries.find(words=f"{inner} moon") == []


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("mode", ["full_text", "hybrid"])
def test_transcripts_are_found_by_words_inside_runs(filled: Memory, language: str, mode: str) -> None:
    best, *_ = filled.transcripts.search(ASKED[language], mode=mode)  # type: ignore[arg-type]
    assert (best.message["text_content"], best.words_rank) == (TEXTS[language], 1)
    assert filled.transcripts.search("火星", mode="full_text") == []


def test_the_pair_that_few_texts_have_decides(memory: Memory) -> None:
    for number in range(5):
        memory.lore.add_lore("peaks", f"x{number}", "什么都没有")
    memory.lore.add_lore("peaks", "nut", "花生在这里")
    hits = memory.kinds["world_lore"].best("什么花生", n=6)
    words = {hit.row["lore_id"]: hit.words for hit in hits}
    assert words["nut"] > words["x0"] > 0


def test_runs_and_their_pairs() -> None:
    assert runs("API 错误 and 再起動") == ["错误", "再起動"]
    assert pairs("API 错误 and 再起動 猫") == ("错误", "再起", "起動", "猫")
    assert without_runs("API 错误 now").split() == ["API", "now"]


def test_lines_are_joined_without_a_space_where_a_sentence_goes_on() -> None:
    assert join_lines("备份保存\n九十天。\n下一句") == "备份保存九十天。\n下一句"
    assert join_lines("two\nwords 和\nmore") == "two\nwords 和\nmore"


def test_a_word_that_a_papers_line_end_cuts_is_found(memory: Memory) -> None:
    memory.documents.import_document(Path("a.txt"), protocol="aave", content="备份保存九\n十天。".encode())
    (passage,) = memory.documents.search("九十")
    assert passage["content"] == "备份保存九十天。"
    assert passage["words"] == 1
