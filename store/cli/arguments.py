"""Every command and flag of the command line; their names are an interface."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from store import __version__
from store.cli import (
    adopt,
    dashboard,
    decisions,
    drafts,
    evaluation,
    generation,
    imports,
    index,
    jobs,
    maintenance,
    mcp,
    memory_arguments,
    memory_queries,
    pictures,
    queries,
    sessions,
    stored_vectors,
    tags,
    trash,
    values,
)
from store.cli import search as cli_search
from store.cli.open_library import typed_path
from store.cli.terminal import Terminal
from store.exporting import FORMATS, JOINED, TEXTS
from store.records import CAPTION_FACETS, TIERS

Run = Callable[[argparse.Namespace, Terminal], int]

ALIASES = {"accept": ["take"], "back-to-review": ["return"], "remove": ["degrade"]}

_EPILOG = (
    "Exit status: 0 done, 1 some were refused, 2 wrong usage, 3 the library is in use by another process."
)


class _Verbs:
    """The commands of one parser, which share some flags."""

    def __init__(self, whole: argparse.ArgumentParser) -> None:
        self._verbs = whole.add_subparsers(dest="verb", required=True, metavar="VERB", title="verbs")

    def add(self, verb: str, run: Run, meaning: str) -> argparse.ArgumentParser:
        added = self._verbs.add_parser(
            verb,
            aliases=ALIASES.get(verb, []),
            help=meaning,
            description=f"{verb}: {meaning}",
            allow_abbrev=False,
            epilog=_EPILOG,
        )
        _common(added, default=argparse.SUPPRESS)  # so that what stands before the verb is not forgotten
        added.add_argument("--json", action="store_true", help="answer in JSON on standard output")
        added.set_defaults(run=run, parser=added, verb=verb)
        return added


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; each command's `run` is the function that carries it out."""
    whole = argparse.ArgumentParser(prog=_program(), epilog=_EPILOG, allow_abbrev=False)
    whole.add_argument("--version", action="version", version=f"Memedex {__version__}")
    whole.description = "A library of memecoins: import, review, caption, search, export."
    _common(whole, default=None)
    verbs = _Verbs(whole)

    dashboard.add_arguments(verbs.add("run", dashboard.run, "start the dashboard in the browser"))
    sessions.add_arguments(verbs)
    _importing(verbs)
    adopt.add_arguments(verbs)
    _moving(verbs)
    trash.add_arguments(verbs)
    _writing(verbs)
    pictures.add_arguments(verbs)
    drafts.add_arguments(verbs)
    generation.add_arguments(verbs)
    jobs.add_arguments(verbs)
    _undoing(verbs)
    _listing(verbs)
    _searching(verbs)
    evaluation.add_arguments(verbs)
    _reading_history(verbs)
    _maintaining(verbs)
    memory_arguments.add_arguments(verbs.add("memory", memory_queries.status, "the text memory"))
    mcp.add_arguments(verbs.add("mcp", mcp.serve, "serve agents over the Model Context Protocol"))
    return whole


def _importing(verbs: _Verbs) -> None:
    """Commands that bring coins into the library."""
    coins = verbs.add("import", decisions.import_, "import coins for review (pending)")
    coins.add_argument(
        "paths", nargs="+", type=typed_path, metavar="PATH", help="folder, zip, list, table, picture"
    )
    logos = verbs.add(
        "fetch-logos", imports.fetch_logos, "import a token list whose logos are on the network"
    )
    logos.add_argument(
        "paths",
        nargs="*",
        type=typed_path,
        metavar="PATH",
        help="token lists; without one, go on with what is left",
    )
    arrive = verbs.add("inbox", imports.inbox, "import what is in the watched folder, once")
    arrive.add_argument("--folder", type=typed_path, metavar="DIR", help="instead of MEMEDEX_INBOX")
    verbs.add("demo", decisions.demo, "load the demo library")


