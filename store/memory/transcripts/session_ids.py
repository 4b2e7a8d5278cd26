"""The id of a session whose files do not say it.

It is called like its file or folder, as another conversation may be: `chat.jsonl` of two projects. So its
first messages are compared with those of the sessions that are stored under this name.
"""

import json
import re
import sqlite3
from collections import Counter
from hashlib import sha256
from itertools import chain, islice

from store.memory.engine.inputs import as_json
from store.memory.engine.passages import Passages
from store.memory.transcripts.files import Session

_COMPARED = 200  # messages from the beginning


def choose_id(passages: Passages, session: Session) -> None:
    """Give an unnamed session the id of the stored one that it continues, or one that no other has.

    It continues a session of the same project if at least half of the messages that the shorter one begins
    with are in both.
    """
    first = [] if session.is_named else list(islice(session.messages, _COMPARED))
    if not first:
        return
    session.messages = chain(first, session.messages)
    name, project = session.session_id, session.project_slug
    messages = [(message["role"], as_json(message.get("content"))) for message in first]
    with passages.database.reading() as db:
        known = _stored_ids(db, session.user_id, name)
        for id in known:
            stored, of = _beginning(db, session.user_id, id)
            if (not of or not project or of == project) and _are_one(stored, messages):
                session.session_id = id
                return
    if name in known:
        session.session_id = f"{name}-{sha256(as_json([project, messages]).encode()).hexdigest()[:8]}"


def _stored_ids(db: sqlite3.Connection, user: str, name: str) -> list[str]:
    """The sessions of this name, and those that got an id from it."""
    found = db.execute(
        "SELECT DISTINCT session_id FROM transcripts WHERE user_id = ? AND session_id BETWEEN ? AND ? "
        "ORDER BY session_id",
        [user, name, f"{name}-g"],
    )
    return [row[0] for row in found if re.fullmatch(r"(-[0-9a-f]{8})?", row[0][len(name) :])]


def _beginning(db: sqlite3.Connection, user: str, id: str) -> tuple[list[tuple[str, str]], str | None]:
    """The first messages of a stored session by role and content, and its project."""
    rows = db.execute(
        "SELECT role, CAST(content AS TEXT) AS content, project_slug FROM transcripts WHERE user_id = ? AND session_id = ? "
        "ORDER BY sequence LIMIT ?",
        [user, id, _COMPARED],
    ).fetchall()
    return [(row["role"], _normal(row["content"])) for row in rows], rows[0]["project_slug"]


def _are_one(stored: list[tuple[str, str]], given: list[tuple[str, str]]) -> bool:
    """Whether these are the beginnings of one conversation, which may have been edited or continued."""
    before, after = _telling(stored), _telling(given)
    return 2 * (before & after).total() >= min(before.total(), after.total())


def _telling(messages: list[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """The messages without the system's, which many conversations share, if there are others."""
    return Counter([message for message in messages if message[0] != "system"] or messages)


def _normal(content: str) -> str:
    """The JSON as it is written today; earlier versions spaced it differently."""
    try:
        return as_json(json.loads(content))
    except ValueError:
        return content
