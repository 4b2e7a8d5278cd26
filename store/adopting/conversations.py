"""Conversations of the programs in the table of transcripts: recognised, and taken as one decision."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from store.adopting.system import AdoptionReport, AdoptionRequest, DataSurvey, FoundKind
from store.adopting.texts import VERB, Adoption
from store.memory.engine.entries import Entries
from store.memory.engine.foreign import keep_fields, kept_fields
from store.memory.memory import Memory
from store.memory.transcripts import reader
from store.memory.transcripts.files import read_sessions
from store.memory.transcripts.intake import Messages, SessionFacts, TranscriptReport, Write, facts_id
from store.memory.transcripts.messages import Session
from store.progress import Progress
from store.settings import settings


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
        read, passages = TranscriptReport(), transcripts.entries

        def write(one: Write) -> None:
            if isinstance(one, Messages):
                taken = adoption.take_messages(passages, one)
                for message in one.fresh:
                    if message.id in taken:
                        read.masked += Counter(message.masked)
            elif isinstance(one, SessionFacts):
                _take_facts(adoption, passages, one)

        user, progress.total = settings().user or "local", 0  # messages are counted, not conversations
        reader.take_all(
            passages.database, [survey.path], read, progress, write=write, user_id=user, only_known=True
        )
        adoption.report.refused += read.refused
        read.tell()
        for sentence in read.notes:
            adoption.note(sentence)
        adoption.embed(passages)
        return adoption.report


def _sessions(path: Path) -> Iterator[Session]:
    """Those that say something: an agent of Letta may be its memory blocks alone."""
    found = (one for one in read_sessions(path, only_known=True) if isinstance(one, Session))
    return (one for one in found if next(iter(one.messages()), None))


def _take_facts(adoption: Adoption, passages: Entries, given: SessionFacts) -> None:
    id = facts_id(given.user, given.session)
    with passages.change(VERB, actor=adoption.actor, decision=adoption.decision) as change:
        if not kept_fields(change.db, change.kind, [id]):
            keep_fields(change, id, dict(given.known))
