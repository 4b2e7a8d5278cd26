"""Search by words and vectors: exact matches, word scores, spelling, emoji, and unmatched queries."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from string import ascii_lowercase

import numpy as np
import pytest

from store import demo
from store.catalog.emoji import in_words
from store.catalog.filters import Filter
from store.catalog.spelling import distance
from store.catalog.words import content_words, forms
from store.embedding import open_embedder
from store.embedding.arrays import Vector
from store.evaluation import evaluation
from store.evaluation.evaluation import PresetResult
from store.library import Library
from store.reading.query_binding import did_you_mean, exact_matches
from store.records import FACETS, Facet
from store.runtime import open_library
from store.search.query import Part, Query
from store.search.query_syntax import read
from store.search.ranking import FUSION, Words, hits, rank
from store.search.similarities import Similarities
from store.search.skyline import skyline
from store.vectors.matrices import load
from store.vectors.weights import DEFAULT_WEIGHTS
from tests.store.conftest import coin, fresh_root

IN_LIBRARY = Filter(tier="library")
EVM = "0x" + "ab12" * 10
BASE58 = "So11111111111111111111111111111111111111112"

# Different from the questions that set the floor (store/search/nonsense_questions.txt).
_LETTERS = Random(5)
NONSENSE = tuple(
    " ".join("".join(_LETTERS.choices(ascii_lowercase, k=_LETTERS.randint(4, 9))) for _ in range(words))
    for words in (1, 2, 3)
    for _ in range(20)
)
REAL = (  # no demo coin has any of these words
    "feline", "canine", "amphibian", "beverage", "sport", "wealthy", "melancholy", "primate", "autumn",
    "cuisine",
)  # fmt: skip


@pytest.fixture(scope="module")
def demo_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The demo library with the offline model; no test changes it."""
    root = fresh_root(tmp_path_factory.mktemp("demo") / "res")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("store.chroma.base_follower.ChromaFollower.wake", lambda self: None)
        library = open_library(root, embedder=open_embedder("offline"))
        demo.load(library)
        yield library
        library.close()


def first(library: Library, line: str) -> list[str]:
    return [one.name for one in exact_matches(library, read(line), line, limit=5)]


# -- exact matches ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_demo_coin_is_found_first_by_ticker_name_and_address(demo_library: Library) -> None:
    coins = demo_library.find(IN_LIBRARY)
    assert len(coins) > 100
    for one in coins:
        asked = (one.ticker, one.ticker.lower(), f"${one.ticker}", one.name, one.name.upper(), one.address)
        for line in asked:
            found = exact_matches(demo_library, read(line, base=IN_LIBRARY), line, limit=5)
            assert found[0].address == one.address, line
            assert demo_library.named(line, IN_LIBRARY, limit=5)[0].address == one.address, line


@pytest.mark.slow
def test_a_similar_name_is_not_an_exact_match(demo_library: Library) -> None:
    for line in ("frog", "Starry", "Starry Frog Coin", "STF", "local-demo-starry", "not there", "$", "***"):
        assert first(demo_library, line) == [], line


@pytest.fixture
def tricky_names(library: Library) -> Library:
    """Coins with names and addresses that are hard to match exactly."""
    given = (
        (EVM, "Café Pepe", "$CAFE"), (BASE58, "CAFE", "PEPE"), ("local-club", "Pepe Café Club", "PCC"),
        ("local-signs", "🐸", "🐸🐸"), ("local-quoted", 'The "Best": Coin', "BEST"),
    )  # fmt: skip
    report = library.add(
        [
            coin(number, token_address=address, token_name=name, ticker=ticker)
            for number, (address, name, ticker) in enumerate(given)
        ]
    )
    assert len(report.done) == len(given)
    return library


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (EVM, ["Café Pepe"]),
        (EVM.upper().replace("0X", "0x"), ["Café Pepe"]),
        (BASE58, ["CAFE"]),
        (BASE58.lower(), []),  # base58 is case-sensitive: another address
        ("cafe", ["Café Pepe", "CAFE"]),  # by ticker, then by name
        ("  CAFÉ  PEPE ", ["Café Pepe"]),
        ("pepe", ["CAFE"]),
        ("🐸", ["🐸"]),
        ('the "best": coin', ['The "Best": Coin']),  # although quotes mark a phrase in a line
    ],
)
def test_exact_matches_ignore_case_and_accents(tricky_names: Library, line: str, found: list[str]) -> None:
    assert first(tricky_names, line) == found


