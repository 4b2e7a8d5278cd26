"""Find and call every public verb of a library or a text memory and of their parts.

New verbs are found as well: the tests fail until `arguments` says how to call them.
"""

import inspect
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import _GeneratorContextManager, closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

from store.errors import LoginEnded, ReadOnly

# Called after a fork only, never by a user of the object.
_LEFT_OUT = {"Library.detach_after_fork", "Memory.detach_after_fork"}
_DESCRIBING = {"Actor", "MemoryKind", "Layout", "Places"}  # descriptions only: they store nothing


def parts(whole: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The object and everything of ours reachable from it by public names, one of each class."""
    found, left = set(_DESCRIBING), [(name or type(whole).__name__, whole)]
    while left:
        name, part = left.pop(0)
        if type(part).__name__ in found or not type(part).__module__.startswith("store."):
            continue
        found.add(type(part).__name__)
        yield name, part
        for key, value in getattr(part, "__dict__", {}).items():
            if not key.startswith("_"):
                inner = value if isinstance(value, dict) else {"": value}
                left += [(f"{name}.{key}{f'[{of}]' if of else ''}", one) for of, one in inner.items()]


def verbs(part: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Its public methods and properties by their full names, as calls."""
    for name in sorted(dir(type(part))):
        plain = inspect.getattr_static(type(part), name)
        full = f"{type(part).__name__.removesuffix('Runtime')}.{name}"
        if name.startswith("_") or name == "for_actor" or full in _LEFT_OUT:
            continue
        if isinstance(plain, FunctionType):
            yield full, getattr(part, name)
        elif isinstance(plain, property):
            yield full, partial(getattr, part, name)


def outcome_of(name: str, verb: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Call it and return "ReadOnly", "LoginEnded", or "" if it succeeded. Raises every other error.

    `arguments` are named after parameters; "Class.verb.parameter" sets one for a single verb.
    """
    positional, named = list[Any](), dict[str, Any]()
    for parameter in () if isinstance(verb, partial) else inspect.signature(verb).parameters.values():
        own = f"{name}.{parameter.name}"
        if own in arguments or parameter.default is parameter.empty:
            if parameter.kind is parameter.VAR_POSITIONAL:
                continue
            if parameter.kind is parameter.VAR_KEYWORD:
                named |= arguments.get(own, {})
                continue
            assert own in arguments or parameter.name in arguments, f"say what {own} is to be"
            value = arguments.get(own, arguments.get(parameter.name))
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[parameter.name] = value
    try:
        answer = verb(*positional, **named)
        if isinstance(answer, _GeneratorContextManager):
            with answer as inside:
                _write(inside)
    except (ReadOnly, LoginEnded) as error:
        return type(error).__name__
    except sqlite3.OperationalError as error:
        if "readonly" not in str(error):
            raise
        return "ReadOnly"  # its connection is read-only
    return ""


def _write(inside: Any) -> None:
    """Write inside a transaction."""
    if isinstance(inside, sqlite3.Connection):
        inside.execute("CREATE TABLE intruders (name TEXT)")


def stored(root: Path, *, without: Collection[str] = ()) -> dict[str, str]:
    """The hash of every file below this folder; for a database, the hash of its rows.

    Tables in `without` are left out.
    """
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.name.endswith(("-wal", "-shm")):
            content = _rows(path, without) if path.suffix in (".sqlite3", ".db") else path.read_bytes()
            found[path.relative_to(root).as_posix()] = sha256(content).hexdigest()
    return found


def _rows(path: Path, without: Collection[str]) -> bytes:
    with closing(sqlite3.connect(path)) as db:
        db.text_factory = bytes
        names = [row[0].decode() for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        tables = [name for name in names if name not in without]
        return repr([(table, db.execute(f"SELECT * FROM {table}").fetchall()) for table in tables]).encode()
