"""Any text is parsed into a tree, and the tree is formatted as a line that parses to the same tree."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.catalog.filter_syntax import MAX_CONDITIONS, corrected, edited, parsed, values
from store.catalog.filter_syntax import written as filter_written
from store.catalog.filters import Filter
from store.catalog.query_grammar import (
    MAX_DEPTH,
    AllOf,
    Condition,
    Dialect,
    Node,
    Not,
    Phrase,
    Word,
    all_of,
    any_of,
    parse,
    written,
)
from store.library import Library
from store.runtime import open_library
from store.search.query_syntax import read
from store.search.query_syntax import written as question_written
from tests.store.conftest import address, coin
from tests.store.hashed import Hashed

PIECES = (
    "tag:", "tag:a", "words:", "entity:", "like:", "like:ab", "picture", "-", "−", "–", "+", "2 ×", "3*", "x",
    "dog*", "frog", "5", "(", ")", " (", ") ",
    " OR ", " AND ", " NOT ", "OR", "*", ";", ":", "$", '"', "“", "”",
    "«", "»", " ", "https://x.y", "🐸", "狗",
)  # fmt: skip
TYPED = (
    st.text(max_size=40)
    | st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
    | st.text('0a"−-+ x×*:;,“”„tg()OR', max_size=30)
)
DIALECTS = st.sampled_from(["filter", "question"])

WORDS = st.from_regex(r"\A[a-z]{1,6}\*?\Z").map(Word)
PHRASES = st.from_regex(r"\A[a-z]{1,4}( [a-z]{1,4}){0,2}\Z").map(Phrase)
VALUES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Z", "C"], exclude_characters='"'), max_size=6
)
CONDITIONS = st.builds(Condition, st.sampled_from(["tag", "category", "words", "nokey"]), VALUES)


def larger(nodes: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    some = st.lists(nodes, min_size=2, max_size=3)
    denied = nodes.filter(lambda node: not isinstance(node, Not)).map(Not)
    return denied | some.map(any_of).map(kept) | some.map(all_of).map(kept)


def kept(node: Node | None) -> Node:
    assert node
    return node


TREES = st.recursive(WORDS | PHRASES | CONDITIONS, larger, max_leaves=8).map(
    lambda node: node if isinstance(node, AllOf) else AllOf((node,))
)


@given(TREES)
def test_every_tree_can_be_formatted_and_parsed_again(tree: AllOf) -> None:
    assert parse(written(tree)).tree == tree


@given(TYPED, DIALECTS)
def test_any_input_can_be_formatted_and_parsed_again(text: str, dialect: Dialect) -> None:
    tree = parse(text, dialect).tree
    line = written(tree, dialect)
    assert parse(line, dialect).tree == tree
    assert written(parse(line, dialect).tree, dialect) == line


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = open_library(tmp_path_factory.mktemp("grammar"), embedder=Hashed())
    library.add(
        [coin(0, tags=["dog", "nsfw"]), coin(1, tags=["cat"]), coin(2, tags=["doge"]), coin(3, tags=[])]
    )
    yield library
    library.close()


@pytest.mark.usefixtures("without_chroma")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("tag:dog OR tag:cat", [0, 1]),
        ("tag:dog -tag:nsfw OR tag:cat", [1]),  # AND binds closer
        ("(tag:dog OR tag:cat) -tag:nsfw", [1]),
        ("-(tag:dog OR tag:cat)", [2, 3]),
        ("NOT (tag:dog OR tag:cat)", [2, 3]),
        ("tag:dog AND tag:nsfw", [0]),
        ("tag:dog*", [0, 2]),
        ("-tag:dog*", [1, 3]),
        ('tag:"dog*"', [0, 2]),
        ("Coin* (tag:cat OR -before:2000)", [0, 1, 2, 3]),
        ("coin -2", [2]),  # a number with its sign is a word
        ("-dup:yes tag:cat", [1]),
        ("(tag:cat", [1]),
        ("tag:cat OR", []),  # still incomplete: OR is a word
    ],
)
def test_or_not_parentheses_and_wildcards_filter_records(
    shared: Library, line: str, found: list[int]
) -> None:
    assert sorted(shared.addresses(parsed(line).filter)) == sorted(map(address, found))


@pytest.mark.parametrize(
    "line",
    [
        "$WIF", "c++", "🐸", "狗狗币", "0xAbC:12", "https://x.com/a?b=c:d", ":)", "frog (rare)", "f*ck",
        "NOT", "OR", "or", "3.14", "don't", "a-b", "-5", "#1", "pepe(old)", "$NOT moon",
    ],
)  # fmt: skip
def test_operator_characters_inside_a_word_belong_to_the_word(line: str) -> None:
    assert parsed(line).filter == Filter(words=line)
    assert not parsed(line).hints


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("(tag:dog", "The ( at character 1 is not closed. Add a ) where it ends."),
        ("tag:dog OR tag:cat)", "The ) at character 19 closes nothing. Leave it out, or add a (."),
        ('moon tag:"two words', 'The " at character 10 is not closed. Add a " where it ends.'),
        (
            "(" * (MAX_DEPTH + 1) + "tag:a",
            f"The ( at character {MAX_DEPTH + 1} is one too many: at most 16 deep.",
        ),
    ],
)
def test_a_syntax_error_is_tolerated_and_its_position_reported(line: str, hint: str) -> None:
    assert hint in parsed(line).hints
    assert parsed(line).faults == []


def test_faults_inside_parentheses_are_reported() -> None:
    assert parsed("(tagg:dog OR cat)").faults == ["Unknown filter 'tagg'. Did you mean tag:?"]
    assert corrected("(tagg:dog OR cat) x") == "(tag:dog OR cat) x"
    assert read("tier:pending OR tag:a").faults[0].startswith("tier: cannot be negated")
    assert parsed("tag:a " * (MAX_CONDITIONS + 1)).faults == ["This line has more than 200 conditions."]
    assert read("entity:frog OR tag:a").filter_faults


def test_a_filter_with_alternatives_can_be_formatted_and_parsed_again() -> None:
    line = "tag:a (tag:b OR -category:c moon) -(before:2025-01-01 rocket)"
    criteria = parsed(line).filter
    assert criteria.any_of == ((Filter(tags=("b",)), Filter(words="moon", without_categories=("c",))),)
    assert parsed(filter_written(criteria)).filter == criteria


def test_a_control_narrows_a_line_with_alternatives() -> None:
    assert edited("tag:a OR tag:b", "tag", ["c"]) == "(tag:a OR tag:b) tag:c"
    assert values("tag:x (tag:a OR tag:b)", "tag") == ["x"]
    assert edited('2*"frog" tag:x', "tag", ["y"], "question") == '2 × "frog" tag:y'


@pytest.mark.parametrize(
    ("line", "text", "filter"),
    [
        ("cat OR dog in space", "cat OR dog in space", Filter()),  # plain words are searched by meaning
        ("frog*", "frog", Filter(words='"frog*"')),
        ("frog (tag:a OR tag:b)", "frog", Filter(any_of=((Filter(tags=("a",)), Filter(tags=("b",))),))),
        ('"cat" OR "dog"', "cat dog", Filter(any_of=((Filter(words='"cat"'), Filter(words='"dog"')),))),
        ("cat OR tag:b", "cat", Filter(any_of=((Filter(words='"cat*"'), Filter(tags=("b",))),))),
        ('frog NOT "rain"', "frog", Filter(none_of=(Filter(words='"rain"'),))),
        ("frog -dog*", "frog", Filter(none_of=(Filter(words='"dog*"'),))),
    ],
)
def test_a_question_searches_plain_words_and_filters_by_conditions(
    line: str, text: str, filter: Filter
) -> None:
    question = read(line)
    assert [term.text for term in question.terms] == [text]
    assert question.filter == filter
    assert read(question_written(question)) == question


@pytest.mark.parametrize("dialect", ["filter", "question"])
@pytest.mark.parametrize(
    "line", ["(", "((((", "(;", "-(", "NOT (", "frog (", "frog OR (", "frog AND (", "frog NOT ("]
)
def test_an_open_parenthesis_that_nothing_follows_asks_nothing(line: str, dialect: Dialect) -> None:
    assert written(parse(line, dialect).tree, dialect) == ("frog" if "frog" in line else "")
    assert "is not closed" in parse(line, dialect).hints[-1]


def test_thousands_of_parentheses_give_few_sentences() -> None:
    assert len(parse("(" * 20_000).hints) <= MAX_DEPTH + 1
