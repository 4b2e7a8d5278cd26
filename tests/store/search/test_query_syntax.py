"""A question written as one line means the same as its chips, and no text is an error."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from store.catalog.filters import Filter
from store.records import FACETS
from store.search.query import MAX_PARTS
from store.search.query_syntax import Question, Term, read, with_signs, written
from tests.store.catalog.test_filter_syntax import FILTERS

WORDS = st.lists(st.from_regex(r"\A[a-z]{1,8}\Z"), min_size=1, max_size=4).map(" ".join)
SAID = WORDS | st.sampled_from(
    ["dog + cat", "sad - but funny", "entity: x", "tag:dog", "2 × frog", "picture", "a; b"]
)
PLACES = st.just(FACETS) | st.sets(st.sampled_from(FACETS), min_size=1, max_size=4).map(
    lambda chosen: tuple(facet for facet in FACETS if facet in chosen)
)
WEIGHTS = st.sampled_from([1.0, 2.0, 0.5, -1.0, -3.0, 0.0, 100.0, 1e-7, -2.3456789])
TERMS = st.one_of(
    st.builds(Term, st.just("text"), SAID, WEIGHTS, PLACES),
    st.builds(Term, st.just("picture"), st.sampled_from(["", "0a1b2c", "local-x"]), WEIGHTS, PLACES),
    st.builds(Term, st.just("like"), st.sampled_from(["0xabc", "local-y"]), WEIGHTS, PLACES),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TERMS, min_size=1, max_size=5).map(tuple), FILTERS, st.lists(WORDS, max_size=2))
def test_every_question_can_be_formatted_and_parsed_again(
    terms: tuple[Term, ...], filter: Filter, phrases: list[str]
) -> None:
    question = Question(terms, replace(filter, words=" ".join(f'"{phrase}"' for phrase in phrases)))
    line = written(question)
    assert read(line) == question, line
    assert not read(line).faults


@given(
    st.text(max_size=60)
    | st.text('0a"−-+ x×*:;,“”„tg')
    | st.lists(
        st.sampled_from(
            ["entity:", "-", "−", "+", '"', " ", "2 ×", "3*", "picture", "like:", ";", "x", "tag:", "words:"]
        )
    ).map("".join)
)
@example('words:0"entity:0')  # a quote within a word
def test_no_input_raises_an_error(text: str) -> None:
    assert len(read(text).terms) <= MAX_PARTS
    again = read(written(read(text)))
    assert again.terms == read(text).terms


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ('2*"shiba in space" + picture - "text overlay"', '2 × "shiba in space" + picture − "text overlay"'),
        ("entity: frog; visual: pixel art", 'entity:"frog" + visual:"pixel art"'),
        ("frog -rain", '"frog" − "rain"'),
        ("dog + cat", '"dog" + "cat"'),
        ("visual:like:abc - entity:like:abc", "visual:like:abc − entity:like:abc"),
        ("frog; visual: pixel art", 'image,entity,context,emotions:"frog" + visual:"pixel art"'),
        ('dog + entity:"frog"', '"dog" + entity:"frog"'),
        ("“frog” + “dog”", '"frog" + "dog"'),
        ("a sci-fi dog - funny", "a sci-fi dog - funny"),
        ("5 x 5 grid", "5 x 5 grid"),
        ("entity: 5 x 5 grid", '1 × entity:"5 x 5 grid"'),
        ('2.5 × "dog" − 0,5 × "cat"', '2.5 × "dog" − 0.5 × "cat"'),
        ('.5*"dog" + 1000000 × "cat"', '0.5 × "dog" + 1000000 × "cat"'),
        ("entity: 2 × frog; visual: 3*pixel art", '2 × entity:"frog" + 3 × visual:"pixel art"'),
        ('"tag:dog"', '1 × "tag:dog" words:"tag:dog"'),
        ('"note: sell" " -tag:cat"', '1 × "note: sell -tag:cat" words:"note: sell" words:"-tag:cat"'),
        ("a picture of a dog", "a picture of a dog"),
        ('2*"shiba in space"+picture-"overlay"', '2 × "shiba in space" + picture − "overlay"'),
        ("„to the moon“ dog", 'to the moon dog words:"to the moon"'),
        ("«dog» + “cat”", '"dog" + "cat"'),
        ("entity: a 5 x 5 grid", '1 × entity:"a 5 x 5 grid"'),
        ("entity: frog; tag:pond; visual: art", 'entity:"frog" + visual:"art" tag:pond'),
        ("frog -5 +tag:cold", "frog -5 tag:cold"),
        ('frog tag:"a pond', 'frog tag:"a pond"'),
        ("frog tag:„a pond“ -tag:«sea»", 'frog tag:"a pond" -tag:sea'),
        ('frog tag:"«" tag:"»"', 'frog tag:"«" tag:»'),
        ('"0""0 −', '1 × "0 0 −" words:"0" words:"0 −"'),
    ],
)
def test_a_line_is_parsed_as_the_user_means_it(line: str, same: str) -> None:
    assert written(read(line)) == same


def test_a_lone_surrogate_is_dropped_and_reported() -> None:
    question = read("frog \udcff tag:mo\ud83don")
    assert question == read("frog tag:moon")
    assert question.faults == ("an unpaired surrogate (invalid Unicode) was left out",)


def test_a_quoted_phrase_among_words_is_required() -> None:
    question = read('frog "to the moon" tag:dog')
    assert [term.text for term in question.terms] == ["frog to the moon"]
    assert question.filter == Filter(words='"to the moon"', tags=("dog",))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("frog - cartoon", "frog − cartoon"),
        ("frog – pixel art", "frog − pixel art"),
        ("frog — pixel art", "frog − pixel art"),
        ("3x dog", "3 × dog"),
        ("3xdog", "3 × dog"),
        ("dog x3", "3 × dog"),
        ("dog X3 cat", '3 × "dog" cat'),
        ("dog*2", "2 × dog"),
        ("frog dog*2.5 cat", 'frog 2.5 × "dog" cat'),
        ("dog^2 -cat", "2 × dog -cat"),
        ("frog - 3xdog", "frog − 3 × dog"),
        ("0xab12", "0xab12"),
        ("2x4", "2x4"),
        ("x3", "x3"),
        ("moon 100x", "moon 100x"),
        ("sad cat - 0.5x rain", "sad cat − 0.5 × rain"),
        ("frog -cartoon", "frog -cartoon"),
        ("5 x 5 grid", "5 x 5 grid"),
        ("- frog", "- frog"),
        ("tag:dog - cat", "tag:dog − cat"),
        ("frog-cartoon", "frog-cartoon"),
        ("frog −", "frog −"),
    ],
)
def test_what_looks_like_a_sign_is_offered_as_one(typed: str, meant: str) -> None:
    assert with_signs(typed) == meant
    assert with_signs(meant) == meant


def test_an_offered_sign_means_what_it_looks_like() -> None:
    assert [(term.text, term.weight) for term in read(with_signs("frog - cartoon")).terms] == [
        ("frog", 1.0),
        ("cartoon", -1.0),
    ]
    for typed in ("3x dog", "3xdog", "dog x3", "dog*3", "dog^3"):
        assert [(term.text, term.weight) for term in read(with_signs(typed)).terms] == [("dog", 3.0)], typed
