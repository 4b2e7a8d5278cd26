"""Contradictions and repetitions between chunks."""

import pytest

from store.memory.text.conflicts import compared


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The city has nine gates.", "The city has seven gates.", "other number"),
        ("The king is alive in the north tower.", "The king is dead in the north tower.", "opposite"),
        ("Robots vote in the city.", "Robots do not vote in the city.", "negation"),
        ("The capital of the realm is Arven.", "The capital of the realm is Brin.", "other name"),
        ("Bread rises overnight slowly.", "Slowly, bread rises overnight.", "says the same"),
    ],
)
def test_contradictions_and_repetitions_between_chunks_are_reported(
    one: str, other: str, reason: str
) -> None:
    found = compared([f"Something else first. {one}", f"{other} And more of it."])
    assert [(conflict.reason, conflict.first, conflict.second) for conflict in found] == [
        (reason, one, other)
    ]


def test_unrelated_sentences_are_not_reported() -> None:
    assert not compared(["The wolf sells light by the minute.", "The whale sings on the longest night."])


def test_a_sentence_wrapped_over_two_lines_is_compared_as_one() -> None:
    [conflict] = compared(["The city has\nnine gates.", "The city has seven\ngates."])
    assert conflict.reason == "other number"
