"""The harness for LoCoMo and LongMemEval reads both forms, and memories find the turns that answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.conversations import DEPTHS, Conversation, ranks, read
from store.evaluation.evaluation import measures_of
from store.memory.memory import Memory

SAID = {  # a conversation of our own, in LoCoMo's form
    "session_1_date_time": "9:10 am on 3 March, 2026",
    "session_1": [
        ("Ann", "I finally adopted a cat last weekend, she is grey and hides under the stairs."),
        ("Ben", "Lovely! My sister moved to Lisbon to work for a shipyard."),
        ("Ann", "We opened our treasury wallet with three signers, any two of them can spend."),
        ("Ben", "I burned my hand on the soldering iron, so no drawing this week."),
        ("Ann", "Let us launch the frog token on the first Friday of May then."),
        ("Ben", "Fine by me, the website needs two more weeks anyway."),
    ],
    "session_2_date_time": "6:40 pm on 20 March, 2026",
    "session_2": [
        ("Ben", "The hand has healed, I drew four stickers yesterday."),
        ("Ann", "Great. The auditor wants nine thousand dollars for the contract."),
        ("Ben", "Too much. Ask the student who checked the staking pool for free."),
        ("Ann", "Sorry for being late, the trains from the airport were on strike."),
        ("Ben", "No worries. I have been baking sourdough bread every morning."),
        ("Ann", "The cat is called Pixel now, by the way."),
    ],
}
ASKED: list[dict[str, Any]] = [
    {"question": "What pet did Ann get?", "evidence": ["D1:1"], "category": 4},
    {"question": "Where does Ben's sister live?", "evidence": ["D1:2"], "category": 4},
    {"question": "How many people have to sign a payment?", "evidence": ["D1:3"], "category": 4},
    {"question": "How did Ben injure himself, and is he better?", "evidence": ["D1:4; D2:1"], "category": 1},
    {"question": "When does the coin start?", "evidence": ["D1:5"], "category": 2},
    {"question": "What does the security review cost?", "evidence": ["D2:2"], "category": 4},
    {"question": "What is the name of Ann's animal?", "evidence": ["D2:6"], "category": 4},
    {"question": "What does Ben bake?", "evidence": ["D2:5"], "category": 4},
    {"question": "What is the name of Ben's dog?", "evidence": [], "category": 5},
    {"question": "Who paid the auditor?", "evidence": ["D9:9"], "category": 4},
]


def locomo() -> list[dict[str, Any]]:
    said = {
        name: value
        if isinstance(value, str)
        else [
            {"speaker": speaker, "dia_id": f"D{name[8:]}:{number}", "text": text}
            for number, (speaker, text) in enumerate(value, start=1)
        ]
        for name, value in SAID.items()
    }
    return [{"sample_id": "conv-0", "conversation": said, "qa": ASKED}]


def longmemeval() -> list[dict[str, Any]]:
    sessions = [
        [
            {"role": "user", "content": text, **({"has_answer": True} if "Lisbon" in text else {})}
            for _, text in said
        ]
        for said in SAID.values()
        if not isinstance(said, str)
    ]
    one = {
        "question_type": "single-session-user",
        "question": "Where does my sister live?",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_sessions": sessions,
    }
    return [{"question_id": "q1", **one}, {"question_id": "q2_abs", **one}]


def written(path: Path, samples: object) -> Path:
    path.write_text(json.dumps(samples), "utf-8")
    return path


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    (conversation,) = read(written(tmp_path / "own.json", locomo()), wrong=frozenset({"locomo_0_qa7"}))
    return conversation


def test_questions_without_an_answer_and_those_known_to_be_wrong_are_left_out(
    conversation: Conversation,
) -> None:
    assert conversation.turns["D2:6"] == "Ann: The cat is called Pixel now, by the way."
    assert len(conversation.turns) == 12
    assert [question.text for question in conversation.questions] == [one["question"] for one in ASKED[:7]]
    assert conversation.questions[3].evidence == {"D1:4", "D2:1"}


def test_memories_find_the_turns_that_answer(conversation: Conversation, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "res") as memory:
        answers = list(ranks(memory, conversation))
        assert memory.memories.entries.count() == 12
    assert DEPTHS[0] == 5
    for places in ([meaning for _, meaning, _ in answers], [words for *_, words in answers]):
        found = zip(conversation.questions, places, strict=True)
        recall = {asked.text: measures_of(at, len(asked.evidence), k=5)[0] for asked, at in found}
        assert sum(recall.values()) / len(recall) >= 0.85, recall


def test_a_question_of_longmemeval_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    first, without_answer = read(written(tmp_path / "own.json", longmemeval()))
    assert first.questions[0].evidence == {"s1:1"}
    assert first.turns["s1:1"].startswith("User: Lovely!")
    assert without_answer.questions == []


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="neither LoCoMo"):
        list(read(written(tmp_path / "own.json", [{"text": "hello"}])))
