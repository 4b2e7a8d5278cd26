"""Counts: lengths of captions, costs of language models, and reasons for rejecting."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from store.catalog.filters import REJECTED_FOR, Filter, conditions
from store.reading.reader import Reader
from store.records import Tier

LENGTH = 20  # characters, the width of a class of caption_lengths


class CaptionLengths(NamedTuple):
    """The number of a facet's texts with `start` to `start + LENGTH - 1` characters."""

    facet: str
    start: int
    texts: int


class Spending(NamedTuple):
    """The cost of drafting with one model on one day (since 1970, UTC)."""

    day: int
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None  # US dollars; None where no price is known


def caption_lengths(reader: Reader, tier: Tier = "library") -> list[CaptionLengths]:
    """A histogram of caption lengths of a tier, by facet, shortest first."""
    with reader.catalog.reading() as db:
        rows = db.execute(
            "SELECT c.key, length(c.value) / :width * :width AS start, count(*) "
            "FROM records r JOIN sidecars s ON s.hash = r.sidecar_hash, json_each(s.text, '$.caption') c "
            "WHERE r.tier = :tier AND length(c.value) > 0 GROUP BY 1, 2 ORDER BY 1, 2",
            {"width": LENGTH, "tier": tier},
        ).fetchall()
    return [CaptionLengths(*row) for row in rows]


def spending(reader: Reader) -> list[Spending]:
    """The cost of drafting by day and model, oldest first, deleted jobs included.

    Jobs of versions before 1.1 only have a total, which counts on their first day.
    """
    with reader.catalog.reading() as db:
        rows = db.execute(
            "WITH drafting (note, options, made_at) AS ("
            "  SELECT note, options, made_at FROM jobs WHERE kind = 'draft' UNION ALL "
            "  SELECT kept ->> '$.note', kept ->> '$.options', kept ->> '$.made_at' FROM removed "
            "  WHERE what = 'job' AND kept ->> '$.kind' = 'draft'), "
            "spent (day, model, used) AS ("
            "  SELECT CAST(d.key AS INTEGER), m.key, m.value "
            "  FROM drafting, json_each(note, '$.spent') d, json_each(d.value) m UNION ALL "
            "  SELECT CAST(made_at / 86400 AS INTEGER), (SELECT group_concat(model, ', ') FROM "
            "    (SELECT DISTINCT value ->> '$[0]' AS model FROM json_each(options, '$.variants'))), note "
            "  FROM drafting WHERE note ->> '$.spent' IS NULL AND note ->> '$.prompt_tokens' > 0) "
            "SELECT day, model, sum(used ->> '$.prompt_tokens'), sum(used ->> '$.completion_tokens'), "
            "sum(used ->> '$.cost') FROM spent GROUP BY 1, 2 ORDER BY 1, 2"
        ).fetchall()
    return [Spending(*row) for row in rows]


def reasons_of(reader: Reader, addresses: Sequence[str]) -> dict[str, str]:
    """Why each of these records was rejected, by address; those without a reason are left out."""
    with reader.catalog.reading() as db:
        rows = db.execute(
            f"SELECT r.address, {REJECTED_FOR} AS why FROM records r "
            "WHERE r.tier = 'trash' AND r.address IN (SELECT value FROM json_each(?)) AND why <> ''",
            [json.dumps(list(addresses))],
        ).fetchall()
    return dict(map(tuple, rows))


def rejection_reasons(reader: Reader, filter: Filter) -> dict[str, int]:
    """How many of these records were rejected for each reason, most frequent first; "" for none."""
    if filter.tier not in (None, "trash"):
        return {}
    where, values = conditions(replace(filter, tier="trash"))
    with reader.catalog.reading() as db:
        rows = db.execute(
            f"SELECT coalesce({REJECTED_FOR}, '') AS why, count(*) FROM records r WHERE {where} "
            "GROUP BY why COLLATE NOCASE ORDER BY count(*) DESC, why",
            values,
        ).fetchall()
    return dict(map(tuple, rows))
