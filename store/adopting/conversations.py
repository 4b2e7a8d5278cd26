"""Conversations of the programs in the table of transcripts: recognised, and taken as one decision."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import VERB, Adoption, Entry
from store.adopting.transcripts import bare_entries
from store.memory.engine import foreign_metadata
from store.memory.engine.entries import Entries
from store.memory.engine.inputs import as_json
from store.memory.memory import Memory
from store.memory.text.extraction import readable
from store.memory.transcripts.files import NAMED, Session, read_sessions
from store.memory.transcripts.intake import TranscriptReport, facts_id, id_of
from store.memory.transcripts.messages import Message
from store.memory.transcripts.session_ids import SessionIds
from store.progress import Progress, batches
from store.settings import settings

_MESSAGES = 200  # of one transaction


class Conversations:
    """Files and databases of agents and chats, as `memory import-transcripts` reads them."""

    name = "conversations"
    title = "Conversations of other programs"

    def recognise(self, path: Path) -> DataSurvey | None:
        """The conversations of known programs at this path or below it; None if there is none."""
        found = Counter(one.source for one in _sessions(path))
        if not found:
            return None
        kinds = (FoundKind("conversations", count, source) for source, count in found.items())
        return DataSurvey(self.name, self.title, path, tuple(kinds), ())

    def adopt(
        self, memory: Memory, survey: DataSurvey, request: AdoptionRequest, progress: Progress
    ) -> AdoptionReport:
        """Take the messages of all of them; those that are here already stay as they are."""
        adoption, transcripts = Adoption(memory, survey, request, progress), memory.transcripts
        ids, read = SessionIds(transcripts.entries.database), TranscriptReport()
        for session in _sessions(survey.path):
            if progress.cancelled:
                return adoption.report
            session.user_id = session.user_id or settings().user or "local"
            adoption.note(ids.choose(session))
            done = progress.done
            for batch in batches(enumerate(session.messages()), _MESSAGES, Progress()):
                messages = [_message(session, place, message) for place, message in batch]
                before = len(adoption.report.taken)
                adoption.take(transcripts.entries, messages, table="transcripts")
                new = {*adoption.report.taken[before:]}
                for entry, (_, message) in zip(messages, batch, strict=True):
                    if entry.row["id"] in new:
                        read.masked += message.get("masked", {})
                chunks = [chunk for one in messages for chunk in bare_entries(one, besides=set())]
                adoption.take(transcripts.entries, chunks)
            progress.done = done + 1
            if session.title:
                _take_title(adoption, transcripts.entries, session)
            adoption.report.refused += session.refused
            for sentence in session.unread[:NAMED]:
                adoption.note(sentence)
            read.skipped += session.skipped
        read.tell()
        for sentence in read.notes:
            adoption.note(sentence)
        adoption.embed(transcripts.entries)
        return adoption.report


def _sessions(path: Path) -> Iterator[Session]:
    return (one for one in read_sessions(path, only_known=True) if isinstance(one, Session))


def _take_title(adoption: Adoption, passages: Entries, session: Session) -> None:
    id = facts_id(session.user_id, session.session_id)
    with passages.change(VERB, actor=adoption.actor, decision=adoption.decision) as change:
        if not foreign_metadata.of(change.db, change.kind, [id]):
            foreign_metadata.store(change, id, {"title": session.title})


def _message(session: Session, place: int, message: Message) -> Entry:
    return Entry(
        {
            "id": id_of(session, place),
            "user_id": session.user_id,
            "session_id": session.session_id,
            "project_slug": session.project_slug,
            "sequence": place,
            "role": message["role"],
            "content": as_json(message.get("content")),
            "turn": message["turn"],
            "ts": message["ts"],
            "text_content": readable(message),
        }
    )
