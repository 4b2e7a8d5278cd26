"""All kinds of background jobs that a library can continue after a restart."""

from typing import TYPE_CHECKING

from store.jobs import JobContext, JobKind
from store.rules import keeping
from store.tasks import adopt, draft, export, generate, import_captions, models, move, tags, undo

if TYPE_CHECKING:
    from store.library import Library


def _fetch_logos(context: "JobContext[Library]") -> None:
    from store.tasks.fetch_logos import fetch  # httpx comes along

    fetch(context)


KINDS: tuple["JobKind[Library]", ...] = (
    draft.KIND,
    export.KIND,
    JobKind("logos", _fetch_logos, queue="network"),
    generate.KIND,
    models.ARRANGE_MAP,
    move.KIND,
    keeping.KIND,
    undo.KIND,
    models.SWITCH,
    models.DOWNLOAD,
    tags.KIND,
    import_captions.KIND,
    adopt.KIND,
    models.READ_PICTURES,
)
QUIET = frozenset(kind.name for kind in KINDS if kind.is_quiet)  # kinds that no page but Jobs draws a bar of

__all__ = [
    "KINDS",
    "QUIET",
    "adopt",
    "draft",
    "export",
    "fetch_logos",
    "generate",
    "import_captions",
    "inbox",
    "models",
    "move",
    "tags",
    "undo",
]
