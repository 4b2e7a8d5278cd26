"""Read recorded sessions: folders, JSON, JSONL and Markdown files, and databases of programs."""

import codecs
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import TextIOWrapper
from itertools import chain, islice
from mmap import ACCESS_READ, mmap
from pathlib import Path, PureWindowsPath
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile

from store.disk.files import open_regular, read_regular
from store.errors import BadSource
from store.importing import encodings
from store.memory.engine.foreign import moment
from store.memory.transcripts import databases, markdown
from store.memory.transcripts.messages import (
    NAMED,
    Session,
    entitle,
    model_of,
    taken,
    text_of,
    without_secrets,
)  # fmt: skip
from store.memory.transcripts.sources import MESSAGES as PLAIN
from store.memory.transcripts.sources import (
    NAMES,
    Branches,
    Record,
    Source,
    at,
    first,
    has,
    is_of,
    recognised,
)
from store.outcome import Refusal

MESSAGES, EVENTS, METADATA = "transcript.jsonl", "events.jsonl", "metadata.json"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMMON = {  # names of files that are called alike in each folder of a session
    "aider.chat.history", "api_conversation_history", "chat_history", "conversation", "events", "lm-messages",
    "messages", "transcript", "ui_messages",
}  # fmt: skip
_AGENT = "agent-"  # how Claude Code's files of sub-agents begin
_AGENTS = "subagents"  # and the folder that they may be in

_LARGEST = 200_000_000  # bytes of a file in one JSON value, or of a line
_UNPACKED = 4_000_000_000  # bytes of an archive
_DAMAGE = (OSError, BadZipFile, NotImplementedError, RuntimeError, zlib.error)  # what reading one raises
_TOO_LARGE = f"the archive unpacks to more than {_UNPACKED // 10**9} GB; import this file by itself"
_SAMPLE = 100  # records, of which one has to tell what the file is
_READ = 1 << 20  # bytes
_SPACE = " \t\r\n"
_BETWEEN = f"{_SPACE},"  # elements of an array
_DATABASES = (".db", ".sqlite", ".sqlite3", ".vscdb")
_MARKDOWN = (".md", ".markdown")
_JSON = (".json", ".jsonl", ".ndjson", ".af")
_KINDS = (*_JSON, *_DATABASES, *_MARKDOWN)
_WHOLE = (".json", ".af")  # one value; all others are lines, unless they begin otherwise
_STARTS = ((b"PK\3\4", ".zip"), (b"SQLite format 3\0", ".db"), ((b"{", b"[", b'"{'), ".json"))
_SIGN = 100  # bytes that tell what a file is
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DEEPEST = 3  # objects around a list


def read_sessions(path: Path, *, only_known: bool = False) -> Iterator[Session | Refusal]:
    """The sessions in a folder, file or archive; `only_known`: of the programs in the table of sources."""
    if only_known:
        found = _below(path) if path.is_dir() else _any(path, only_known=True)
        yield from (one for one in found if isinstance(one, Session) and one.source)
    elif path.is_dir():
        is_empty = True
        for session in _below(path):
            is_empty = False
            yield session
        if is_empty:
            yield Refusal(str(path), f"no session in it ({MESSAGES}, {EVENTS} or another .jsonl)")
    elif not path.exists():
        yield Refusal(str(path), "there is nothing at this path")
    else:
        yield from _any(path)


def is_recording(path: Path) -> bool:
    """Whether the lines of this file are those of one session of a known program."""
    if path.suffix != ".jsonl":
        return False
    source = recognised(islice(_lines(path, Session("")), _SAMPLE))
    return source is not None and not (source is PLAIN or source.parts or source.unread)


def project_of(path: Path) -> str | None:
    """The project in a path such as `projects/<slug>/sessions/<id>`; None if it has none."""
    parts = path.absolute().parts
    for place in range(len(parts) - 3, -1, -1):
        if (parts[place], parts[place + 2]) == ("projects", "sessions"):
            return _name(parts[place + 1])
    return None


def _below(folder: Path) -> Iterator[Session | Refusal]:
    if (folder / MESSAGES).exists() or _has_events(folder / EVENTS):
        yield _folder(folder)
        return
    for path in sorted(folder.iterdir()):
        if path.is_symlink():  # a folder may come from a stranger: nothing outside it is read
            continue
        if path.is_dir():
            yield from _below(path)
        else:
            yield from _any(path, only_known=path.suffix != ".jsonl")


