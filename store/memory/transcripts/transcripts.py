"""Recorded sessions: imported, stored without vectors, embedded by content type."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.errors import ModelUnavailable
from store.memory.engine.change import ADOPTED
from store.memory.engine.foreign import kept_fields
from store.memory.engine.fusion import EntryHit, log_retrieval
from store.memory.engine.inputs import LONGEST_QUESTION, check_known, checked_percentage, checked_text
from store.memory.engine.kind import Row
from store.memory.engine.reembedding import embed_new
from store.memory.text.extraction import ContentType, extract_all_embeddable_content
from store.memory.text.tokens import SIZES, chunk_text
from store.memory.transcripts import reader
from store.memory.transcripts import search as transcripts_search
from store.memory.transcripts.events import SessionEvents
from store.memory.transcripts.intake import TranscriptReport, Write, facts_id
from store.memory.transcripts.search import FoundMessages, MessageHit, Mode
from store.progress import Progress
from store.settings import settings

AWAITED = 500  # chunks, which take a minute; a gigabyte of sessions would take hours


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message to read; `parts` are texts with what they are, as content types or the role."""

    id: str
    role: str
    ts: str | None
    model: str  # that answered; "" if the file does not say it
    parts: tuple[tuple[str, str], ...]


class Transcripts(SessionEvents):
    """Import, search by content type, and find events by their fields."""

    def import_sessions(
        self, paths: Iterable[Path], *, user_id: str = "", progress: Progress | None = None, actor: str = ""
    ) -> TranscriptReport:
        """Import what is new in these folders and files; a repeated import adds nothing.

        Words find it at once; it is embedded here unless more than `AWAITED` chunks lack a vector by now.
        Messages are identified by user, session and position. A session without an id is called like its file
        or folder; if another conversation has that name, a hash is appended. Each transaction is complete by
        itself, so a cancelled or interrupted import can be continued.
        """
        self.entries.database.check_writable()
        progress, report = progress or Progress(), TranscriptReport()

        def write(one: Write) -> None:
            one.into(self.entries, report)

        user = user_id or settings().user or "local"
        reader.take_all(self.entries.database, [*paths], report, progress, write=write, user_id=user)
        report.tell()
        self._note(report, actor=actor)
        report.embedded = self.entries.without_vector() <= AWAITED and self.embed_imported(
            report, progress=progress
        )
        return report

    def embed_imported(self, report: TranscriptReport, *, progress: Progress | None = None) -> bool:
        """As `embed_new`; False, with a note in the report, while the model is away."""
        try:
            return self.embed_new(progress=progress)
        except ModelUnavailable as error:
            note = f"meaning finds the new texts once they are embedded: {error}"
            report.notes += [] if note in report.notes else [note]
            return False

    def embed_new(self, *, progress: Progress | None = None) -> bool:
        """Embed what has no vector yet; False if cancelled. Vectors of other models stay."""
        progress = progress or Progress()
        progress.what, progress.total = "embedding (found by words already)", self.entries.without_vector()
        progress.done = 0
        return embed_new(self.entries, progress=progress)

    def long_chunks(self) -> dict[str, str]:
        """Chunks that exceed the maximum, as migrated ones may, each with its vector's model."""
        chunks = self.entries.kind.with_any_vector()
        query = f"SELECT id, coalesce(embedding_model, '') FROM {chunks} WHERE token_count > ?"
        return dict(self.entries.database.rows(query, [SIZES.limit]))

    def cut_long_chunks(self, ids: Iterable[str] | None = None, *, actor: str = "") -> int:
        """Split these of `long_chunks`, or all, until undo; how many. The pieces have no vector yet."""
        long = [*(self.long_chunks() if ids is None else ids)]
        cut = {row["id"]: _pieces(row) for row in self.entries.rows(long)}
        with self.entries.change("cut long chunks", actor=actor) as change:
            for id, pieces in cut.items():
                change.remove(id)
                for piece in pieces:
                    change.upsert(piece)
        return len(cut)

    def remove_session(
        self, session_id: str, *, user_id: str | None = None, actor: str = "", decision: str | None = None
    ) -> int:
        """Remove a session with its chunks and events; undo restores it. Returns how many messages it had."""
        if self.entries.decided(decision) is not None:
            query = (
                "SELECT count(*) FROM history h JOIN decisions d ON d.number = h.decision "
                "WHERE d.id = ? AND h.tbl = 'transcripts'"
            )
            return int(self.entries.database.row(query, [decision])[0])
        with self.entries.change("remove session", actor=actor, decision=decision) as change:
            where, values = "session_id = ?", [session_id]
            if user_id is not None:
                where, values = f"{where} AND user_id = ?", [session_id, user_id]
            users = f"SELECT DISTINCT user_id FROM transcripts WHERE {where}"
            for (user,) in change.db.execute(users, values).fetchall():
                change.remove(facts_id(user, session_id), table=ADOPTED)
            removed = 0
            for table in ("transcript_vectors", "events", "transcripts"):
                ids = [row[0] for row in change.db.execute(f"SELECT id FROM {table} WHERE {where}", values)]
                for id in ids:
                    change.remove(id, table=table)
                removed = len(ids)
            return removed

    # -- reading ------------------------------------------------------------------------------------------

    def search(
        self,
        question: str,
        *,
        mode: Mode = "hybrid",
        content_types: Sequence[ContentType] = (),
        n: int = transcripts_search.RESULTS,
        mmr: float | None = None,
        user_id: str | None = None,
        session_id: str | None = None,
        project_slug: str | None = None,
        model: str | None = None,
        since: float | None = None,
        until: float | None = None,
        min_score: float | None = None,
    ) -> FoundMessages[MessageHit]:
        """The best messages, each with its best chunk; `mmr` is λ, 1 for relevance alone.

        `model`: of the sessions in which it answered. `since` and `until` are UNIX seconds, `min_score` the
        lowest cosine in percent. While the model is away words alone are compared, and `by_words_alone` says
        so.
        """
        question = checked_text(question, what="the question", most=LONGEST_QUESTION)
        scope = {
            "user_id": user_id, "session_id": session_id, "project_slug": project_slug,
            "since": since, "until": until,
        }  # fmt: skip
        floor = None if min_score is None else checked_percentage(min_score) / 100
        where: dict[str, Any] = {name: value for name, value in scope.items() if value is not None}
        if model is not None and session_id is None:
            where["session_id"] = [one["session_id"] for one in self.sessions() if model in one["models"]]
        if content_types:
            where["content_type"] = list(content_types)
        hits = transcripts_search.search(
            self.entries, question, mode=mode, where=where, n=n, mmr=mmr, floor=floor
        )
        found = [EntryHit(hit.chunk, hit.score, hit.cosine, 0.0, (), 0) for hit in hits if hit.chunk]
        log_retrieval(
            self.entries, question, found, scope=session_id or "", n=n, threshold=min_score,
            where={**where, "mode": mode, **({} if mmr is None else {"mmr": mmr})},
        )  # fmt: skip
        return hits

    def check_known(
        self, *, session_id: str | None = None, project_slug: str | None = None, model: str | None = None
    ) -> None:
        """Raises UnknownEntry, with the nearest names, for an unknown session, project or model."""
        self.entries.actor.check_login()
        if model is not None:
            check_known(model, {name for one in self.sessions() for name in one["models"]}, what="model")
        for name, column, what in (
            (session_id, "session_id", "session"),
            (project_slug, "project_slug", "project"),
        ):
            if name is not None:
                check_known(name, self.entries.counts(column), what=what)

    def sessions(self) -> list[dict[str, Any]]:
        """Every session with its title, models, user, project, messages and time, latest first."""
        with self.entries.database.reading() as db:
            rows = db.execute(
                "SELECT user_id, session_id, max(project_slug) AS project_slug, count(*) AS messages, "
                "min(ts) AS since, max(ts) AS until FROM transcripts GROUP BY user_id, session_id "
                "ORDER BY until DESC, session_id"
            ).fetchall()
            query = "SELECT id, metadata FROM adopted WHERE kind = ? AND id > 'session:'"
            known = {id: json.loads(facts) for id, facts in db.execute(query, [self.entries.kind.name])}
        facts = (known.get(facts_id(row["user_id"], row["session_id"]), {}) for row in rows)
        return [
            {
                **row, "title": fact.get("title") or "",
                "models": [*dict.fromkeys(name for _, name in fact.get("models", []))],
            }
            for row, fact in zip(rows, facts, strict=True)
        ]  # fmt: skip

    def related(self, session_id: str) -> list[str]:
        """The session that this one belongs to, if there is one, and its own helpers and versions."""
        above = session_id.rpartition("/")[0]
        rows = self.entries.database.rows(
            "SELECT DISTINCT session_id FROM transcripts WHERE session_id = ? "
            "OR (session_id > ? AND session_id < ?) ORDER BY session_id",
            [above, f"{session_id}/", f"{session_id}0"],
        )
        return [row[0] for row in rows]

    def reading(
        self, session_id: str, *, user_id: str | None = None, offset: int = 0, limit: int = 100
    ) -> list[ReadMessage]:
        """A page of a session as a person reads it: each message in its parts, in their order."""
        rows = self.messages(session_id, user_id=user_id, offset=offset, limit=limit)
        ids = {facts_id(row["user_id"], session_id) for row in rows}
        with self.entries.database.reading() as db:
            known = kept_fields(db, self.entries.kind, [*ids])
        return [
            ReadMessage(row["id"], row["role"], row["ts"], _model(row, known), tuple(_parts(row)))
            for row in rows
        ]

    def messages(
        self, session_id: str, *, user_id: str | None = None, offset: int = 0, limit: int = 100
    ) -> list[dict[str, Any]]:
        """A page of a session's messages in their order, one user's after the other's."""
        rows = self.entries.database.rows(
            "SELECT * FROM transcripts WHERE session_id = ? AND user_id = coalesce(?, user_id) "
            "ORDER BY user_id, sequence LIMIT ? OFFSET ?",
            [session_id, user_id, limit, offset],
        )
        return [dict(row) for row in rows]

    def around(self, id: str) -> tuple[list[str], list[str]]:
        """The texts of the messages before and after this one in its session; empty at its ends."""
        texts = [
            [
                row[0]
                for row in self.entries.database.rows(
                    "SELECT o.text_content FROM transcripts t JOIN transcripts o "
                    "ON o.user_id = t.user_id AND o.session_id = t.session_id "
                    "AND o.sequence = t.sequence + ? WHERE t.id = ? AND o.text_content IS NOT NULL",
                    [step, id],
                )
            ]
            for step in (-1, 1)
        ]
        return texts[0], texts[1]

    def _note(self, report: TranscriptReport, *, actor: str) -> None:
        """Record an import in the history; `remove_session` reverses it, undo does not."""
        if report.messages or report.changed or report.events:
            count = report.messages + report.changed + report.events
            with self.entries.database.writing() as db:
                self.entries.begin(db, "import", actor=actor).record_final("sessions", "", {}, count=count)


