"""The health of the text memory: figures of each kind, and what needs attention."""

from collections import Counter
from dataclasses import dataclass

from store.embedding.multilingual import MULTILINGUAL as MULTILINGUAL
from store.embedding.multilingual import unread_language
from store.memory.engine.entries import Entries
from store.memory.engine.vectors import joined, with_any_vector
from store.memory.opened import OpenedMemory
from store.memory.text.extraction import MAX_TOOL_OUTPUT_LENGTH
from store.memory.text.token_chunks import SIZES

READ_AGAIN = "read the folder of worlds again"
LONGEST = {"world_lore": 800, "documents": 1000}  # characters of a chunk, by the references
_BINS = 24
_NAMED = 200  # entries or scopes named of each sort


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """The figures of one kind."""

    kind: str
    entries: int
    characters: int
    shortest: int
    longest: int
    size: int  # bytes of its file, write-ahead log and all
    model: str
    models: dict[str, int]  # model → vectors; "" for entries without one
    lengths: list[tuple[int, int]]  # from which length → entries, for a histogram


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that needs attention: what, how many, some of the entries or scopes, and the remedy."""

    kind: str
    what: str
    which: list[str]
    remedy: str
    count: int


def figures(entries: Entries) -> MemoryFigures:
    """The figures of one kind, counted in one pass through its file; 0.8 s for 100,000 entries."""
    kind, path = entries.kind, entries.database.path
    lengths, models = Counter[int](), Counter[str]()
    with entries.database.reading() as db:
        rows = db.execute(
            f"SELECT length({kind.text}) AS length, coalesce(embedding_model, '') AS model, "
            f"count(*) AS entries FROM {with_any_vector(kind)} GROUP BY length, model"
        )
        for row in rows:
            lengths[row["length"]] += row["entries"]
            models[row["model"]] += row["entries"]
    longest = max(lengths, default=0)
    width = max(1, -(-(longest + 1) // _BINS))
    bins = Counter[int]()
    for length, count in lengths.items():
        bins[length // width] += count
    files = [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]
    return MemoryFigures(
        kind=kind.name,
        entries=lengths.total(),
        characters=sum(length * count for length, count in lengths.items()),
        shortest=min(lengths, default=0),
        longest=longest,
        size=sum(file.stat().st_size for file in files if file.exists()),
        model=entries.model,
        models=dict(sorted(models.items())),
        lengths=[(number * width, bins[number]) for number in range(_BINS)] if lengths else [],
    )


def concerns(memory: OpenedMemory) -> list[Concern]:
    """Matters for the curator; `doctor.check` says what is broken."""
    found = [concern for entries in memory.kinds.values() for concern in _of_entries(entries)]
    found += [_not_read(entries) for entries in memory.kinds.values()]
    found += [*_lore(memory), *_sessions(memory), *_transcripts(memory)]
    return [concern for concern in found if concern.count]


def _of_entries(entries: Entries) -> list[Concern]:
    kind = entries.kind
    found = [
        _entries(
            entries, "entries that say nothing", f"trim({kind.text}, ' \n\t') = ''", remedy="delete them"
        ),
        _entries(
            entries,
            f"entries without a vector of {entries.model}, so not found by meaning",
            f"id IN (SELECT p.id FROM {kind.table} p {joined(kind)} WHERE v.key IS NULL)",
            remedy="embed them",
        ),
    ]
    if longest := LONGEST.get(kind.name):
        found.append(
            _entries(
                entries,
                f"entries longer than a chunk of {longest} characters",
                f"length({kind.text}) > ?",
                longest,
                remedy="cut them in two by editing, or import their file again",
            )
        )
    return found


def _not_read(entries: Entries) -> Concern:
    """Entries in a language that the model is known not to read."""
    table, text = entries.kind.table, entries.kind.text
    with entries.database.reading() as db:
        rows = db.execute(f"SELECT id, {text} FROM {table} WHERE {text} GLOB '*[^\x01-\u024f]*'")
        ids = [row[0] for row in rows if unread_language(row[1], entries.model)]
    what = f"entries in a language that {entries.model} does not read, so found by their words alone"
    remedy = f"embed them with a model that does, such as {MULTILINGUAL}"
    return Concern(entries.kind.name, what, ids[:_NAMED], remedy, len(ids))


def unread_worlds(memory: OpenedMemory) -> Concern | None:
    """Files of worlds that were edited since they were loaded."""
    files = memory.lore.unread_files()
    what = "files of worlds that are new or changed, and not imported yet"
    return _scopes(memory.kinds["world_lore"], what, files, remedy=READ_AGAIN) if files else None


def _lore(memory: OpenedMemory) -> list[Concern]:
    lore = memory.kinds["world_lore"]
    lore_counts = lore.counts()
    without_lore = [world.id for world in memory.lore.worlds() if not lore_counts.get(world.id)]
    return [
        _scopes(
            lore, "worlds without lore", without_lore, remedy="write it in the world's file, or add an entry"
        ),
        _entries(
            lore,
            "entries edited here, unlike their world's file",
            "lore_id GLOB 'base_lore_[0-9]*' AND EXISTS (SELECT 1 FROM worlds w WHERE w.id = world_id "
            "AND instr(w.lore, text) = 0)",
            remedy="write it into the file as well: a changed file wins",
        ),
    ]


def _sessions(memory: OpenedMemory) -> list[Concern]:
    sessions = memory.kinds["session_memory"]
    questions = sessions.asked()
    never = [key for key in sessions.counts() if key not in questions]
    return [_scopes(sessions, "sessions never queried", never, remedy="probe or delete them")]


def _transcripts(memory: OpenedMemory) -> list[Concern]:
    entries = memory.kinds["transcript_vectors"]
    return [
        _entries(
            entries,
            "chunks of a message that is gone",
            "parent_id NOT IN (SELECT id FROM transcripts)",
            remedy="delete them",
        ),
        _entries(
            entries,
            f"tool outputs cut at {MAX_TOOL_OUTPUT_LENGTH:,} characters",
            "content_type = 'tool_output' AND span_end = ?",
            MAX_TOOL_OUTPUT_LENGTH,
            remedy="none is needed: the whole text is in the message, and full-text search finds it",
        ),
        _entries(
            entries,
            f"chunks longer than {SIZES.limit:,} tokens, as older databases have them",
            "token_count > ?",
            SIZES.limit,
            remedy="cut them into chunks",
        ),
    ]


def _entries(entries: Entries, what: str, condition: str, *values: object, remedy: str) -> Concern:
    table = entries.kind.table
    with entries.database.reading() as db:
        count = db.execute(f"SELECT count(*) FROM {table} WHERE {condition}", [*values]).fetchone()[0]
        rows = db.execute(f"SELECT id FROM {table} WHERE {condition} LIMIT {_NAMED}", [*values]).fetchall()
    return Concern(entries.kind.name, what, [row[0] for row in rows], remedy, count)


def _scopes(entries: Entries, what: str, names: list[str], *, remedy: str) -> Concern:
    return Concern(entries.kind.name, what, names[:_NAMED], remedy, len(names))
