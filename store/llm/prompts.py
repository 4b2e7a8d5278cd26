"""Prompts for language models: text files with variables, and all their versions."""

import re
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from store.catalog.catalog import Catalog
from store.disk.files import Disk, read_regular
from store.disk.layout import Layout
from store.disk.sqlite import renamed
from store.errors import InvalidRecord, UnknownPrompt
from store.settings import settings

BUILT_IN = Path(__file__).parent  # caption.txt asks for the four facets of a caption apart
DEFAULT_PROMPT = "caption"
VARIABLES = ("name", "ticker", "description", "tags", "taxonomy")
MAX_PROMPT = 50_000  # characters; far above any that a model would follow
MAX_BYTES = 4 * MAX_PROMPT + 3  # of a file in UTF-8, with its mark
_NAME = re.compile(r"[a-z0-9][a-z0-9 _-]{0,39}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One version of one prompt."""

    name: str
    version: int
    text: str
    actor: str = ""
    created_at: float = 0.0  # when it was saved, or first asked with; UNIX seconds, 0 before

    @property
    def label(self) -> str:
        """The text shown with its results."""
        return f"{self.name} v{self.version}"


class Prompts:
    """`library.prompts`: files in the library's `prompts/`, and those that come with the program."""

    def __init__(self, catalog: Catalog, layout: Layout, disk: Disk) -> None:
        self._catalog = catalog
        self._folder = layout.prompts
        self._disk = disk

    def names(self) -> list[str]:
        """The names of all prompts, the default first."""
        self._catalog.actor.check_login()
        own = {path.stem for path in self._folder.glob("*.txt") if _NAME.fullmatch(path.stem)}
        built_in = {path.stem for path in BUILT_IN.glob("*.txt")}
        return [DEFAULT_PROMPT, *sorted((own | built_in) - {DEFAULT_PROMPT})]

    def get(self, name: str, *, version: int | None = None) -> Prompt:
        """The current version, or an earlier one. Raises UnknownPrompt if there is none."""
        if version is not None:
            found = [one for one in self.versions(name) if one.version == version]
            if not found:
                raise UnknownPrompt(f"the prompt {name!r} has no version {version}")
            return found[0]
        text, known = self._read(name), self.versions(name)
        if known and known[0].text == text:
            return known[0]
        return Prompt(name, known[0].version + 1 if known else 1, text)  # edited with another program

    def default(self) -> Prompt:
        """The default prompt."""
        return self.get(DEFAULT_PROMPT)

    def versions(self, name: str) -> list[Prompt]:
        """All versions, newest first."""
        rows = self._catalog.rows("SELECT * FROM prompts WHERE name = ? ORDER BY version DESC", [name])
        return [Prompt(**renamed(row, actor="who", created_at="at")) for row in rows]

    def save(self, name: str, text: str, *, actor: str = "") -> Prompt:
        """Make this text the current version; older versions stay.

        Raises InvalidRecord for an invalid name or text, or if a setting fixes the default prompt.
        """
        self._catalog.check_writable()
        if not _NAME.fullmatch(name):
            raise InvalidRecord(
                "a prompt's name has 1 to 40 small letters, digits, spaces, hyphens or underscores"
            )
        if not text.strip() or len(text) > MAX_PROMPT:
            raise InvalidRecord(f"a prompt has 1 to {MAX_PROMPT:,} characters")
        if name == DEFAULT_PROMPT and settings().caption_prompt:
            raise InvalidRecord(
                f"the prompt {name!r} is set by MEMEDEX_CAPTION_PROMPT; edit that file, or use another name"
            )
        self._disk.make_folder(self._folder)
        self._disk.replace(self._folder / f"{name}.txt", text.encode())
        return self.store(name, actor=actor)

    def store(self, name: str, *, actor: str = "") -> Prompt:
        """Store the current version before it is used."""
        prompt = self.get(name)
        if not prompt.created_at:
            prompt = Prompt(name, prompt.version, prompt.text, actor or self._catalog.actor.name, time.time())
            with self._catalog.writing() as db:
                _insert(db, prompt)
        return prompt

    def _read(self, name: str) -> str:
        own, built_in = self._folder / f"{name}.txt", BUILT_IN / f"{name}.txt"
        set_by_hand = settings().caption_prompt if name == DEFAULT_PROMPT else None
        path = set_by_hand or (own if own.exists() else built_in)
        if not _NAME.fullmatch(name) or not (set_by_hand or path.exists()):
            raise UnknownPrompt(f"there is no prompt {name!r}; choose from: {', '.join(self.names())}")
        try:
            return read_regular(path, limit=MAX_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError) as error:
            remedy = "set MEMEDEX_CAPTION_PROMPT to a text file" if set_by_hand else "choose another"
            reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
            raise UnknownPrompt(f"the prompt {path} cannot be read: {reason}; {remedy}") from error


def filled(template: str, words: Mapping[str, str]) -> str:
    """The template with its variables filled in, in one pass: braces in the values stay text."""
    names = "|".join(VARIABLES)
    return re.sub(rf"\{{({names})\}}", lambda match: words.get(match[1], ""), template)


def _insert(db: sqlite3.Connection, prompt: Prompt) -> None:
    db.execute(
        "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?, ?)",
        [prompt.name, prompt.version, prompt.text, prompt.actor, prompt.created_at],
    )