def _moving(verbs: _Verbs) -> None:
    """Commands that move coins from tier to tier."""
    for verb, meaning in (
        ("approve", "from review (pending) to approved"),
        ("back-to-review", "approved back to review (pending)"),
        ("reject", "from review or approved to Rejected (trash)"),
        ("remove", "from the library back to approved; captions and vectors stay"),
        ("delete", "from any tier to Rejected (trash)"),
        ("restore", "rejected or deleted coins back to where they were"),
    ):
        mover = verbs.add(verb, decisions.move, meaning)
        mover.add_argument("addresses", nargs="+", metavar="ADDRESS")
        if verb == "reject":
            mover.add_argument("--reason", default="", help="why, for the history")
    promote = verbs.add("promote", decisions.promote, "approved to the library, every facet embedded")
    promote.add_argument("addresses", nargs="*", metavar="ADDRESS")
    promote.add_argument("--all", action="store_true", help="everything approved")


def _writing(verbs: _Verbs) -> None:
    """Commands that write captions and tags."""
    caption = verbs.add("caption", decisions.caption, "write captions and tags; what is not given stays")
    caption.add_argument("address", metavar="ADDRESS")
    for facet in CAPTION_FACETS:
        caption.add_argument(f"--{facet}", metavar="TEXT", help='"" to leave it empty on purpose')
    caption.add_argument("--tags", metavar="A,B", help='all tags, separated by commas; "" for none')

    tag = verbs.add("tag", tags.tag, "add and remove tags")
    tag.add_argument("addresses", nargs="+", metavar="ADDRESS")
    tag.add_argument("--add", metavar="A,B", type=values.tags, default=[])
    tag.add_argument("--remove", metavar="A,B", type=values.tags, default=[])
    renamed = verbs.add("rename-tag", tags.rename, "give a tag another name everywhere, or merge several")
    renamed.add_argument("tags", nargs="+", metavar="TAG", help="as they are written on the records")
    renamed.add_argument(
        "--to", required=True, metavar="TAG", help="its name; one that is there is merged with"
    )
    taxonomy = verbs.add("taxonomy", tags.taxonomy, "show the known tags and their categories, or edit them")
    taxonomy.add_argument(
        "--set", type=values.entry, action="append", default=[], dest="entries", metavar="TAG=CATEGORY"
    )
    taxonomy.add_argument(
        "--remove", metavar="A,B", type=values.tags, default=[], help="tags to remove from it"
    )


def _undoing(verbs: _Verbs) -> None:
    """Commands that take decisions back."""
    for verb in ("undo", "redo"):
        meaning = "undo your own last decisions" if verb == "undo" else "redo what was undone"
        verbs.add(verb, decisions.reverse, meaning).add_argument(
            "count", nargs="?", type=values.positive, default=1, metavar="N", help="how many (1)"
        )


def _listing(verbs: _Verbs) -> None:
    """Commands that list coins."""
    listed = verbs.add("list", queries.list_, "coins, newest first")
    listed.add_argument(
        "line",
        nargs="?",
        default="",
        metavar="LINE",
        help="what the pages' line takes: tag:dog (category:animals OR moon*) after:2025-01 has:visual",
    )
    listed.add_argument("--tier", choices=TIERS)
    listed.add_argument("--words", default="", help="in name, ticker, description or caption")
    queries.add_filters(listed)
    verbs.add("show", queries.show, "one coin").add_argument("address", metavar="ADDRESS")