# -- word scores --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fused_scores_are_the_sum_of_facet_and_word_contributions(demo_library: Library) -> None:
    parts = (Part(text="a frog in the rain"),)
    plain, fused = demo_library.search(Query(parts)), demo_library.search(Query(parts, fused=True))
    by_meaning = {hit.address: hit.score for hit in demo_library.search(Query(parts, top=200)).hits}
    for hit in fused.hits:
        facets = sum(given.contribution for given in hit.facets.values())
        assert facets == pytest.approx(by_meaning[hit.address])
        assert hit.score == pytest.approx(facets + hit.words.contribution)
    assert max(hit.words.share for hit in fused.hits) == 1
    assert all(hit.words == (0, 0) for hit in plain.hits)
    assert sum(hit.words.share > 0 for hit in fused.hits) > sum(
        hit.words.share > 0 for hit in fused.hits[20:]
    )


@pytest.mark.slow
def test_negative_and_single_facet_parts_add_no_word_score(demo_library: Library) -> None:
    for parts in (
        (Part(text="dog"), Part(text="frog", weight=-1)),
        (Part(text="frog", facets=("visual",)), Part(text="dog")),
    ):
        fused = demo_library.search(Query(parts, fused=True))
        assert {
            one.name for one in demo_library.records(hit.address for hit in fused.hits if hit.words.share)
        }.isdisjoint({"Byte Frog"})


def test_plural_and_singular_are_one_word() -> None:
    assert {"frog", "frogs"} <= set(forms("frog")) & set(forms("frogs"))
    assert "puppy" in forms("puppies")
    assert "boxes" in forms("box")
    assert content_words("The frogs of the RAIN, and 🐸!") == ("frogs", "rain", "frog")


def test_tags_are_indexed_for_search_but_not_for_the_word_filter(library: Library) -> None:
    library.add([coin(1, tags=["hoodie"])])
    with library.catalog.reading() as db:
        assert db.execute("SELECT count(*) FROM words WHERE words MATCH 'hoodie'").fetchone()[0] == 1
    assert library.count(Filter(words="hoodie")) == 0


@pytest.mark.slow
def test_fused_ranking_improves_golden_queries(demo_library: Library) -> None:
    """The parameters were tuned on one half of the queries; the other half is held out."""
    found = evaluation.evaluate(demo_library, presets={"Reference": DEFAULT_WEIGHTS["text"]})
    raw, _, fused = found.rows

    def gain(row: PresetResult, half: int) -> float:
        gains = found._table(row, k=10)[:, 2]
        return float(
            np.mean([own for own, line in zip(gains, found.lines, strict=True) if half_of(line) == half])
        )

    assert found.scores(raw).ndcg.mean == pytest.approx(0.77, abs=0.02)
    assert found.scores(fused).ndcg.mean >= 0.93
    for half in (0, 1):
        assert gain(fused, half) >= 0.85 > gain(raw, half)


def half_of(line: str) -> int:
    return int(sha256(line.encode()).hexdigest(), 16) % 2


# -- exact results in large libraries -----------------------------------------------------------------------

ROWS, DIMENSIONS = 900, 32


def random_similarities(seed: int) -> tuple[Similarities, Words, np.random.Generator]:
    random = np.random.default_rng(seed)
    vectors: dict[Facet, Vector] = {}
    for facet in FACETS:
        drawn = random.normal(0, 1, (ROWS, DIMENSIONS))
        vectors[facet] = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    rows = (
        (f"local-{row:04}", {facet: own[row] for facet, own in vectors.items() if (row + len(facet)) % 4})
        for row in range(ROWS)
    )
    direction = random.normal(0, 1, DIMENSIONS)
    asked = dict.fromkeys(FACETS, (direction / np.linalg.norm(direction)).astype(np.float32))
    chosen = np.sort(random.choice(ROWS, 40, replace=False))
    shares = random.random(40).astype(np.float32).astype(np.float64)
    return Similarities(load(rows, dimensions=DIMENSIONS).snapshot(), asked), Words(chosen, shares), random