def _has_events(path: Path) -> bool:
    """Whether these are events of a session, and no program's conversation in a file called alike."""
    sample = islice(_lines(path, Session("")), _SAMPLE)
    return path.exists() and recognised(one for one in sample if "event" not in one) is None


def _any(path: Path, *, only_known: bool = False) -> Iterator[Session | Refusal]:
    """The sessions in a file; with `only_known` nothing of other files, which may be anything."""
    kind = path.suffix.lower() if only_known else _kind(path)
    if kind in _JSON:
        yield from _file(path, only_known=only_known)
    elif kind in _DATABASES and (not only_known or databases.is_known(path)):
        yield from _database(path)
    elif kind in _MARKDOWN and (not only_known or markdown.is_known(path)):
        yield from _stored(path, markdown.conversations(path))
    elif kind == ".zip":
        yield from _archive(path, only_known=only_known)
    elif not only_known:
        yield Refusal(str(path), "neither a folder nor a .jsonl, .json, .db or .zip file")


def _kind(path: Path) -> str:
    """The ending of a file, or where it says nothing the one that its first bytes call for."""
    kind = path.suffix.lower()
    if kind in (*_KINDS, ".zip"):
        return kind
    try:
        with open_regular(path) as file:
            start = file.read(_SIGN).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return kind
    return next((known for sign, known in _STARTS if start.startswith(sign)), kind)


def _archive(path: Path, *, only_known: bool) -> Iterator[Session | Refusal]:
    """The sessions in an export as it was downloaded, or in a folder that somebody packed."""
    is_empty = True
    with TemporaryDirectory(prefix="memedex-") as folder:
        root = Path(folder) / "0"  # a number is no session's name
        try:
            left_out = [*_unpack(path, root)]
        except _DAMAGE as error:
            if not only_known:
                yield Refusal(str(path), f"cannot be read: {error}")
            return
        if (root / MESSAGES).exists():
            root = root.rename(Path(folder) / path.stem)
        for session in chain(left_out, _below(root) if root.exists() else ()):
            is_empty = False
            yield session
    if is_empty and not only_known:
        yield Refusal(str(path), "no conversation of a known program is in it")


def _unpack(path: Path, root: Path, *, is_inner: bool = False) -> Iterator[Refusal]:
    """Write the files of an archive that may hold sessions to a folder; those that cannot be are refused."""
    left = _UNPACKED
    with open_regular(path) as whole, ZipFile(whole) as archive:
        for entry, name in encodings.named(archive.infolist()):
            given = PureWindowsPath(name)  # of a stranger: nothing leads out of the folder
            place = root.joinpath(*(one for one in given.parts if one not in (given.anchor, "..")))
            kind = place.suffix.lower()
            if kind not in (*_KINDS, *(() if is_inner else (".zip",))) or entry.is_dir():
                continue
            left -= entry.file_size
            try:
                if left < 0:
                    raise BadZipFile(_TOO_LARGE)
                place.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as packed, place.open("wb") as file:
                    copyfileobj(packed, file)
                if kind == ".zip":
                    inner = place.rename(place.with_suffix(".packed"))
                    yield from _unpack(inner, place.with_suffix(""), is_inner=True)
                    inner.unlink()
            except _DAMAGE as error:
                place.unlink(missing_ok=True)
                yield Refusal(f"{path.name}/{name}", f"cannot be read: {error}")


def _folder(path: Path) -> Session:
    session = Session(session_id=_name(path.name), project_slug=project_of(path))
    try:
        fields = parsed(read_regular(path / METADATA, limit=_LARGEST))
    except FileNotFoundError:
        fields = {}
    except (OSError, ValueError) as error:
        session.refused.append(Refusal(str(path / METADATA), f"cannot be read: {error}"))
        fields = {}
    fields = fields if isinstance(fields, dict) else {}
    _describe(session, fields, PLAIN, ids=(*PLAIN.session, "id"))
    session.messages = lambda: taken(_lines(path / MESSAGES, session), session, PLAIN)
    session.events = lambda: (without_secrets(one, "data") for one in _lines(path / EVENTS, session))
    return session


# -- one file ---------------------------------------------------------------------------------------------


