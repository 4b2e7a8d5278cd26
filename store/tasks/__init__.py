"""All kinds of background jobs that a library can continue after a restart."""

from typing import TYPE_CHECKING

from store.jobs import JobContext, JobKind
from store.tasks import (
    adopt,
    arrange_map,
    download_model,
    draft_start,
    export,
    generate,
    import_captions,
    move,
    read_pictures,
    switch_model,
    tags,
    undo,
)

if TYPE_CHECKING:
    from store.library import Library


def _fetch_logos(context: "JobContext[Library]") -> None:
    from store.tasks.fetch_logos import fetch  # httpx comes along

    fetch(context)


KINDS: tuple["JobKind[Library]", ...] = (
    draft_start.KIND,
    export.KIND,
    JobKind("logos", _fetch_logos, queue="network"),
    generate.KIND,
    arrange_map.KIND,
    move.KIND,
    undo.KIND,
    switch_model.KIND,
    download_model.KIND,
    tags.KIND,
    import_captions.KIND,
    adopt.KIND,
    read_pictures.KIND,
)
QUIET = frozenset(kind.name for kind in KINDS if kind.is_quiet)  # kinds that no page but Jobs draws a bar of
