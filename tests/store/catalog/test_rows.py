"""Lists are in the same order, whichever index is quicker."""

import pytest

from store.catalog import rows
from store.catalog.filters import Filter, conditions
from store.catalog.rows import SORTS
from store.library import Library
from tests.store.conftest import address, coin, written

pytestmark = pytest.mark.usefixtures("without_chroma")


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("captioned", [True, False])
def test_few_coins_with_or_without_a_caption_are_listed_as_many_are(
    library: Library, sort: str, captioned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(coin(number) for number in range(6))
    for number in (1, 4):
        library.caption(address(number), caption=written("text"))
    filter = Filter(tier="pending", captioned=captioned)
    few = [record.address for record in library.find(filter, sort=sort)]
    monkeypatch.setattr(rows, "_FEW", 0)
    assert [record.address for record in library.find(filter, sort=sort)] == few
    assert len(few) == (2 if captioned else 4)


@pytest.mark.parametrize(
    ("sort", "index"),
    [
        ("newest", "records_by_newest"),
        ("oldest", "records_by_creation"),
        ("moved", "records_by_move"),
        ("name", "records_by_name"),
    ],
)
def test_every_order_of_a_tier_is_that_of_an_index(library: Library, sort: str, index: str) -> None:
    with library.catalog.reading() as db:
        where, values = conditions(Filter(tier="pending"))
        query = f"SELECT r.id FROM records r WHERE {where} ORDER BY {SORTS[sort]} LIMIT 60"
        plan = [row["detail"] for row in db.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    assert plan == [f"SEARCH r USING COVERING INDEX {index} (tier=?)"]
