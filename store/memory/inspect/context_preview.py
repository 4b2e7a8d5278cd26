"""Preview what a model would see for a prompt: a template, the chunks that fill it, and their size.

Nothing here counts as a question; `context.retrieve` is for real use.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from store.disk.files import Disk
from store.memory.engine.errors import InvalidInput
from store.memory.engine.inputs import checked_text
from store.memory.engine.resident import Where
from store.memory.story.context import HEADING, LORE_RESULTS, MEMORY_RESULTS, TOTAL_CHARS, log_retrieved
from store.memory.story.lore import MAX_CHARS as LORE_CHARS
from store.memory.story.sessions import MAX_CHARS as MEMORY_CHARS
from store.memory.text.tokens import count_tokens

if TYPE_CHECKING:
    from store.memory.memory import Memory

REFERENCE = "{lore}\n\n{memory}"  # reference 4: the block of recent memory, lore beside it
PRODUCTION: Mapping[str, int] = {"lore": LORE_RESULTS, "memory": MEMORY_RESULTS}
BUDGETS: Mapping[str, int] = {"lore": LORE_CHARS, "memory": MEMORY_CHARS, "all": TOTAL_CHARS}
_KINDS = {  # placeholder → the kind of memory that fills it
    "lore": "world_lore",
    "memory": "session_memory",
    "memories": "memories",
    "documents": "documents",
    "transcripts": "transcript_vectors",
}
PLACEHOLDERS = (*_KINDS, "prompt")
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ContextChunk:
    """One entry as it goes to the model."""

    kind: str
    row: dict[str, Any]
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Section:
    """The content of one placeholder."""

    name: str
    chunks: list[ContextChunk]
    text: str
    budget: int | None

    @property
    def characters(self) -> int:
        """Characters of the chunks alone, as the references count them."""
        return sum(len(chunk.text) for chunk in self.chunks)

    @property
    def tokens(self) -> int:
        """How many tokens the section has."""
        return count_tokens(self.text)

    @property
    def context_warning(self) -> bool:
        """Whether it exceeds its budget; nothing is left out for that."""
        return self.budget is not None and self.characters > self.budget


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """The whole context."""

    text: str
    sections: list[Section] = field(default_factory=list)

    @property
    def characters(self) -> int:
        """Characters of all chunks."""
        return sum(section.characters for section in self.sections)

    @property
    def tokens(self) -> int:
        """How many tokens the whole context has."""
        return count_tokens(self.text)

    @property
    def chunks(self) -> list[ContextChunk]:
        """The chunks of all sections, in order."""
        return [chunk for section in self.sections for chunk in section.chunks]


def assemble(
    memory: "Memory",
    prompt: str,
    *,
    template: str = REFERENCE,
    numbers: Mapping[str, int] = PRODUCTION,
    where: Mapping[str, Where] | None = None,
) -> AssembledContext:
    """Fill the template for this prompt. Raises InvalidInput for an unknown placeholder.

    `numbers` says how many chunks each placeholder gets, `where` (by placeholder) which entries are allowed.
    A block of the template (between empty lines) that stays empty is left out.
    """
    prompt = checked_text(prompt, what="the prompt")
    sections = {name: _section(memory, name, prompt, numbers, where or {}) for name in _named(template)}
    texts = {name: section.text for name, section in sections.items()} | {"prompt": prompt}
    blocks = []
    for block in template.split("\n\n"):
        filled = _PLACE.sub(lambda place: texts[place[1]], block)
        if filled.strip() or not _PLACE.search(block):
            blocks.append(filled)
    return AssembledContext("\n\n".join(blocks).strip("\n"), [*sections.values()])


def stored_template(memory: "Memory") -> str:
    """The template saved for this root, else the reference's."""
    try:
        return memory.places.template.read_text(encoding="utf-8")
    except FileNotFoundError:
        return REFERENCE


def store_template(memory: "Memory", template: str) -> None:
    """Save a template for everybody. Raises InvalidInput or ReadOnly."""
    from store.errors import ReadOnly

    _named(checked_text(template, what="the template"))
    memory.actor.permit()
    if not memory.can_write:
        raise ReadOnly("this text memory can be looked at, not changed")
    Disk().replace(memory.places.template, template.encode())


def _named(template: str) -> list[str]:
    """The placeholders that memory fills, in their order."""
    names = dict.fromkeys(_PLACE.findall(template))
    if unknown := [name for name in names if name not in PLACEHOLDERS]:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise InvalidInput(f"the template names {{{unknown[0]}}}; there are {known}")
    return [name for name in names if name in _KINDS]


def _section(
    memory: "Memory", name: str, prompt: str, numbers: Mapping[str, int], where: Mapping[str, Where]
) -> Section:
    passages = memory.passages[_KINDS[name]]
    number = numbers.get(name, 3)
    found = passages.for_context(prompt, n=number, where=where.get(name, {})) if number else []
    chunks = [
        ContextChunk(passages.kind.name, hit.row, hit.row[passages.kind.text], hit.score) for hit in found
    ]
    log_retrieved(name.upper(), [chunk.text for chunk in chunks])
    text = "\n".join(chunk.text for chunk in chunks)
    if name == "memory" and chunks:
        text = f"{HEADING}\n{text}"
    return Section(name, chunks, text, BUDGETS.get(name))
