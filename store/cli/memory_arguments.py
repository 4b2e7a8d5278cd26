"""The flags of the text memory's commands: `python -m store memory COMMAND …`.

`add_arguments` adds them to the parser of `memory`; each sets the `run` that carries it out.
"""

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from store.cli import memory_edits, memory_queries, memory_trust, memory_verbs, stored_vectors, values
from store.cli.open_library import typed_path
from store.cli.terminal import Terminal

_STRUCTURE = {
    "event": "type", "tool": "name of the tool", "level": "such as ERROR",
    "error-type": "such as Timeout", "model": "name of the model", "session": "id of the session",
    "project": "of the session", "since": "date or time", "until": "date or time, included",
}  # fmt: skip

Run = Callable[[Namespace, Terminal], int]

_MEMORIES = "memories"


def add_arguments(memory: ArgumentParser) -> None:
    """Add every command of the text memory and its flags."""
    verbs = memory.add_subparsers(dest="memory_verb", required=True, metavar="VERB", title="verbs")

    def add(verb: str, run: Run, meaning: str) -> ArgumentParser:
        added = verbs.add_parser(
            verb,
            help=meaning,
            description=f"memory {verb}: {meaning}",
            allow_abbrev=False,
        )
        added.add_argument("--root", type=typed_path, default=argparse.SUPPRESS, metavar="DIR")
        added.add_argument("--actor", type=values.person, default=argparse.SUPPRESS, metavar="NAME")
        added.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        added.set_defaults(run=run, parser=added, memory_verb=verb)
        return added

    add("demo", memory_edits.demo, "import a few made-up worlds, sessions, memories, papers and transcripts")
    add("status", memory_queries.status, "how much there is of each kind, and by which model")
    _entries(add)
    _for_models(add)
    search = add("search", memory_verbs.search, "the most relevant memories, or entries of another kind")
    search.add_argument("query", metavar="TEXT")
    _kind(search)
    _scope(search)
    search.add_argument("--limit", type=int, default=5, metavar="N", help="1 to 20 (5)")
    search.add_argument("--user", default="", metavar="U", help="of transcripts")
    search.add_argument("--project", default="", metavar="P", help="of transcripts")
    search.add_argument("--section", default="", metavar="HEADING", help="of documents")
    search.add_argument(
        "--tag", action="append", default=[], dest="tags", metavar="T", help="of memories; may be repeated"
    )
    search.add_argument(
        "--min-score",
        dest="threshold",
        type=float,
        metavar="PERCENT",
        help="minimum score (memories: this root's threshold, 30 by default)",
    )
    search.add_argument(
        "--near-misses", type=int, default=0, metavar="N", help="also show so many below the threshold"
    )
    least = add("threshold", memory_edits.threshold, "the minimum score of memories; with a number, set it")
    least.add_argument("percent", nargs="?", type=float, metavar="PERCENT")

    lore = add("lore", memory_queries.lore, "what is known of a world")
    lore.add_argument("world", metavar="WORLD")
    lore.add_argument("query", metavar="TEXT")
    lore.add_argument("-n", type=int, default=3, metavar="N", help="how many chunks (3)")
    lore.add_argument("--max-chars", type=int, default=1000, metavar="N", help="warn above (1000)")
    worlds_ = add("worlds", memory_edits.worlds, "the worlds; with a folder, import its YAML files")
    worlds_.add_argument("folder", nargs="?", type=typed_path, metavar="DIR")
    recall = add("recall", memory_queries.recall, "what a character remembers of a session")
    recall.add_argument("key", metavar="CHARACTER_SESSION")
    recall.add_argument("query", metavar="TEXT")
    recall.add_argument("-n", type=int, default=3, metavar="N", help="how many exchanges (3)")
    recall.add_argument("--max-chars", type=int, default=1500, metavar="N", help="warn above (1500)")
    forget = add("forget", memory_edits.forget, "delete a session's memory for good, from every file")
    forget.add_argument(
        "keys", nargs="+", metavar="SESSION", help="CHARACTER_SESSION, or SESSION for all its characters"
    )

    paper = add(
        "import-document", memory_edits.import_document, "import papers of a protocol: PDF, HTML, Word, text"
    )
    paper.add_argument("paths", nargs="+", type=typed_path, metavar="FILE")
    paper.add_argument("--protocol", required=True, metavar="NAME")
    paper.add_argument(
        "--replace", action="store_true",
        help="in the place of the papers of these names, also if they are other ones or unchanged",
    )  # fmt: skip
    documents = add("documents", memory_queries.documents, "the passages of papers nearest to a question")
    documents.add_argument("query", metavar="TEXT")
    documents.add_argument(
        "--protocol", action="append", dest="protocols", metavar="NAME", help="may be repeated"
    )
    documents.add_argument(
        "--section", metavar="HEADING", help="only of this section; its number or its title alone will do"
    )
    documents.add_argument("-n", type=int, default=5, metavar="N", help="how many (5)")
    documents.add_argument("--compare", action="store_true", help="as many for each protocol, side by side")

    add(
        "find-sections",
        memory_edits.find_sections,
        "find the headings of papers imported by an earlier version",
    )

    sessions = add("import-transcripts", memory_edits.import_transcripts, "import recorded sessions")
    sessions.add_argument("paths", nargs="+", type=typed_path, metavar="PATH")
    transcripts = add("transcripts", memory_queries.transcripts, "messages of recorded sessions")
    transcripts.add_argument("query", metavar="TEXT")
    transcripts.add_argument("--mode", choices=("hybrid", "semantic", "full_text"), default="hybrid")
    transcripts.add_argument(
        "--type", action="append", default=[], dest="types", metavar="T", help="content type"
    )
    transcripts.add_argument("--user", metavar="U")
    transcripts.add_argument("--session", metavar="ID")
    transcripts.add_argument("--project", metavar="P")
    transcripts.add_argument("--min-score", type=float, metavar="PERCENT", help="least cosine")
    transcripts.add_argument("-n", type=int, default=10, metavar="N", help="how many (10)")
    for one in (search, transcripts):
        one.add_argument("--since", metavar="WHEN", help="written at or after this date or time")
        one.add_argument("--until", metavar="WHEN", help="written at or before this date or time")
        one.add_argument("--mmr", type=float, metavar="λ", help="0 to 1: marginal relevance (1: relevance)")
    events = add("events", memory_queries.events, "events of recorded sessions, by their structure")
    for name, meaning in _STRUCTURE.items():
        events.add_argument(f"--{name}", metavar="X", help=meaning)
    events.add_argument("-n", type=int, default=100, metavar="N", help="how many (100)")
    events.add_argument("--offset", type=int, default=0, metavar="N", help="after how many newer ones (0)")

    export = add("export", memory_queries.export, "write entries in the layout of their reference")
    export.add_argument("path", type=typed_path, metavar="PATH", help="a new folder or file")
    export.add_argument(
        "--kind", choices=memory_edits.KINDS, action="append", required=True, dest="kinds",
        help="memories, lore and sessions go into one Chroma, and may be named together",
    )  # fmt: skip
    export.add_argument("--vectors", default="", metavar="MODEL", help="whose vectors (the kind's model)")
    memory_trust.add_arguments(add)
    for one in (search, lore, recall, documents, transcripts):
        one.add_argument("--as-of", metavar="WHEN", help="as it was at this date or time")
    add("undo", memory_edits.undo, "undo your last decision about the text memory")
    add("redo", memory_verbs.redo, "redo what you undid last")
    for verb, meaning in (
        ("sessions", "the keys of session memory, with the number of exchanges"),
        ("protocols", "the protocols of documents, with the number of passages"),
        ("tags", "the tags of memories, with the number of memories"),
    ):
        add(verb, memory_verbs.names, meaning)
    model = add(
        "model", memory_edits.model, "the models in use; with a name, embed everything again with that one"
    )
    model.add_argument("name", nargs="?", metavar="NAME")
    model.add_argument("--kind", choices=memory_edits.KINDS, help="one kind of memory alone")
    delete_vectors = add(
        "delete-vectors", memory_edits.delete_vectors, "delete the vectors of a model not in use"
    )
    delete_vectors.add_argument("--kind", choices=memory_edits.KINDS, help="of one kind of memory alone")
    stored_vectors.add_arguments(delete_vectors)
    doctor = add("doctor", memory_edits.doctor, "check files, full text, vectors and Chroma")
    doctor.add_argument("--repair", action="store_true", help="repair what can be repaired, losing nothing")


