"""Pages and numbers are those that SQL gives, after each kind of change, in each process."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from store.catalog import listing
from store.catalog.filters import FacetLength, Filter, parts
from store.catalog.listing import Listing, _moment, _of_rows
from store.duplicates.findings import weigh
from store.errors import InvalidRecord
from store.library import Library
from store.pictures.picture_texts import TextReading, store_reading
from store.records import TIERS
from store.runtime import open_reader
from store.writing.reconcile import reconcile
from tests.store.conftest import address, coin, written
from tests.store.hashed import Hashed
from tests.store.plain_listing import lists_are_right, plain_list

pytestmark = pytest.mark.usefixtures("without_chroma")

DOG = Filter(tags=("dog",))
EVERY_TIER = (Filter(), *(Filter(tier=tier) for tier in TIERS))
FILTERS = (
    *EVERY_TIER,
    Filter(tier="pending", tags=("dog",)),
    Filter(tier="pending", without_tags=("do*",)),
    Filter(tags=("*",)),
    Filter(without_tags=("*",)),
    Filter(categories=("animals",), without_categories=("space",)),
    Filter(words="coin"),
    Filter(tier="pending", words="renamed"),
    Filter(words=address(1)),
    Filter(tags=("dog",), words="number 3"),
    Filter(picture_texts=("moon",)),
    Filter(names=("coin", "3")),
    Filter(tier="pending", ticker="c*"),
    Filter(address=address(1)),
    Filter(since=1_700_000_002, until=1_700_000_006),
    Filter(tier="pending", captioned=True),
    Filter(captioned=False, longer=0, shorter=40),
    Filter(having=("visual",)),
    Filter(lacking=("entity",)),
    Filter(lengths=(FacetLength("entity", 3, 30),)),
    Filter(language="greek"),
    Filter(suspicious=True),
    Filter(tier="pending", suspicious=False),
    Filter(unfit="yes"),
    Filter(unfit="no"),
    Filter(unfit="hand"),
    Filter(troubled=False, tier="approved"),
    Filter(coin_set="0123456789"),
    Filter(source="a list"),
    Filter(rejected_for="scam"),
    Filter(decided_by="ann"),
    Filter(any_of=((DOG, Filter(tier="trash")), (Filter(words="coin"), Filter(language="greek")))),
    Filter(none_of=(DOG, Filter(suspicious=True))),
    Filter(tier="pending", none_of=(Filter(words="3"),)),
)


@pytest.fixture
def ten_coins(library: Library) -> Library:
    numbers = {3: {"token_name": "Δoge"}, 5: {"created_at": 1_700_000_004}, 6: {"tags": ["moon"]}}
    library.add(
        (coin(number, **numbers.get(number, {})) for number in range(10)), source="a list", actor="ann"
    )
    return library


def _coins_look_alike(library: Library) -> None:
    """As the search for copies finds out, without a new generation."""
    with library.catalog.writing() as db:
        db.execute("UPDATE spellings SET name = 'same', name_skeleton = 'same' WHERE record < 4")
        for number in range(3):
            weigh(db, address(number))


def _a_picture_is_read(library: Library) -> None:
    with library.catalog.writing() as db:
        store_reading(db, TextReading(library.get(address(2)).image_hash, "to the moon", "moon", 0.9))


def _files_are_changed(library: Library) -> None:
    sidecar = library.layout.sidecar("pending", address(7))
    sidecar.write_text(sidecar.read_text().replace("Coin 7", "a renamed COIN"))
    for file in (library.layout.sidecar("pending", address(0)), library.layout.image("pending", address(0))):
        file.unlink()
    assert not reconcile(library.catalog, library.layout)


CHANGES: tuple[Callable[[Library], object], ...] = (
    lambda library: library.approve([address(1), address(4)], actor="ann"),
    lambda library: library.reject([address(2)], reason="scam", actor="ann"),
    lambda library: library.undo(actor="ann"),
    lambda library: library.reject([address(2)], reason="Scam", actor="ann"),
    lambda library: library.caption(address(3), caption=written("short")),
    lambda library: library.caption(address(4), caption=written("long text")),
    lambda library: library.edit_tags([address(8)], add=["moon"], remove=["dog"]),
    lambda library: library.edit_tags([address(5)], remove=["dog"]),
    lambda library: library.flag([address(9)], True),
    lambda library: library.add([coin(20), coin(21, created_at=1_700_000_004)]),
    _coins_look_alike,
    _a_picture_is_read,
    lambda library: library.promote([address(1)]),  # which is refused, and noted
    lambda library: library.promote([address(4)]),
    _files_are_changed,
    lambda library: library.trash.empty(expected=9),
    lambda library: library.add([coin(30)]),
)


@pytest.mark.parametrize("few", [1_000, 1])
def test_lists_are_right_after_each_change(
    ten_coins: Library, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_FEW", "_FEW_BY_WORDS", "_FEW_LEFT"):  # what is renewed, or made from nothing each time
        monkeypatch.setattr(listing, name, few)
    with open_reader(ten_coins.layout.root, embedder=Hashed()) as reader:
        lists_are_right(reader, *FILTERS)
        matched = set()
        for number, change in enumerate(CHANGES):
            change(ten_coins)
            lists_are_right(ten_coins, *EVERY_TIER)
            lists_are_right(ten_coins, *FILTERS, sorts=("suspicious",))
            matched |= {filter for filter in FILTERS if ten_coins.count(filter)}
            if number % 3 == 2:  # another process, which missed some changes
                lists_are_right(reader, *FILTERS, sorts=("moved",))
        assert set(FILTERS) - matched == {Filter(coin_set="0123456789")}, "every other filter found something"


def test_after_a_decision_only_the_coins_that_changed_are_asked_about(
    ten_coins: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    filters = [filter for filter in FILTERS if all(part.is_own for part in parts(filter))]
    lists_are_right(ten_coins, *filters)
    asked = []

    def asked_of(now: Any, given: Any, among: list[int] | None, **how: Any) -> Any:
        asked.append(among)
        return _of_rows(now, given, among, **how)

    monkeypatch.setattr(listing, "_of_rows", asked_of)
    monkeypatch.setattr(Listing, "_listed", lambda *_: pytest.fail("asked about every coin"))
    ten_coins.approve([address(1)])
    ten_coins.add([coin(40)])
    for filter in filters:
        assert ten_coins.find(filter, limit=3) == ten_coins.records(plain_list(ten_coins, filter)[:3])
    assert {tuple(among or ()) for among in asked} == {(2, 11)}


def test_a_sample_changes_only_with_the_coins_that_it_has(ten_coins: Library) -> None:
    def sample(limit: int) -> set[str]:
        return set(ten_coins._listing.sample(ten_coins.catalog, Filter(tier="pending"), limit=limit))

    assert sample(10) == sample(99) == {address(number) for number in range(10)}
    before = sample(4)
    assert len(before) == 4
    ten_coins.add(coin(number) for number in range(20, 24))
    one, *others = sorted(before & sample(4))
    ten_coins.caption(one, caption=written("text"))
    assert sample(4) >= {one, *others}
    ten_coins.approve([one])
    assert {*others} < sample(4)
    assert one not in sample(4)


def test_orders_are_ready_before_a_page_asks_for_them(
    ten_coins: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten_coins.prepare_lists()
    monkeypatch.setattr(listing, "_in_order", lambda _: pytest.fail("listed when a page asked"))
    ten_coins.approve([address(1)])
    lists_are_right(ten_coins, *EVERY_TIER)


def test_an_older_moment_does_not_replace_a_newer_list(ten_coins: Library) -> None:
    pending, own = Filter(tier="pending"), ten_coins._listing
    with _moment(ten_coins.catalog) as before:
        ten_coins.approve([address(1)])
        assert own.count(ten_coins.catalog, pending) == 9
        assert own._passing(before, pending).sum() == 10, "as it was then"
        assert own.count(ten_coins.catalog, pending) == 9


def test_the_addresses_of_an_older_moment_can_still_be_asked_for(
    ten_coins: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending, own, catalog = Filter(tier="pending"), ten_coins._listing, ten_coins.catalog
    with _moment(catalog) as before:
        ten_coins.add([coin(number) for number in range(20, 23)])
        newer = own.addresses(catalog, pending)
        with monkeypatch.context() as earlier:
            earlier.setattr(listing, "_moment", lambda _: nullcontext(before))
            assert len(own.addresses(catalog, pending)) == 10, "as it was then"
        assert len(newer) == 13
        assert own.addresses(catalog, pending) is newer


@pytest.mark.parametrize(
    ("sort", "index"),
    [
        ("newest", "records_by_newest"),
        ("oldest", "records_by_creation"),
        ("moved", "records_by_move"),
        ("name", "records_by_name"),
    ],
)
def test_every_order_is_merged_from_an_index(library: Library, sort: str, index: str) -> None:
    with library.catalog.reading() as db:
        plan = [row["detail"] for row in db.execute(f"EXPLAIN QUERY PLAN {listing._in_order(sort)}")]
    assert plan.count("MERGE (UNION ALL)") == len(TIERS) - 1
    assert plan.count(f"SEARCH records USING COVERING INDEX {index} (tier=?)") == len(TIERS)


def test_an_unknown_order_is_refused(library: Library) -> None:
    with pytest.raises(InvalidRecord, match="there is no order 'best'; there are newest, oldest"):
        library.find(Filter(), sort="best")
