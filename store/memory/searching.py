"""One question to one kind, with every filter that it has: in Python, on the command line, for agents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from store.memory.documents.headings import sections_named
from store.memory.engine.entries import Entries
from store.memory.engine.errors import InvalidInput
from store.memory.engine.fusion import EntryHit
from store.memory.engine.inputs import LONGEST_QUESTION, checked_count, checked_percentage, checked_text
from store.memory.engine.kind import Row
from store.memory.engine.names import check_known
from store.memory.kinds import MEMORIES
from store.memory.memories import relevance
from store.memory.opened import OpenedMemory
from store.memory.text.mmr import diverse_order

_MOST = 1_000  # entries that are found
_POOL = 4  # times as many entries are compared for diversity


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Which entries may answer; what a kind does not have is refused by name."""

    scope: str = ""  # a world, session key or protocol; of transcripts a session
    user: str = ""  # of transcripts
    project: str = ""  # of transcripts
    section: str = ""  # of documents: a heading, or its number or title alone
    tags: Sequence[str] = ()  # of memories: all of them
    since: float | None = None  # UNIX seconds; when it was written or last edited
    until: float | None = None
    min_score: float | None = None  # percent: the lowest cosine
    mmr: float | None = None  # λ of marginal relevance: 1 for relevance alone
    near_misses: int = 0  # so many below `min_score`, after the others

    def where(self, entries: Entries) -> dict[str, Any]:
        """The filters for the engine. Raises InvalidInput for one that this kind does not have."""
        kind, found = entries.kind, dict[str, Any]()
        columns = {
            kind.scope: self.scope, "user_id": self.user, "project_slug": self.project,
            "section": self.section,
        }  # fmt: skip
        for column, wanted in columns.items():
            if wanted and column not in (*kind.filters, *kind.more_filters):
                names = {"user_id": "user", "project_slug": "project", "section": "section"}
                what = names.get(column, "world, session or protocol")
                raise InvalidInput(f"{kind.name} belong to no {what}")
            if wanted and column == "section":
                found[column] = sections_named(wanted, entries.counts(column))
            elif wanted:
                known = entries.scopes() if column == kind.scope else entries.counts(column)
                check_known(wanted, known, what=column.removesuffix("_id"))
                found[column] = wanted
        found |= {"tags": list(self.tags)} if self.tags else {}
        return found | {name: at for name in ("since", "until") if (at := getattr(self, name)) is not None}


_EVERYTHING = SearchFilters()


def search(
    memory: OpenedMemory, query: str, *, kind: str = MEMORIES, scope: str = "", limit: int = 5,
    filters: SearchFilters = _EVERYTHING,
) -> list[Row]:  # fmt: skip
    """The entries that fit best, with `score`, `meaning` and `words`; memories as `search_memory`.

    Near misses, if `filters` ask for them, come last, with `"near_miss": True`.
    """
    entries, filters = memory.entries(kind), replace(filters, scope=scope or filters.scope)
    if kind == MEMORIES:
        answer = memory.memories.search_memory(
            query, limit, threshold=filters.min_score, near_misses=filters.near_misses, mmr=filters.mmr,
            where=filters.where(entries),
        )  # fmt: skip
        misses = [{**row, "near_miss": True} for row in answer.get("near_misses", [])]
        return [*map(dict, answer["results"]), *misses]
    query = checked_text(query, what="the query", most=LONGEST_QUESTION)
    limit = checked_count(limit, what="the limit", most=_MOST)
    least = None if filters.min_score is None else checked_percentage(filters.min_score, what="min_score")
    if filters.near_misses:
        checked_count(filters.near_misses, what="the number of near misses", most=_MOST)
    where = filters.where(entries)
    pool = max(limit * _POOL, limit + filters.near_misses)
    hits = entries.best(query, n=pool, where=where)
    fits = entries.least
    found = [hit for hit in hits if hit.answers(fits) and (least is None or _relevance(hit) >= least)]
    near = [hit for hit in hits if hit not in found][: filters.near_misses]
    if filters.mmr is not None:
        ids, scores = [hit.row["id"] for hit in found], [hit.score for hit in found]
        order = diverse_order(entries, ids, scores, n=limit, trade_off=filters.mmr)
        found = [found[place] for place in order]
    found = found[:limit]
    entries.log_retrieval(query, found, scope=filters.scope, n=limit, where=where, threshold=least)
    if filters.scope and found:
        entries.count_question(filters.scope)
    rows = [{**hit.row, "score": hit.score, **hit.parts()} for hit in found]
    return rows + [{**hit.row, "score": hit.score, **hit.parts(), "near_miss": True} for hit in near]


def _relevance(hit: EntryHit) -> float:
    return relevance(hit.cosine or 0.0)