def _file(path: Path, *, only_known: bool = False) -> Iterator[Session | Refusal]:
    """The sessions of a file; none of an unknown one if there may be others in its folder."""
    session = Session(session_id=_own_name(path), project_slug=project_of(path))
    if session.session_id != (stem := _name(path.stem)):
        session.earlier_id = stem
    try:
        if only_known and not _may_be_known(path):
            return
        records, is_single = _records_of(path)
    except (OSError, ValueError) as error:
        if not only_known:
            yield Refusal(str(path), f"cannot be read: {error}")
        return
    sample = [*islice(records(Session("")), _SAMPLE)]
    source = recognised(sample)
    if source is None and (only_known or is_single):
        if not only_known:
            yield Refusal(str(path), "it holds no list of messages")
        return
    source = source or PLAIN
    session.source = "" if source is PLAIN or source.unread else source.title
    if source.unread:
        session.unread.append(f"{path.name} holds {source.title} alone, which are not read: {source.unread}")
        yield session
    elif source.parts:
        for number, record in enumerate(records(session), start=1):
            own = Session(session.session_id if is_single else f"{session.session_id}-{number}")
            own.project_slug, own.source = session.project_slug, session.source
            shape = source if is_of(source, record) else recognised([record]) or source  # of this one
            conversations = [*_conversation(record, shape if shape.parts else source, own)]
            if not (conversations or is_single):
                session.skipped["empty conversation"] += 1
            yield from conversations or ([own] if is_single else [])
        if session.refused or session.skipped:
            yield session
    else:
        head = _head(sample, records, source)
        _describe(session, head, source)
        _identify(session, path, [*sample, head])
        if source.aside and not path.name.startswith(_AGENT) and _may_have(path, source.aside):
            yield from _with_helpers(session, records, source)
            return
        if source.rows and _are_of_several(sample, records, source):
            yield from _by_conversation(session, records, source)
            return
        settle = source.settle or iter
        session.messages = lambda: taken(settle(records(session)), session, source)
        yield session


def _with_helpers(
    session: Session, records: Callable[[Session], Iterator[Record]], source: Source
) -> Iterator[Session]:
    """The session, and one for each helper whose messages stand among its own."""
    fields = source.branches or Branches("id", "parent")
    helper_of, has_own = dict[str, str](), False
    for record in records(Session("")):
        if has(record, source.aside):
            id, agent = str(at(record, fields.id)), text_of(record.get("agentId"))
            above = helper_of.get(str(at(record, fields.parent)), f"{_AGENT}{id[:8]}")
            helper_of[id] = f"{_AGENT}{agent}" if agent else above
        elif has(record, source.head):
            has_own = True
    if not (helper_of and has_own):
        session.messages = lambda: taken(records(session), session, source)
        yield session
        return
    session.messages = lambda: taken(
        (one for one in records(session) if not has(one, source.aside)), session, source
    )
    yield session
    said = defaultdict[str, list[Record]](list)
    for record in records(Session("")):
        if has(record, source.aside):
            said[helper_of[str(at(record, fields.id))]].append(record)
    for name, given in said.items():
        helper = Session(
            f"{session.session_id}/{name}", session.user_id, session.project_slug, source=session.source
        )
        helper.messages = partial(taken, given, helper, source)
        yield helper


def _are_of_several(
    sample: list[Record], records: Callable[[Session], Iterator[Record]], source: Source
) -> bool:
    """Whether the messages of a file name several conversations, as rows of a database do."""
    if not any(first(one, source.rows) for one in sample):
        return False
    named = (str(id) for one in records(Session("")) if (id := first(one, source.rows)))
    one = next(named, "")
    return any(other != one for other in named)


def _by_conversation(
    session: Session, records: Callable[[Session], Iterator[Record]], source: Source
) -> Iterator[Session]:
    """A session for each conversation that the messages of a file name."""
    said = defaultdict[str, list[Record]](list)
    for record in records(session):
        said[str(first(record, source.rows) or session.session_id)].append(record)
    for id, given in said.items():
        own = Session(id, session.user_id, session.project_slug, source=session.source)
        _describe(own, given[0], source, ids=source.rows)
        own.messages = partial(taken, given, own, source)
        yield own
    if session.refused:
        yield session