@pytest.mark.parametrize("seed", range(6))
def test_the_best_fused_results_are_exact_and_sent_to_the_page(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.search.similarities.FEW", 100)
    asked, words, random = random_similarities(seed)
    mask = random.random(ROWS) < 0.8
    sent = skyline(asked, np.flatnonzero(mask), top=15, limit=ROWS)
    assert sent is not None
    sent = np.union1d(sent, words.rows)
    fresh, _, _ = random_similarities(seed)
    cosines = fresh.cosines(np.arange(ROWS)).astype(np.float64)
    filled = np.where(np.isnan(cosines), fresh.means, cosines)
    for _ in range(8):
        weights: dict[Facet, float] = dict(zip(FACETS, random.integers(0, 5, 5).astype(float), strict=True))
        if not any(weights.values()):
            continue
        asked, words, _ = random_similarities(seed)
        found = rank(asked, weights, top=15, mask=mask, words=words)
        shares = np.array([weights[facet] for facet in FACETS]) / sum(weights.values())
        scores = filled @ shares
        gain = FUSION * float(shares @ asked.deviations)
        scores[words.rows] += gain * words.shares
        scores[~mask | np.isnan(cosines[:, shares > 0]).all(axis=1)] = -np.inf
        best = np.argsort(-scores, kind="stable")[:15]
        assert found.gain == pytest.approx(gain)
        assert found.rows == best.tolist()
        assert found.scores == pytest.approx(scores[best].tolist(), abs=1e-6)
        assert set(found.rows) <= set(sent.tolist())
        for hit in hits(asked, found, weights, words=words):
            given = sum(one.contribution for one in hit.facets.values()) + hit.words.contribution
            assert given == pytest.approx(hit.score, abs=1e-6)


# -- spelling and emoji -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("frgo", "frog"), ("a Forg in rain tag:dog", "a frog in rain tag:dog"), ("hamstre", "hamster"),
        ("pengiun", "penguin"), ("capibarra", "capybara"), ("vaporwve", "vaporwave"),
        ("frog", None), ("frogs", None), ("hams", None), ("sport", None), ("xqzvkj", None), ("", None),
    ],
)  # fmt: skip
def test_misspelt_words_get_suggestions_from_the_library(
    demo_library: Library, line: str, meant: str | None
) -> None:
    assert did_you_mean(demo_library, read(line), line) == meant


def test_distance_counts_insertions_deletions_substitutions_and_swaps() -> None:
    assert [distance("frog", other) for other in ("frog", "frg", "froog", "frag", "frgo", "dogs")] == [
        0, 1, 1, 1, 1, 3,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("🐸", "frog"), ("🚀 to the 🌕", "rocket to the full moon"), ("👏🏽", "clapping hands sign"),
        ("🇺🇸", "us"), ("DOGE™ café", "DOGE™ café"), ("\u200d", "\u200d"), ("👨‍👩‍👧", "man woman girl"),
    ],
)  # fmt: skip
def test_an_emoji_is_replaced_by_its_name(text: str, said: str) -> None:
    assert in_words(text) == said


@pytest.mark.slow
def test_an_emoji_finds_the_same_coins_as_its_name(demo_library: Library) -> None:
    from store.reading.query_binding import parts_of

    parts, faults = parts_of(demo_library, read("🐸"), pictures=lambda name: None)
    assert not faults
    found = demo_library.search(Query(parts, top=5, fused=True))
    assert all("frog" in one.tags for one in demo_library.records(hit.address for hit in found.hits))


# -- queries that match nothing -----------------------------------------------------------------------------


@pytest.mark.slow
def test_nonsense_is_marked_as_unmatched_but_still_has_results(demo_library: Library) -> None:
    found = {text: demo_library.search(Query((Part(text=text),), fused=True)) for text in NONSENSE}
    assert all(one.hits for one in found.values())
    assert sum(not one.fits for one in found.values()) >= 0.9 * len(NONSENSE)


@pytest.mark.slow
def test_a_related_meaning_matches_without_the_exact_word(demo_library: Library) -> None:
    fits = [demo_library.search(Query((Part(text=text),))).fits for text in REAL]
    assert sum(fits) >= 8, dict(zip(REAL, fits, strict=True))


@pytest.mark.slow
def test_golden_queries_examples_and_pictures_always_match(demo_library: Library) -> None:
    for golden in evaluation.all_of(demo_library):
        assert demo_library.search(Query(golden.parts)).fits, golden.line
    address = demo_library.addresses(IN_LIBRARY)[0]
    assert demo_library.search(Query((Part(like=address), Part(text="xqzvkj")))).fits
    picture = Path(demo_library.picture(address)).read_bytes()
    assert demo_library.search(Query((Part(image=picture),))).fits
