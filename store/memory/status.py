"""The health of the text memory."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """The memory's health, in words for a page."""

    can_write: bool
    counts: dict[str, int]  # entries of each kind
    models: dict[str, str]
    to_embed: dict[str, int]  # entries without a vector of their kind's model
    chroma_behind: int  # entries
    chroma_fault: str  # "" while Chroma follows
    faults: dict[str, str] = field(default_factory=dict)  # kind → why its file cannot be used, what to do
    moved_aside: tuple[str, ...] = ()  # what others left in the way, and where it lies now
