"""The filter of a question in words."""

from datetime import UTC, datetime

from components.shell import format
from components.shell.session import presenter
from store import Filter
from store.catalog import filter_syntax


def describe(chosen: Filter) -> str:
    """The filter in words, as Markdown; "" for none."""
    parts = [f"tag {format.plain(label)}" for label in chosen.tags]
    parts += [f"category {format.plain(label)}" for label in chosen.categories]
    parts += [f"not tag {format.plain(label)}" for label in chosen.without_tags]
    parts += [f"not category {format.plain(label)}" for label in chosen.without_categories]
    parts += [f"with {facet}" for facet in chosen.having] + [f"without {facet}" for facet in chosen.lacking]
    for word, moment in (("since", chosen.since), ("until", chosen.until)):
        if moment is not None:
            parts.append(f"created {word} {datetime.fromtimestamp(moment, UTC):%Y-%m-%d}")
    if chosen.longer is not None:
        parts.append(f"captions of {chosen.longer:,} characters or more")
    if chosen.shorter is not None:
        parts.append(f"captions of {chosen.shorter:,} characters or fewer")
    for facet, least, most in chosen.lengths:
        limits = [f"{least:,} or more"] if least is not None else []
        limits += [f"{most:,} or fewer"] if most is not None else []
        parts.append(f"{' and '.join(limits)} characters of {facet}")
    if chosen.coin_set:
        parts.append("a selection of coins")
    if chosen.suspicious is not None:
        parts.append("suspected copies" if chosen.suspicious else "no suspected copies")
    if chosen.source:
        parts.append(f"imported from {format.plain(chosen.source)}")
    if chosen.rejected_for is not None:
        reason = format.plain(chosen.rejected_for)
        parts.append(f"rejected for {reason}" if reason else "rejected without a reason")
    if chosen.decided_by or chosen.decided_since is not None:
        parts.append(f"decided by {format.plain(presenter.name(chosen.decided_by) or 'anybody')}")
    if chosen.any_of or chosen.none_of:
        line = presenter.concealed(
            filter_syntax.written(Filter(any_of=chosen.any_of, none_of=chosen.none_of))
        )
        parts.append(format.plain(line))
    if chosen.words:
        parts.append(format.plain(chosen.words))
    return f"Filter: {', '.join(parts)}" if parts else ""
