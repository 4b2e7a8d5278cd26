"""Questions in other languages about the demo's English captions: python -m bench.languages ROOT.

`question_translations.tsv` has the independent questions (bench/README.md) in German, Spanish, Chinese and
Japanese. They are asked with the reference weights, as the page asks by default: with words. How much the two
embeddings of a text count was chosen by every second question, and is reported for the others.
"""

import csv
import sys
from pathlib import Path

from bench.fused_words import independent_questions
from store.evaluation.evaluation import evaluate
from store.reading.reader import Reader
from store.runtime import open_reader
from store.search.golden_queries import Golden
from store.search.query import Query
from store.vectors.weights import DEFAULT_PRESET, PRESETS

TRANSLATIONS = Path(__file__).with_name("question_translations.tsv")
LANGUAGES = ("English", "German", "Spanish", "Chinese", "Japanese")


def main(root: Path) -> None:
    """Print nDCG@10 and recall@10 for each language, and how many questions nothing fitted."""
    answers = {golden.line: golden.answers for golden in independent_questions()}
    with TRANSLATIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    with open_reader(root) as reader:
        for half, some in (("chosen by", rows[::2]), ("reported", rows[1::2])):
            print(f"\n{half}:\n")
            _table(reader, some, answers)


def _table(reader: Reader, rows: list[list[str]], answers: dict[str, tuple[str, ...]]) -> None:
    print("| | questions | nDCG@10 | recall@10 | nothing fits |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for column, language in enumerate(LANGUAGES):
        asked = [Golden(row[column], answers[row[0]]) for row in rows]
        found = evaluate(reader, goldens=asked, presets={DEFAULT_PRESET: PRESETS[DEFAULT_PRESET]})
        scores = next(found.scores(row) for row in found.rows if row.fused and not row.calibrated)
        empty = sum(not reader.search(Query(one.parts, fused=True)).fits for one in asked)
        ndcg, recall = (
            f"{own.mean:.3f} ({own.low:.3f}–{own.high:.3f})" for own in (scores.ndcg, scores.recall)
        )
        print(f"| {language} | {len(asked)} | {ndcg} | {recall} | {empty} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
