"""What an operation needs in addition to what it changes."""

from dataclasses import dataclass, field

from store.embedding.embedding_cache import EmbeddingSource


@dataclass(slots=True)
class Payload:
    """New files, sidecar texts and vectors of an operation, all computed beforehand."""

    pictures: dict[str, bytes] = field(default_factory=dict)  # address → JPG
    sidecars: dict[str, bytes] = field(default_factory=dict)  # SHA-256 → JSON
    # What the operation's records are embedded from.
    wanted: list[EmbeddingSource] = field(default_factory=list)
    model: str = ""  # … and by which model; the library's must still be the same when it is decided
    vectors: dict[str, bytes] = field(default_factory=dict)  # key → float32 row
    fingerprints: dict[str, bytes] = field(default_factory=dict)  # SHA-256 of a picture → what it looks like