def _may_be_known(path: Path) -> bool:
    """Whether a name of the table stands at the beginning, before a large file is read whole."""
    with open_regular(path) as file:
        start = file.read(_READ).decode("utf-8", "replace").replace('\\"', '"')
    return any(f'"{name}"' in start for name in NAMES)


def _may_have(path: Path, sign: str) -> bool:
    """Whether a record of this file may have a sign of one value, which is looked for in its bytes."""
    name = sign.partition("=")[0]
    with open_regular(path) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return bool(re.search(rb'"%s"\s*:\s*(?!false|\s)' % name.encode(), content))


def _head(sample: list[Record], records: "Callable[[Session], Iterator[Record]]", source: Source) -> Record:
    """The record that describes the session."""
    if not source.head:
        return sample[0] if sample else {}
    known = (one for one in sample if has(one, source.head))
    return next(known, None) or next((one for one in records(Session("")) if has(one, source.head)), {})


def _conversation(record: Record, source: Source, session: Session) -> Iterator[Session]:
    """The conversation in a record, and a session for what each of its other branches has of its own."""
    _describe(session, record, source)
    given = [one for path, role in source.parts for one in _part(at(record, path), role, source)]
    default = moment(first(record, source.time)) if source.time else None
    branches = _branches(given, source.branches, record) if source.branches else [("", given)]
    for name, branch in branches:
        one, records = session, [one for one in branch if not source.message or at(one, source.message)]
        if not records:
            continue
        if name:
            if not [*taken(records, Session(""), source)]:
                continue
            one = Session(f"{session.session_id}/version-{name[:8]}", session.user_id, session.project_slug)
            one.source = session.source
        one.messages = partial(taken, records, one, source, default=default, model=model_of(record))
        yield one
    for number, helper in enumerate(at(record, source.helpers) or () if source.helpers else (), start=1):
        own = Session(f"{_AGENT}{number}", session.user_id, session.project_slug, source=session.source)
        for one in _conversation(helper, source, own):
            one.session_id = f"{session.session_id}/{one.session_id}"
            yield one


def _branches(
    records: Sequence[Record], fields: Branches, conversation: Mapping[str, Any]
) -> Iterator[tuple[str, Sequence[Record]]]:
    """The chosen branch, named "", then of each other one what no branch before has, by its first message."""
    ids = [str(at(one, fields.id) or number) for number, one in enumerate(records)]
    by_id = dict(zip(ids, records, strict=True))
    above = {id: str(at(one, fields.parent)) for id, one in by_id.items()}
    if not any(parent in by_id for parent in above.values()):  # no tree
        yield "", records
        return
    parents, left = {*above.values()}, dict.fromkeys(by_id)
    leaves = [id for id in by_id if id not in parents]
    chosen = str(at(conversation, fields.chosen)) if fields.chosen else ""
    last = chosen if chosen in by_id else (leaves or ids)[-1]
    for id in dict.fromkeys([last, *leaves, *ids]):  # all of them: a broken tree may have circles
        way = list[str]()
        while id in left:
            del left[id]
            way.append(id)
            id = above[id]
        if way:
            yield "" if way[0] == last else way[-1], [by_id[one] for one in reversed(way)]


def _part(value: Any, role: str, source: Source) -> Iterator[Any]:
    """The records of messages at one place of a conversation."""
    if not value:
        return
    has_roles = isinstance(value, list) and any(isinstance(one, Mapping) and "role" in one for one in value)
    if isinstance(value, str) or (role == "system" and not has_roles):
        yield {source.role[0]: role, "content": value}
    elif isinstance(value, Mapping) and source.branches:
        yield from value.values()
    else:
        for one in value if isinstance(value, list) else [value]:
            is_bare = role and isinstance(one, Mapping) and first(one, (*source.role, source.kind)) is None
            yield {**one, source.role[0]: role} if is_bare else one


def _describe(
    session: Session, record: Record, source: Source, *, ids: tuple[str, ...] | None = None
) -> None:
    """Give a session what its files say of it: id, user, project, and which session began it."""
    if id := _text(record, ids or source.session):
        session.session_id = id
    if user := _text(record, ("user_id", "user")):
        session.user_id = user
    entitle(session, record, source)
    if project := _text(record, source.project):
        session.project_slug = project
    elif (folder := _text(record, source.folder)) and not session.project_slug:
        session.project_slug = PureWindowsPath(folder).name or None
    if parent := _text(record, source.parent):
        session.session_id = f"{parent}/{session.session_id}"