def _searching(verbs: _Verbs) -> None:
    """The command that searches."""
    search = verbs.add("search", cli_search.search, "search the library and explain each score")
    search.add_argument(
        "text",
        nargs="?",
        metavar="LINE",
        help="words, or what the search page's line takes: "
        '2 × "frog" − "text" (tag:dog OR tag:cat) -moon* after:2025-01',
    )
    search.add_argument(
        "--image", type=typed_path, metavar="FILE", help="search by a picture, alone or with LINE"
    )
    search.add_argument("--like", metavar="ADDRESS", help="search for coins like this one")
    search.add_argument(
        "--weights",
        type=values.weights,
        metavar="entity=4,context=3,visual=2,emotions=1,image=0",
        help="what each facet weighs; one that is not named weighs nothing",
    )
    search.add_argument("--calibrated", action="store_true", help="every facet's cosines on one scale")
    search.add_argument(
        "--fused", action="store_true", help="the words of the question count too, as on the search page"
    )
    search.add_argument(
        "--shifted",
        action="store_true",
        help="move the question towards its good marks, away from its bad ones",
    )
    search.add_argument("--top", type=values.top, default=50, metavar="N", help="how many hits (50)")
    queries.add_filters(search)


def _reading_history(verbs: _Verbs) -> None:
    """Commands that read decisions, and copy coins out of the library."""
    history = verbs.add("history", queries.history, "what was decided, newest first")
    history.add_argument("--address", metavar="ADDRESS", help="of this coin alone")
    history.add_argument(
        "--limit", type=values.positive, default=100, metavar="N", help="how many events (100)"
    )

    export = verbs.add("export", queries.export, "coins and pictures to a new folder or zip")
    export.add_argument("path", type=typed_path, metavar="PATH")
    export.add_argument("--format", choices=FORMATS, default=FORMATS[0], metavar="F", help=", ".join(FORMATS))
    export.add_argument(
        "--texts", choices=TEXTS, default=JOINED, metavar="T", help=f"with --format txt: {', '.join(TEXTS)}"
    )
    export.add_argument("--tier", choices=TIERS, help="this tier alone; else all but rejected")
    export.add_argument(
        "--previous", type=typed_path, metavar="FILE", help="with --format tokenlist: the previous list"
    )
    export.add_argument("--only", nargs="+", default=[], metavar="ADDRESS", help="these coins alone")


def _maintaining(verbs: _Verbs) -> None:
    """Commands for the library as a whole."""
    doctor = verbs.add("doctor", maintenance.doctor, "check files, catalog, vectors and Chroma")
    doctor.add_argument("--repair", action="store_true", help="repair what can be repaired, losing nothing")
    search_index = verbs.add(
        "index", index.index, "bring Chroma's collections to where the settings say, and compare them"
    )
    search_index.add_argument(
        "--rebuild", action="store_true", help="rebuild the collections; needs no model"
    )
    model = verbs.add("model", maintenance.model, "show the embedding model, or change it")
    model.add_argument("name", nargs="?", metavar="NAME", help="auto, offline, openclip:…, litellm:…")
    model.add_argument(
        "--download",
        action="store_true",
        help="fetch its weights from the hub: CLIP ViT-L/14 if none is named",
    )
    stored_vectors.add_arguments(
        verbs.add("delete-vectors", stored_vectors.delete_vectors, "delete the vectors of a model not in use")
    )
    verbs.add("backup", maintenance.backup, "copy the library, also while it is in use").add_argument(
        "path", type=typed_path, metavar="PATH", help="a new folder"
    )
    verbs.add("restore-backup", maintenance.restore_backup, "restore a backup").add_argument(
        "path", type=typed_path, metavar="PATH"
    )
    verbs.add(
        "restore-files", maintenance.restore_files, "write a restored catalog's files (MEMEDEX_PICTURES)"
    )


def _program() -> str:
    """The name under which this command line was called, for usage lines."""
    return "memedex" if Path(sys.argv[0]).stem == "memedex" else "python -m store"


def _common(to: argparse.ArgumentParser, *, default: str | None) -> None:
    to.add_argument(
        "--root",
        type=typed_path,
        default=default,
        metavar="DIR",
        help="holds memecoins/ (MEMEDEX_ROOT, else res)",
    )
    to.add_argument(
        "--actor",
        type=values.person,
        default=default,
        metavar="NAME",
        help="who decides (MEMEDEX_USER, else your login)",
    )
