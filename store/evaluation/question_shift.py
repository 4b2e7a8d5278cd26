"""What a question gains if it is shifted towards its good marks and away from its bad ones (Rocchio 1971).

Each mark is scored by a shift that has not seen it, so the gain is that on coins nobody has marked yet.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from store.errors import InvalidRecord
from store.evaluation import gain
from store.evaluation.gain import Gain
from store.search.golden_queries import checked_line
from store.search.query import Query, QueryShift
from store.search.query_syntax import Question, written
from store.search.ranking import rank

if TYPE_CHECKING:
    from store.reading.reader import Reader


def shift_of(judgements: Mapping[str, bool]) -> QueryShift | None:
    """The shift by these marks, good or bad by address; None without a good one."""
    good = tuple(sorted(address for address, is_good in judgements.items() if is_good))
    bad = tuple(sorted(address for address, is_good in judgements.items() if not is_good))
    return QueryShift(good, bad) if good else None


def marks_of(reader: "Reader", question: Question) -> tuple[str, dict[str, bool]]:
    """The line that this question's marks belong to, and the marks; none if it cannot be repeated."""
    try:
        line = checked_line(written(question))
    except InvalidRecord:
        return "", {}
    return line, reader.golden.relevance_of(line)


def of_question(reader: "Reader", question: Question) -> QueryShift | None:
    """The shift of this question by its marks as they are now."""
    return shift_of(marks_of(reader, question)[1])


def measured(reader: "Reader", query: Query, judgements: Mapping[str, bool]) -> Gain:
    """The gain of shifting this query by these marks; those of coins outside the library are passed over.

    Raises InvalidRecord, saying what is missing, for fewer than LEAST good or bad marks.
    """
    query = replace(query, shift=None)
    known = [address for _, address in reader.snapshot().rows_of(sorted(judgements))]
    good = np.array([judgements[address] for address in known], np.bool_)
    gain.check_enough(int(good.sum()), int((~good).sum()))
    after = np.zeros(len(known))
    order = np.random.default_rng(0).permutation(len(known))
    for fold in np.array_split(order, min(gain.FOLDS, len(known))):
        out = {known[number] for number in fold.tolist()}
        seen = {address: judgements[address] for address in known if address not in out}
        after[fold] = _scores(reader, replace(query, shift=shift_of(seen)), [known[one] for one in fold])
    return gain.measure([good], [_scores(reader, query, known)], [after])


def _scores(reader: "Reader", query: Query, addresses: list[str]) -> gain.Floats:
    """The scores of these library records, as without a filter."""
    results = reader.search(replace(query, filter=Query(query.parts).filter, top=1))
    row_of = {address: row for row, address in enumerate(results.addresses)}
    mask = np.zeros(len(results.addresses), np.bool_)
    mask[[row_of[address] for address in addresses]] = True
    ranking = rank(
        results.answer, query.sliders, top=len(addresses), mask=mask, scale=results.scale,
        words=results.words if query.fused else None,
    )  # fmt: skip
    scores = dict(zip(ranking.rows, ranking.scores, strict=True))
    return np.array([scores.get(row_of[address], -np.inf) for address in addresses])