def _text(record: Record, paths: Iterable[str]) -> str | None:
    return next((text for path in paths if (text := text_of(at(record, path))) and text.strip()), None)


def _identify(session: Session, path: Path, sample: Iterable[Record]) -> None:
    """Give a session of Claude Code the id that is its own.

    Every row of a sub-agent's file repeats the id of the session that called it, and the first rows of a
    forked session are copies of the original's. What is their own is the file's name.
    """
    first_one = next((one for one in sample if isinstance(at(one, "sessionId"), str)), None)
    if first_one is None:
        return
    stated, agent, file = session.session_id, text_of(first_one.get("agentId")), _name(path.stem)
    if file.startswith(_AGENT):
        session.session_id = f"{stated}/{file}"
    elif agent and first_one.get("isSidechain") is True:
        session.session_id = f"{stated}/{_AGENT}{agent}"
    elif _UUID.fullmatch(file):
        session.session_id = file
    session.earlier_id = stated if session.session_id != stated else ""


# -- databases and Markdown -------------------------------------------------------------------------------


def _database(path: Path) -> Iterator[Session | Refusal]:
    if not databases.is_known(path):
        yield Refusal(str(path), "its tables are those of no known program; `adopt` takes recorded sessions")
    else:
        yield from _stored(path, databases.conversations(path))


def _stored(path: Path, given: Iterable[tuple[str, Record] | Refusal]) -> Iterator[Session | Refusal]:
    """The sessions of conversations that are not JSON in their file."""
    for one in given:
        if isinstance(one, Refusal):
            yield one
            continue
        when = "" if one[1].get("id") else one[1].get("time")
        session = Session(
            f"{_own_name(path)} {when or ''}".strip(), project_slug=project_of(path), source=one[0]
        )
        yield from _conversation(one[1], recognised([one[1]]) or PLAIN, session)


# -- JSON -------------------------------------------------------------------------------------------------


def _records_of(path: Path) -> tuple[Callable[[Session], Iterator[Any]], bool]:
    """What reads the records of a file, the faults going to a session, and whether it is a single one.

    An array is read element by element, and lines one by one, so that a file may be larger than the memory.
    Raises OSError, and ValueError for a single value that is no JSON.
    """
    with open_regular(path) as file:
        beginning = file.read(_READ).decode("utf-8-sig", "replace").lstrip(_SPACE)
    start, is_laid_out = beginning[:1], beginning.partition("\n")[0].strip() == "{"
    if not start or (path.suffix.lower() not in _WHOLE and start not in ("[", '"') and not is_laid_out):
        return partial(_lines, path), False
    if start == "[":
        return partial(_elements, path), False
    try:
        whole = parsed(read_regular(path, limit=_LARGEST))
        if isinstance(whole, str) and whole.startswith("{"):  # JSON in a text, as Letta's
            whole = parsed(whole.encode())
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise
        return partial(_values if is_laid_out else _lines, path), False
    if isinstance(whole, list):  # in another encoding than UTF-8
        return (lambda _: iter(whole)), False
    if not isinstance(whole, dict):
        return (lambda _: iter(())), True
    listed = None if recognised([whole]) else _listed(whole)
    return (lambda _: iter(listed or [whole])), not listed


def _listed(whole: Record, depth: int = _DEEPEST) -> list[Any] | None:
    """The conversations, or messages, of a known program that an object has under some name, or several."""
    found = list[tuple[str, list[Any], list[Any]]]()  # a name, what it has, and the same beside others
    for name, inner in whole.items():
        if isinstance(inner, list) and _source_of(inner):
            found.append((name, inner, inner))
        elif isinstance(inner, dict) and depth:
            given = _listed(inner, depth - 1) or []
            source = recognised([inner])
            own = [{"id": name, **inner}] if source and source.parts else given
            if own:  # with what it says besides its messages
                found.append((name, given or own, own))
    if len(found) == 1:
        return found[0][1]
    return [one for name, _, own in found for one in _conversations_of(name, own)] or None


def _conversations_of(name: str, given: list[Any]) -> list[Any]:
    """What an object has under one of several names: conversations, else messages of one."""
    source = _source_of(given)
    return given if source and source.parts else [{"id": name, "messages": given}]


