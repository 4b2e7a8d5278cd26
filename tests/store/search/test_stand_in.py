"""Pictures in place of captions that say nothing: by the usual weights, exactly, and said with each hit."""

from typing import Any

import numpy as np
import pytest

from store.library import Library
from store.records import CAPTION_FACETS, FACETS
from store.search import similarities as similarities_module
from store.search import stand_in as stand_in_module
from store.search.query import Part, Query
from store.search.search import Results, Search, describe_pictures
from store.search.stand_in import SilentCaptions, is_usual, may_stand_in
from store.vectors.matrices import load
from tests.store.conftest import address, approved_with_caption
from tests.store.hashed import Hashed

COUNT = 400
QUERY = Query((Part(text="a frog"),), top=20)


def name(row: int) -> str:
    return f"local-{row:04}"


SILENT = frozenset(name(row) for row in range(0, COUNT, 3))


@pytest.fixture(params=["all exact at once", "by bytes"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Search:
    """Random vectors; every seventh record has no caption."""
    if request.param == "by bytes":
        monkeypatch.setattr(similarities_module, "FEW", 0)
    random = np.random.default_rng(0)
    embedder = Hashed()
    rows = []
    for row in range(COUNT):
        vectors = random.standard_normal((len(FACETS), embedder.dimensions), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        own = dict(zip(FACETS, vectors, strict=True))
        rows.append((name(row), {"image": own["image"]} if row % 7 == 0 else own))
    return Search(load(rows, dimensions=embedder.dimensions), embedder=embedder)


def plainly(results: Results) -> dict[str, float]:
    """The score of every record, record by record from the formula."""
    answer = results.answer
    columns = dict(zip(FACETS, answer.cosines(np.arange(COUNT)).T.astype(np.float64), strict=True))
    weights = dict(zip(CAPTION_FACETS, (0.4, 0.3, 0.2, 0.1), strict=True))
    silent = np.array([one in SILENT or row % 7 == 0 for row, one in enumerate(answer.addresses)])
    scores = sum(
        weight * np.where(np.isnan(columns[facet]), np.nanmean(columns[facet]), columns[facet])
        for facet, weight in weights.items()
    )
    speaking = {facet: columns[facet][~silent] for facet in CAPTION_FACETS}
    mean = sum(weight * speaking[facet].mean() for facet, weight in weights.items())
    unit = sum(weight * speaking[facet].std() for facet, weight in weights.items())
    pictures = columns["image"]
    own = mean + 0.5 * unit * (pictures - pictures.mean()) / pictures.std()
    found = np.where(silent, np.maximum(own, scores - 2 * unit), scores)
    return dict(zip(answer.addresses, found.tolist(), strict=True))


def test_the_best_are_those_of_the_formula(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.search.stand_in._SAMPLE", COUNT)
    monkeypatch.setattr("store.vectors.matrices._SAMPLE", COUNT)
    results = search.search(QUERY, silent=SILENT)
    expected = plainly(results)
    assert [hit.address for hit in results.hits] == sorted(expected, key=lambda one: -expected[one])[:20]
    assert [hit.score for hit in results.hits] == pytest.approx(
        [expected[hit.address] for hit in results.hits], abs=1e-5
    )
    assert results.compared == COUNT


def test_what_each_facet_gives_adds_up(search: Search) -> None:
    hits = search.search(Query(QUERY.parts, top=COUNT), silent=SILENT).hits
    for hit in hits:
        given = sum(facet.contribution for facet in hit.facets.values())
        assert given == pytest.approx(hit.score, abs=1e-9)
        if hit.is_by_picture:
            assert hit.address in SILENT or int(hit.address[-4:]) % 7 == 0
            assert hit.facets["image"].contribution == pytest.approx(hit.score)
    assert any(hit.is_by_picture for hit in hits)
    assert not all(hit.is_by_picture for hit in hits)


@pytest.mark.parametrize(
    "query",
    [
        Query(QUERY.parts, weights={"entity": 4, "context": 3, "visual": 2}, top=20),
        Query((Part(text="a frog", facets=("entity",)),), top=20),
        Query((Part(like=name(1)),), top=20),
    ],
    ids=["moved weights", "one facet", "an example"],
)
def test_other_questions_are_answered_as_they_were_asked(search: Search, query: Query) -> None:
    found, plain = search.search(query, silent=SILENT), search.search(query)
    assert [(hit.address, hit.score) for hit in found.hits] == [
        (hit.address, hit.score) for hit in plain.hits
    ]
    assert not any(hit.is_by_picture for hit in found.hits)


def test_the_usual_weights_may_be_named() -> None:
    assert is_usual(Query(QUERY.parts, weights=QUERY.sliders))
    assert not is_usual(Query(QUERY.parts, weights={"entity": 1}))
    assert may_stand_in(Query((*QUERY.parts, Part(text="rain", weight=-1))))


def test_a_library_without_captions_is_searched_by_its_pictures() -> None:
    embedder = Hashed()
    random = np.random.default_rng(1)
    vectors = random.standard_normal((30, embedder.dimensions), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: list[Any] = [(name(row), {"image": vector}) for row, vector in enumerate(vectors)]
    search = Search(load(rows, dimensions=embedder.dimensions), embedder=embedder)
    found = search.search(QUERY, silent=frozenset())
    by_picture = search.search(Query(QUERY.parts, weights={"image": 1}, top=20))
    assert [hit.address for hit in found.hits] == [hit.address for hit in by_picture.hits]
    assert describe_pictures(found.hits) == "these by their pictures, since their captions say nothing"
    assert search.search(QUERY).hits == []


def test_where_all_captions_are_the_same_the_pictures_decide() -> None:
    embedder = Hashed()
    random = np.random.default_rng(1)
    vectors = random.standard_normal((30, embedder.dimensions), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    same = dict.fromkeys(CAPTION_FACETS, embedder.embed_texts(["a meme coin"])[0])
    rows: list[Any] = [(name(row), {"image": vector, **same}) for row, vector in enumerate(vectors)]
    search = Search(load(rows, dimensions=embedder.dimensions), embedder=embedder)
    found = search.search(QUERY, silent=frozenset(map(name, range(30))))
    by_picture = search.search(Query(QUERY.parts, weights={"image": 1}, top=20))
    assert [hit.address for hit in found.hits] == [hit.address for hit in by_picture.hits]


@pytest.fixture
def half_captioned(library: Library) -> Library:
    """Twenty coins; the captions of the first ten say nothing."""
    library.promote(approved_with_caption(library, *range(20)))
    for number in range(20):
        text = f"Coin {number}." if number < 10 else f"a {chr(97 + number)}{chr(98 + number)} on a hill"
        library.caption(address(number), caption={"entity": text, "context": text, "visual": text})
    return library


def test_a_library_says_which_hits_are_by_picture(half_captioned: Library) -> None:
    hits = half_captioned.search(Query(QUERY.parts)).hits
    by_picture = {hit.address for hit in hits if hit.is_by_picture}
    assert by_picture
    assert by_picture <= {address(number) for number in range(10)}
    described = f"{len(by_picture)} of these by their pictures, since their captions say nothing"
    assert describe_pictures(hits) == described
    assert describe_pictures([hit for hit in hits if not hit.is_by_picture]) == ""


TELLS = "a green frog in the rain"


@pytest.fixture
def silent(library: Library) -> SilentCaptions:
    library.promote(approved_with_caption(library, *range(8)))
    return SilentCaptions(library.catalog)


def caption(library: Library, number: int, text: str) -> None:
    """The same text for every facet."""
    library.caption(address(number), caption=dict.fromkeys(("entity", "context", "visual"), text))


@pytest.mark.parametrize(
    "text",
    ["A meme coin.", "coin 17", "Community driven token on Solana!", "0x12ab", "…", "Coin 0", "C0"],
)
def test_name_numbers_and_words_of_any_coin_say_nothing(
    library: Library, silent: SilentCaptions, text: str
) -> None:
    for number in range(8):
        caption(library, number, f"{TELLS} {chr(97 + number)}x")
    caption(library, 0, text)
    assert silent.current() == {address(0)}


@pytest.mark.parametrize("text", [TELLS, "a frog coin", "frog", "蛙"])
def test_one_word_of_its_own_says_something(library: Library, silent: SilentCaptions, text: str) -> None:
    caption(library, 0, text)
    assert address(0) not in silent.current()


def test_one_facet_that_says_something_is_enough(library: Library, silent: SilentCaptions) -> None:
    caption(library, 0, "A meme coin.")
    library.caption(address(0), caption={"visual": TELLS})
    assert address(0) not in silent.current()


def test_the_same_sentence_for_many_coins_says_nothing(library: Library, silent: SilentCaptions) -> None:
    for number in range(8):
        caption(library, number, TELLS if number < 5 else f"a blue whale under waves {chr(97 + number)}x")
    assert silent.current() == {address(number) for number in range(5)}
    caption(library, 0, "a red fox on a hill")
    assert address(0) not in silent.current()


def test_a_label_that_some_coins_share_says_something_until_a_tenth_have_it(
    library: Library, silent: SilentCaptions
) -> None:
    library.promote(approved_with_caption(library, *range(8, 12)))
    for number in range(12):
        caption(library, number, "to the moon" if number < 9 else f"a red fox {chr(97 + number)}x")
    assert silent.current() == frozenset()
    caption(library, 9, "to the moon")
    assert SilentCaptions(library.catalog).current() == {address(number) for number in range(10)}


def test_a_change_is_seen_and_else_the_answer_is_the_same_object(
    library: Library, silent: SilentCaptions
) -> None:
    for number in range(8):
        caption(library, number, f"{TELLS} {chr(97 + number)}x")
    before = silent.current()
    caption(library, 1, "a red fox")
    assert silent.current() is before
    caption(library, 1, "token 1")
    assert silent.current() == {address(1)}
    library.degrade([address(1)])
    assert silent.current() == frozenset()


def test_of_a_large_library_all_captions_are_read_if_some_say_nothing(
    library: Library, silent: SilentCaptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_in_module, "_READ", 4)
    for number in range(8):
        caption(library, number, f"{TELLS} {chr(97 + number)}x" if number % 4 != 1 else "A meme coin.")
    assert SilentCaptions(library.catalog).current() == {address(1), address(5)}
    monkeypatch.setattr(stand_in_module, "MOST", 7)
    assert SilentCaptions(library.catalog).current() == frozenset()


def test_without_a_change_silent_captions_cost_as_much_as_in_an_empty_library(library: Library) -> None:
    silent = SilentCaptions(library.catalog)
    empty = _steps(library, silent)
    library.promote(approved_with_caption(library, *range(8)))
    assert _steps(library, silent) == empty > 0


def _steps(library: Library, silent: SilentCaptions) -> int:
    """How many steps SQLite takes to answer once more."""
    silent.current()
    steps: list[None] = []
    with library.catalog.reading() as db:  # the connection that is lent next, too
        db.set_progress_handler(lambda: steps.append(None), 1)
    silent.current()
    with library.catalog.reading() as db:
        db.set_progress_handler(None, 1)
    return len(steps)
