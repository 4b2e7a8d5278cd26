"""Memories as Markdown notes, with front matter: one as a note, and a note as what it says."""

import datetime
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_NO_NAME = re.compile(r"[^\w -]+")
_TAGS, _TIMES = ("tags", "tag", "keywords"), ("created", "date", "created_at", "timestamp")
NOTE, HASH = "note", "hash"  # in the metadata of a memory: the note's place in its folder, and what it said
_LONGEST = 60  # characters of a name


@dataclass(frozen=True, slots=True)
class Note:
    """What a note says; `id` and `hash` are "" unless it was a memory before."""

    id: str
    text: str
    tags: tuple[str, ...]
    created: Any
    hash: str
    more: Mapping[str, Any]  # further fields of its front matter


def hash_of(text: str, tags: Any) -> str:
    """A short hash of what a person changes in a note."""
    return sha256(json.dumps([text, [*tags]]).encode()).hexdigest()[:12]


def read(content: str, *, name: str) -> Note:
    """The note in this file; one without a heading begins with its name. Raises ValueError for bad YAML."""
    import yaml

    fields, body = dict[str, Any](), content.replace("\r\n", "\n")
    if front := _FRONT.match(body):
        try:
            if any(isinstance(one, yaml.AliasEvent) for one in yaml.parse(front[1], yaml.SafeLoader)):
                raise ValueError("it has aliases")  # aliases of aliases would fill the memory
            given = yaml.safe_load(front[1])
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise ValueError(f"its front matter cannot be read: {' '.join(str(error).split())}") from error
        fields = {
            str(key): _plain(value) for key, value in (given if isinstance(given, dict) else {}).items()
        }
        body = body[front.end() :]
    text = body.strip()
    if text and not text.startswith("#") and "id" not in fields:
        text = f"# {name}\n\n{text}"
    tags: Any = next((fields[one] for one in _TAGS if fields.get(one)), [])
    parts = tags if isinstance(tags, list) else str(tags).split("," if "," in str(tags) else None)
    known = {*_TAGS, *_TIMES, "id", HASH}
    return Note(
        id=str(fields.get("id") or ""),
        text=text,
        tags=tuple(dict.fromkeys(tag for one in parts if (tag := str(one).strip().lstrip("#")))),
        created=next((fields[one] for one in _TIMES if fields.get(one)), None),
        hash=str(fields.get(HASH) or ""),
        more={key: value for key, value in fields.items() if key not in known and value is not None},
    )


def written(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """A memory as a note, which `read` reads."""
    import yaml

    tags = json.loads(row["tags"])
    more = {name: value for name, value in metadata.items() if name not in (NOTE, HASH)}
    fields = {
        "id": row["id"], HASH: hash_of(row["content"], tags), "created": row["timestamp"], "tags": tags,
        **more,
    }  # fmt: skip
    front = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False)
    return f"---\n{front}---\n\n{row['content']}\n"


def place(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> Path:
    """Where a memory's note stands in its folder: where it came from, else named by its first words."""
    came_from = PurePosixPath(str(metadata.get(NOTE, "")))
    if came_from.suffix and not came_from.is_absolute() and ".." not in came_from.parts:
        return Path(came_from)
    words = _NO_NAME.sub("", row["content"].strip().split("\n")[0]).strip()[:_LONGEST].strip() or "memory"
    return Path(f"{words} {sha256(row['id'].encode()).hexdigest()[:6]}.md")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.date):  # or a moment
        return value.isoformat()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