def _source_of(given: list[Any]) -> Source | None:
    return recognised(one for one in given[:_SAMPLE] if isinstance(one, dict))


def _elements(path: Path, session: Session) -> Iterator[Any]:
    """The elements of a JSON array; what follows a fault is left out, and named."""
    decoder, raw_decode = codecs.getincrementaldecoder("utf-8-sig")(), json.JSONDecoder().raw_decode
    try:
        with open_regular(path) as file:
            text, wanted = decoder.decode(file.read(_READ)).lstrip(_SPACE)[1:], _READ
            while (place := _after(text, 0)) == len(text) or text[place] != "]":
                try:
                    while text[place : place + 1] != "]":
                        value, place = raw_decode(text, place)
                        yield value
                        place, wanted = _after(text, place), _READ
                except json.JSONDecodeError:  # the element has not been read to its end, or is broken
                    more = file.read(wanted)
                    if not more or len(text) > _LARGEST:
                        raise
                    text, wanted = text[place:] + decoder.decode(more), 2 * wanted
                else:
                    return
    except (OSError, ValueError, RecursionError) as error:
        reason = "it is not written in UTF-8" if isinstance(error, UnicodeDecodeError) else error
        session.refused.append(Refusal(path.name, f"cannot be read to its end: {reason}"))


def _values(path: Path, session: Session) -> Iterator[Any]:
    """The JSON values of a file, each over several lines; what follows a fault is left out, and named."""
    text, place = encodings.read(read_regular(path, limit=_LARGEST))[0], 0
    try:
        while (place := _after(text, place)) < len(text):
            value, place = json.JSONDecoder().raw_decode(text, place)
            yield value
    except (ValueError, RecursionError) as error:
        session.refused.append(Refusal(path.name, f"cannot be read to its end: {error}"))


def _after(text: str, place: int) -> int:
    """The place of the next element of an array, or of its end."""
    while text[place : place + 1] and text[place] in _BETWEEN:
        place += 1
    return place


def _lines(path: Path, session: Session) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSONL file; the first invalid lines are named, the rest counted."""
    left_out = 0
    try:
        with open_regular(path) as file:
            is_wide = file.read(2) in _WIDE
            file.seek(0)
            wide = TextIOWrapper(file, "utf-16", newline="\n") if is_wide else None
            given = map(str.encode, wide) if wide else iter(lambda: file.readline(_LARGEST + 1), b"")
            for number, line in enumerate(given, start=1):
                if len(line) > _LARGEST:
                    reason = f"it is larger than {_LARGEST:,} bytes; the rest of the file was left out"
                    session.refused.append(Refusal(f"{path.name}, line {number}", reason))
                    break
                if not line.strip():
                    continue
                try:
                    value = parsed(line)
                    if not isinstance(value, dict):
                        raise ValueError("it is no object")
                except ValueError as error:  # the last line of a session still running
                    left_out += 1
                    if left_out <= NAMED:
                        session.refused.append(Refusal(f"{path.name}, line {number}", f"left out: {error}"))
                else:
                    yield value
    except FileNotFoundError:
        return
    except OSError as error:
        session.refused.append(Refusal(str(path), f"cannot be read: {error}"))
    if left_out > NAMED:
        session.refused.append(
            Refusal(path.name, f"{left_out - NAMED:,} more lines that are no JSON objects")
        )


def parsed(text: bytes) -> Any:
    """JSON in UTF-8, else in the encoding that its letters speak for. Raises ValueError for anything else."""
    try:
        try:
            return json.loads(text.decode("utf-8-sig"))
        except UnicodeDecodeError:
            return json.loads(encodings.read(text)[0])
    except BadSource as error:
        raise ValueError(str(error)) from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _own_name(path: Path) -> str:
    """What tells the file from others: its name, or its folder's if programs call each of them alike."""
    stem, folder = path.stem.strip("."), path.parent.name
    is_numbered = (
        folder.isdecimal() and len(folder) < 6
    )  # of an upload or an archive, by `_archive` and others
    return _name(folder if stem.lower() in _COMMON and folder and not is_numbered else stem or path.name)


def _name(of_file: str) -> str:
    """The file's name, which need not be valid Unicode."""
    return of_file.encode("utf-8", "replace").decode()
