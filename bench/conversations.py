"""Recall of memories on LoCoMo and LongMemEval: are the turns that hold an answer among the first?

    python -m bench.conversations locomo10.json --wrong errors.json
    python -m bench.conversations longmemeval_s.json --questions 100 --model offline

Neither set is shipped (LoCoMo is CC BY-NC 4.0, LongMemEval MIT): name a file of your own. Every turn of a
conversation is a memory, "Speaker: text", and every question is asked of the memories of its conversation, as
`search_memory` ranks them (by meaning) and as *Ask* and contexts do (with words). No model writes or judges
an answer, so a figure is that of retrieval alone. Left out are questions without an answer in their
conversation (LoCoMo's category 5, LongMemEval's `_abs`), those whose evidence names turns that there are not,
and those in a file of known wrong answers (`errors.json` of github.com/dial481/locomo-audit).

LoCoMo: Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024
LongMemEval: Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from store.embedding import open_embedder
from store.embedding.protocol import Embedder
from store.evaluation.evaluation import figure, measures_of
from store.memory.engine.fusion import EntryHit
from store.memory.memory import Memory

DEPTHS = (5, 10, 20)
_TURN = re.compile(r"D\d+:\d+")
_ADVERSARIAL = 5
_KINDS = {1: "several turns", 2: "when", 3: "open domain", 4: "one turn"}  # LoCoMo's categories


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the turns that hold its answer."""

    text: str
    kind: str
    evidence: frozenset[str]


# A question, and the ranks of its evidence by meaning and with words, ascending from 1.
Answer = tuple[Question, list[int], list[int]]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns by their id, and what is asked about them."""

    turns: dict[str, str]
    questions: list[Question]


def read(path: Path, *, wrong: frozenset[str] = frozenset()) -> Iterator[Conversation]:
    """The conversations of either set. Raises ValueError for another file."""
    samples = json.loads(path.read_text("utf-8"))
    for at, sample in enumerate(samples if isinstance(samples, list) else [samples]):
        if "qa" in sample:
            yield _locomo(sample, at, wrong)
        elif "haystack_sessions" in sample:
            yield _longmemeval(sample, wrong)
        else:
            raise ValueError(
                f"{path} is neither LoCoMo (qa, conversation) nor LongMemEval (haystack_sessions)"
            )


def _locomo(sample: dict[str, Any], at: int, wrong: frozenset[str]) -> Conversation:
    sessions = [said for said in sample["conversation"].values() if isinstance(said, list)]
    turns = {turn["dia_id"]: _said(turn) for said in sessions for turn in said}
    questions = [
        Question(asked["question"], _KINDS.get(asked["category"], "other"), evidence)
        for number, asked in enumerate(sample["qa"])
        if asked["category"] != _ADVERSARIAL and f"locomo_{at}_qa{number}" not in wrong
        for evidence in [frozenset(_TURN.findall(" ".join(asked["evidence"])))]
        if evidence and evidence <= turns.keys()
    ]
    return Conversation(turns, questions)


def _said(turn: dict[str, Any]) -> str:
    picture = f" [picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{picture}"


def _longmemeval(sample: dict[str, Any], wrong: frozenset[str]) -> Conversation:
    sessions = zip(sample["haystack_session_ids"], sample["haystack_sessions"], strict=True)
    found = {f"{id}:{number}": turn for id, said in sessions for number, turn in enumerate(said)}
    turns = {id: f"{turn['role'].capitalize()}: {turn['content']}" for id, turn in found.items()}
    evidence = frozenset(id for id, turn in found.items() if turn.get("has_answer"))
    id = str(sample["question_id"])
    is_asked = evidence and not id.endswith("_abs") and id not in wrong
    question = Question(sample["question"], sample["question_type"], evidence)
    return Conversation(turns, [question] if is_asked else [])


def ranks(memory: Memory, conversation: Conversation) -> Iterator[Answer]:
    """Each question with the ranks of its evidence; the memory has to be empty."""
    entries = memory.memories.entries
    told = {"tags": "[]", "timestamp": "2000-01-01T00:00:00Z"}
    rows = ({"id": id, "content": text, **told} for id, text in conversation.turns.items() if text.strip())
    entries.upsert(rows, verb="store")
    for question in conversation.questions:
        hits, _ = memory.memories.ranked(question.text)
        with_words = sorted(hits, key=lambda hit: -hit.score)
        yield question, _places(hits, question), _places(with_words, question)


def _places(hits: Sequence[EntryHit], question: Question) -> list[int]:
    return [place for place, hit in enumerate(hits, start=1) if hit.row["id"] in question.evidence]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--wrong", type=Path, help="a JSON list of questions to leave out, by question_id")
    parser.add_argument("--questions", type=int, help="ask so many")
    parser.add_argument("--model", help="the embedding model (the memory's default)")
    given = parser.parse_args()
    listed = json.loads(given.wrong.read_text("utf-8")) if given.wrong else []
    wrong = frozenset(str(each["question_id"]) for each in listed)
    embedder = open_embedder(given.model) if given.model else None
    answers = list(islice(_answers(read(given.file, wrong=wrong), embedder), given.questions))
    print(
        f"| evidence found, of | order | questions | {' | '.join(f'first {k}' for k in DEPTHS)} | nDCG@10 |"
    )
    print(f"| --- | --- | ---: | {' | '.join('---:' for _ in DEPTHS)} | ---: |")
    for kind in [*sorted({question.kind for question, *_ in answers}), "all"]:
        own = [one for one in answers if kind in (one[0].kind, "all")]
        for order, places in (("meaning", [one[1] for one in own]), ("with words", [one[2] for one in own])):
            found = [(len(one[0].evidence), at) for one, at in zip(own, places, strict=True)]
            recalls = [np.array([measures_of(at, right, k=k)[0] for right, at in found]) for k in DEPTHS]
            gains = np.array([measures_of(at, right, k=10)[2] for right, at in found])
            cells = [
                f"{one.mean:.3f} ({one.low:.2f}–{one.high:.2f})" for one in map(figure, [*recalls, gains])
            ]
            print(f"| {kind} | {order} | {len(own)} | {' | '.join(cells)} |")


def _answers(conversations: Iterator[Conversation], embedder: Embedder | None) -> Iterator[Answer]:
    for conversation in conversations:
        if conversation.questions:
            with (
                tempfile.TemporaryDirectory() as folder,
                Memory.open(Path(folder) / "res", embedder=embedder) as memory,
            ):
                yield from ranks(memory, conversation)


if __name__ == "__main__":
    main()
