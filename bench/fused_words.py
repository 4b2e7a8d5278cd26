"""What the words of a question add to its meaning: python -m bench.fused_words ROOT (with the demo library).

Two sets of questions are asked with the reference weights, once by meaning alone and once with the
question's words: the demo's golden queries, which are derived from the same facts as its captions, and
`independent_questions.json`, written and judged from the pictures alone (bench/README.md).
"""

import json
import sys
from pathlib import Path

import numpy as np

from store.evaluation import evaluation
from store.evaluation.evaluation import Evaluation, PresetResult, evaluate
from store.reading.reader import Reader
from store.runtime import open_reader
from store.search.golden_queries import Golden
from store.vectors.weights import DEFAULT_PRESET, PRESETS

QUESTIONS = Path(__file__).with_name("independent_questions.json")


def main(root: Path) -> None:
    """Print both sets, each by meaning alone and with words, and the difference for the same questions."""
    with open_reader(root) as reader:
        _compare(reader, "the demo's golden queries", reader.golden.all(collection="demo"))
        _compare(reader, "independent questions", independent_questions())


def independent_questions() -> list[Golden]:
    """The questions that were written and judged from the pictures alone."""
    rows = json.loads(QUESTIONS.read_text(encoding="utf-8"))["queries"]
    return [Golden(row["line"], tuple(row["answers"])) for row in rows]


def _compare(reader: Reader, name: str, goldens: list[Golden]) -> None:
    found = evaluate(reader, goldens=goldens, presets={DEFAULT_PRESET: PRESETS[DEFAULT_PRESET]})
    rows = {row.fused: row for row in found.rows if not row.calibrated}
    print(f"| {found.queries} {name} | recall@10 | MRR | first right | nDCG@10 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for fused, row in sorted(rows.items()):
        scores = found.scores(row)
        cells = (scores.recall, scores.mrr, _first_right(row), scores.ndcg)
        print(f"| {'with words' if fused else 'meaning alone'} |", " | ".join(map(_text, cells)), "|")
    print(f"difference of nDCG@10: {_text(_difference(found, rows))}\n")


def _first_right(row: PresetResult) -> evaluation.Figure:
    return evaluation.figure(np.array([float(places[:1] == (1,)) for places in row.places]))


def _difference(found: Evaluation, rows: dict[bool, PresetResult]) -> evaluation.Figure:
    return evaluation.figure(found.gains(rows[True]) - found.gains(rows[False]))


def _text(figure: evaluation.Figure) -> str:
    return f"{figure.mean:.3f} ({figure.low:.3f}–{figure.high:.3f})"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