def _entries(add: Callable[..., ArgumentParser]) -> None:
    """Commands for single entries of any kind."""
    store = add("store", memory_verbs.store, "store a memory, a text of lore or an exchange")
    store.add_argument("content", metavar="TEXT")
    store.add_argument("--tag", action="append", default=[], dest="tags", metavar="T", help="at most 10")
    _kind(store, choices=(_MEMORIES, "world_lore", "session_memory"))
    _scope(store)
    store.add_argument("--name", default="", metavar="NAME", help="the entry's own, in its world or session")
    store.add_argument("--new", action="store_true", help="begin a world that does not exist yet")
    list_ = add("list", memory_verbs.list_, "the entries of one kind")
    list_.add_argument("--words", default="", metavar="W", help="that are in the text")
    list_.add_argument("-n", type=int, default=100, metavar="N", help="how many, at most 1000 (100)")
    list_.add_argument("--offset", type=int, default=0, metavar="N", help="after how many others (0)")
    _scope(list_)
    show = add("show", memory_verbs.show, "one entry")
    edit = add("edit", memory_verbs.edit, "change an entry's text, or a memory's tags")
    for one in (show, edit):
        one.add_argument("id", metavar="ID")
    edit.add_argument("--text", metavar="TEXT", help="embedded again")
    edit.add_argument("--tag", action="append", dest="tags", metavar="T", help="all tags; may be repeated")
    remove = add("remove", memory_verbs.remove, "remove entries; undo brings them back")
    remove.add_argument("ids", nargs="+", metavar="ID")
    for one in (list_, show, edit, remove):
        _kind(one)


def _for_models(add: Callable[..., ArgumentParser]) -> None:
    """Commands that give the memory to a language model."""
    assemble = add("assemble", memory_verbs.assemble, "the context that a model gets for a prompt")
    assemble.add_argument("prompt", metavar="PROMPT")
    assemble.add_argument(
        "--kind", action="append", dest="kinds", choices=memory_edits.KINDS,
        help="only of this kind of text memory; may be repeated (all)",
    )  # fmt: skip
    ask = add("ask", memory_verbs.ask, "ask a language model; it cites the entries it answers from")
    ask.add_argument("question", metavar="TEXT")
    ask.add_argument("--model", default="", metavar="M", help="by its litellm name (MEMEDEX_CAPTION_MODEL)")
    ask.add_argument("-n", type=int, default=3, metavar="N", help="entries of each kind, at most (3)")
    for one in (assemble, ask):
        one.add_argument("--world", default="", metavar="WORLD")
        one.add_argument("--session", default="", metavar="KEY", help="CHARACTER_SESSION")


def _kind(to: ArgumentParser, *, choices: tuple[str, ...] = memory_edits.KINDS) -> None:
    to.add_argument("--kind", choices=choices, default=_MEMORIES, help="of text memory (memories)")


def _scope(to: ArgumentParser) -> None:
    to.add_argument("--in", dest="scope", default="", metavar="NAME", help="world, session key or protocol")
