"""A caption as one line of text, the format of LoRA trainers."""

from collections.abc import Mapping, Sequence

from store.records import Facet

JOINED = "joined"
HOLDS = "text_file_holds"  # in a table beside text files: "joined", or the one facet that stands in them


def joined(caption: Mapping[Facet, str], tags: Sequence[str]) -> str:
    """All facets and tags, separated by commas."""
    parts = [" ".join(text.split()).rstrip(". ") for text in caption.values()]
    return ", ".join(part for part in (*parts, *tags) if part)
