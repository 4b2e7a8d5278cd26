"""Words inside Chinese, Japanese and Korean text, which full text knows only as whole runs without a space.

A run is looked for by its pairs of neighbouring characters, directly in the texts: most of its words have
two, so an index of trigrams would miss them.
"""

import math
import re
import sqlite3
from collections.abc import Sequence
from typing import Any

_SIGNS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_RUN = re.compile(f"[{_SIGNS}々〆ー]+")
_BROKEN = re.compile(f"(?<=[{_SIGNS}、，])[ \t]*\n[ \t]*(?=[{_SIGNS}])")
_MOST = 24  # pairs of a question that are looked for


def runs(text: str) -> list[str]:
    """The runs of Chinese, Japanese and Korean characters in a text."""
    return _RUN.findall(text)


def pairs(text: str) -> tuple[str, ...]:
    """Each run's pairs of neighbouring characters, each once; a run of one character as it is."""
    found = (run[at : at + 2] for run in runs(text) for at in range(max(1, len(run) - 1)))
    return tuple(dict.fromkeys(found))[:_MOST]


def without_runs(text: str) -> str:
    """The rest of a text."""
    return _RUN.sub(" ", text)


def join_lines(text: str) -> str:
    """The text with lines joined where one ends within a sentence in these languages, without a space."""
    return _BROKEN.sub("", text)


def scores(
    db: sqlite3.Connection, wanted: Sequence[str], *, rows: str, values: Sequence[Any]
) -> dict[str, float]:
    """For each id the sum of the weights of the pairs in its text; rare pairs weigh more.

    `rows` is SQL that selects `id` and `text` of the entries, with these values.
    """
    if not wanted:
        return {}
    any_of = " OR ".join("instr(text, ?)" for _ in wanted)
    found = db.execute(f"SELECT id, text FROM ({rows}) WHERE {any_of}", [*values, *wanted]).fetchall()
    having = {row["id"]: [pair for pair in wanted if pair in row["text"]] for row in found}
    count = {pair: sum(pair in has for has in having.values()) for pair in wanted}
    weight = {pair: math.log(1 + len(found) / count[pair]) for pair in wanted if count[pair]}
    return {id: sum(weight[pair] for pair in has) for id, has in having.items()}