def _model(row: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> str:
    """The model that answered a message, by what is known of its session."""
    models = known.get(facts_id(row["user_id"], row["session_id"]), {}).get("models", [])
    before = (name for first, name in reversed(models) if first <= row["sequence"])
    return next(before, "") if row["role"] == "assistant" else ""


def _parts(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Thoughts, then what was said, then calls and results; all of another role's text as one part."""
    found = extract_all_embeddable_content({"role": row["role"], "content": json.loads(row["content"])})
    order: tuple[ContentType, ...] = (
        "assistant_thinking", "user_query", "assistant_response", "tool_call", "tool_output",
    )  # fmt: skip
    named = row["role"] in ("user", "assistant", "tool")
    parts = [(one, text) for one in order if (text := found[one])] if named else []
    yield from parts or ([(row["role"], row["text_content"])] if row["text_content"] else [])


def _pieces(row: Row) -> list[dict[str, Any]]:
    """The chunks that one chunk is split into; their spans count from where it began."""
    text = row["source_text"]
    chunks = chunk_text(text, row["content_type"])
    return [
        {
            **row,
            "id": f"{row['parent_id']}_{row['content_type']}_{index}",
            "chunk_index": index,
            "total_chunks": len(chunks),
            "span_start": row["span_start"] + chunk.start,
            "span_end": row["span_start"] + chunk.end,
            "token_count": chunk.tokens,
            "source_text": text[chunk.start : chunk.end],
        }
        for index, chunk in enumerate(chunks)
    ]
