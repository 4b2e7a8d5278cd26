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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The vault has 3 iron gates", "The vault has 4 iron gates"),
        ("The lease ends on 31 August", "The lease ends on 30 September"),
        ("Theo was born in Ghent", "Theo was born in Lyon"),
        ("The newsletter goes out on Monday", "The newsletter goes out on Thursday"),
        ("The office is closed at noon", "The office is open at noon"),
        ("User likes long meetings", "User doesn't like long meetings"),
        ("User cannot eat gluten", "User can eat gluten"),
    ],
)
def test_one_value_that_differs_in_what_is_stated_of_one_subject_is_sure(one: str, other: str) -> None:
    assert [conflict.is_sure for conflict in compared([one, other])] == [True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoice 112 was paid by Ann", "Invoice 113 was paid by Ann"),
        ("The old royal capital of France is Paris", "The old royal capital of Italy is Rome"),
        ("On Monday the price was 5 dollars", "On Tuesday the price was 6 dollars"),
        ("User met Clara in Berlin", "User met Clara in Vienna"),
        ("The left stone wing of castles is open", "The right stone wing of castles is closed"),
        ("The house on the hill is not alive", "The house in the valley is alive"),
        ("He lives in old Paris", "He lives in old Rome"),
        ("The shop opens late on Mondays", "The shop opens late on Fridays"),
        ("Ann is an old friend of Bob", "Ann is an old friend of Carl"),
    ],
)
def test_sentences_of_one_template_that_may_both_hold_are_not_sure(one: str, other: str) -> None:
    (conflict,) = compared([one, other])
    assert not conflict.is_sure
