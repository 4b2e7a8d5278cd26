"""What a question gains from marks on coins that nobody marked: python -m bench.question_shift ROOT.

The first MARKED results of each golden query are marked by its relevant coins, the question is shifted
by them (Rocchio), and nDCG@10 is computed over the other coins, before and after.
"""

import sys
from pathlib import Path

import numpy as np

from store.evaluation.question_shift import shift_of
from store.reading.reader import Reader
from store.runtime import open_reader
from store.search.query import Query, QueryShift

MARKED = 12
_FIRST = 10


def main(root: Path) -> None:
    """Print nDCG@10 before and after, with and without the question's words."""
    with open_reader(root) as reader:
        for fused in (True, False):
            found = np.array(_measure(reader, fused=fused))
            errors = 1.96 * np.std(found[:, 1] - found[:, 0]) / len(found) ** 0.5
            before, after = found.mean(axis=0)
            words = "with words" if fused else "meaning alone"
            print(
                f"{words}: {len(found)} questions, nDCG@10 {before:.3f} → {after:.3f} (gain ± {errors:.3f})"
            )


def _measure(reader: Reader, *, fused: bool) -> list[tuple[float, float]]:
    found = []
    for golden in reader.golden.all():
        query = Query(golden.parts, top=60, fused=fused)
        if any(part.kind != "text" for part in query.parts):
            continue
        marked = _addresses(reader, query)[:MARKED]
        left = set(golden.answers) - set(marked)
        shift = shift_of({address: address in golden.answers for address in marked})
        if left and shift:
            before = _ndcg(_addresses(reader, query), left, set(marked))
            found.append((before, _ndcg(_addresses(reader, query, shift), left, set(marked))))
    return found


def _addresses(reader: Reader, query: Query, shift: QueryShift | None = None) -> list[str]:
    shifted = Query(query.parts, top=query.top, fused=query.fused, shift=shift)
    return [hit.address for hit in reader.search(shifted).hits]


def _ndcg(ranked: list[str], answers: set[str], marked: set[str]) -> float:
    first = [address for address in ranked if address not in marked][:_FIRST]
    discounts = 1 / np.log2(np.arange(2, _FIRST + 2))
    gained = sum(discount for discount, one in zip(discounts, first, strict=False) if one in answers)
    return float(gained / discounts[: len(answers)].sum())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
