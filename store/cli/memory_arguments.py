"""The flags of the text memory's commands: `python -m store memory COMMAND …`.

`add_arguments` adds them to the parser of `memory`; each sets the `run` that carries it out.
"""

import argparse
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from store.cli import memory_edits, memory_queries, memory_trust, memory_verbs, stored_vectors
from store.cli.open_library import typed_path
from store.cli.terminal import Terminal

_STRUCTURE = {
    "event": "type", "tool": "name of the tool", "level": "such as ERROR", "session": "id of the session",
    "project": "of the session", "since": "date or time", "until": "date or time, included",
}  # fmt: skip

Run = Callable[[Namespace, Terminal], int]

# Names of earlier versions, which go on working.
EARLIER = {"forget": ["delete-session", "forget-session"], "delete-vectors": ["forget-vectors"]}
_MEMORIES = "memories"


def add_arguments(memory: ArgumentParser) -> None:
    """Add every command of the text memory and its flags."""
    verbs = memory.add_subparsers(dest="memory_verb", required=True, metavar="VERB", title="verbs")

    def add(verb: str, run: Run, meaning: str, *, is_hidden: bool = False) -> ArgumentParser:
        shown: dict[str, Any] = {} if is_hidden else {"help": meaning}
        added = verbs.add_parser(
            verb,
            aliases=EARLIER.get(verb, []),
            **shown,
            description=f"memory {verb}: {meaning}",
            allow_abbrev=False,
        )
        added.add_argument("--root", type=typed_path, default=argparse.SUPPRESS, metavar="DIR")
        added.add_argument("--actor", "--who", default=argparse.SUPPRESS, metavar="NAME")
        added.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
        added.set_defaults(run=run, parser=added, memory_verb=verb)
        return added

    add("demo", memory_edits.demo, "import a few made-up worlds, sessions, memories, papers and transcripts")
    add("status", memory_queries.status, "how much there is of each kind, and by which model")
    _entries(add)
    _for_models(add)
    searched = add("search", memory_verbs.search, "the most relevant memories, or entries of another kind")
    searched.add_argument("query", metavar="TEXT")
    _kind(searched)
    _scope(searched)
    searched.add_argument("--limit", type=int, default=5, metavar="N", help="1 to 20 (5)")
    searched.add_argument("--user", default="", metavar="U", help="of transcripts")
    searched.add_argument("--project", default="", metavar="P", help="of transcripts")
    searched.add_argument("--section", default="", metavar="HEADING", help="of documents")
    searched.add_argument(
        "--tag", action="append", default=[], dest="tags", metavar="T", help="of memories; may be repeated"
    )
    searched.add_argument(
        "--min-score",
        "--threshold",
        dest="threshold",
        type=float,
        metavar="PERCENT",
        help="least relevance (of memories this root's, 30 unless set)",
    )
    searched.add_argument(
        "--near-misses", type=int, default=0, metavar="N", help="also show so many below the threshold"
    )
    least = add("threshold", memory_edits.threshold, "the least relevance of memories; with a number, set it")
    least.add_argument("percent", nargs="?", type=float, metavar="PERCENT")

    asked = add("lore", memory_queries.lore, "what is known of a world")
    asked.add_argument("world", metavar="WORLD")
    asked.add_argument("query", metavar="TEXT")
    asked.add_argument("-n", type=int, default=3, metavar="N", help="how many chunks (3)")
    asked.add_argument("--max-chars", type=int, default=1000, metavar="N", help="warn above (1000)")
    parser = add("add-lore", memory_edits.add_lore, "as store --kind world_lore", is_hidden=True)
    parser.add_argument("world", metavar="WORLD")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("text", metavar="TEXT")
    parser.add_argument("--new", action="store_true", help="begin a world that does not exist yet")
    worlds_ = add("worlds", memory_edits.worlds, "the worlds; with a folder, import its YAML files")
    worlds_.add_argument("folder", nargs="?", type=typed_path, metavar="DIR")
    recalled = add("recall", memory_queries.recall, "what a character remembers of a session")
    recalled.add_argument("key", metavar="CHARACTER_SESSION")
    recalled.add_argument("query", metavar="TEXT")
    recalled.add_argument("-n", type=int, default=3, metavar="N", help="how many exchanges (3)")
    recalled.add_argument("--max-chars", type=int, default=1500, metavar="N", help="warn above (1500)")
    exchanged = add(
        "add-memory", memory_edits.add_memory, "remember what was said in a session", is_hidden=True
    )
    exchanged.add_argument("key", metavar="CHARACTER_SESSION")
    exchanged.add_argument("prompt", metavar="PROMPT")
    exchanged.add_argument("answer", metavar="ANSWER")
    forgotten = add("forget", memory_edits.forget, "delete a session's memory for good, from every file")
    forgotten.add_argument(
        "keys", nargs="+", metavar="SESSION", help="CHARACTER_SESSION, or SESSION for all its characters"
    )

    paper = add(
        "import-document", memory_edits.import_document, "import papers of a protocol: PDF, HTML, Word, text"
    )
    paper.add_argument("paths", nargs="+", type=typed_path, metavar="FILE")
    paper.add_argument("--protocol", required=True, metavar="NAME")
    papers = add("documents", memory_queries.documents, "the passages of papers nearest to a question")
    papers.add_argument("query", metavar="TEXT")
    papers.add_argument(
        "--protocol", action="append", dest="protocols", metavar="NAME", help="may be repeated"
    )
    papers.add_argument("--section", metavar="HEADING", help="only of this section")
    papers.add_argument("-n", type=int, default=5, metavar="N", help="how many (5)")
    papers.add_argument("--compare", action="store_true", help="as many for each protocol, side by side")

    add("find-sections", memory_edits.find_sections, "find the headings of papers imported before 1.1")

    sessions = add("import-transcripts", memory_edits.import_transcripts, "import recorded sessions")
    sessions.add_argument("paths", nargs="+", type=typed_path, metavar="PATH")
    found = add("transcripts", memory_queries.transcripts, "messages of recorded sessions")
    found.add_argument("query", metavar="TEXT")
    found.add_argument("--mode", choices=("hybrid", "semantic", "full_text"), default="hybrid")
    found.add_argument("--type", action="append", default=[], dest="types", metavar="T", help="content type")
    found.add_argument("--user", metavar="U")
    found.add_argument("--session", metavar="ID")
    found.add_argument("--project", metavar="P")
    found.add_argument("--min-score", type=float, metavar="PERCENT", help="least cosine")
    found.add_argument("-n", type=int, default=10, metavar="N", help="how many (10)")
    for one in (searched, found):
        one.add_argument("--since", metavar="WHEN", help="written at or after this date or time")
        one.add_argument("--until", metavar="WHEN", help="written at or before this date or time")
        one.add_argument("--mmr", type=float, metavar="λ", help="0 to 1: marginal relevance (1: relevance)")
    happened = add("events", memory_queries.events, "events of recorded sessions, by their structure")
    for name, meaning in _STRUCTURE.items():
        happened.add_argument(f"--{name}", metavar="X", help=meaning)
    happened.add_argument("-n", type=int, default=100, metavar="N", help="how many (100)")
    happened.add_argument("--offset", type=int, default=0, metavar="N", help="after how many newer ones (0)")

    exported = add("export", memory_queries.export, "write entries in the layout of their reference")
    exported.add_argument("path", type=typed_path, metavar="PATH", help="a new folder or file")
    exported.add_argument(
        "--kind", choices=memory_edits.KINDS, action="append", required=True, dest="kinds",
        help="memories, lore and sessions go into one Chroma, and may be named together",
    )  # fmt: skip
    exported.add_argument("--vectors", default="", metavar="MODEL", help="whose vectors (the kind's model)")
    memory_trust.add_arguments(add)
    for asking in (searched, asked, recalled, papers, found):
        asking.add_argument("--as-of", metavar="WHEN", help="as it was at this date or time")
    add("undo", memory_edits.undo, "undo your last decision about the text memory")
    add("redo", memory_verbs.redo, "redo what you undid last")
    for verb, meaning in (
        ("sessions", "the keys of session memory, with the number of exchanges"),
        ("protocols", "the protocols of documents, with the number of passages"),
        ("tags", "the tags of memories, with the number of memories"),
    ):
        add(verb, memory_verbs.names, meaning)
    embedded = add(
        "model", memory_edits.model, "the models in use; with a name, embed everything again with that one"
    )
    embedded.add_argument("name", nargs="?", metavar="NAME")
    embedded.add_argument("--kind", choices=memory_edits.KINDS, help="one kind of memory alone")
    gone = add("delete-vectors", memory_edits.delete_vectors, "delete the vectors of a model not in use")
    gone.add_argument("--kind", choices=memory_edits.KINDS, help="of one kind of memory alone")
    stored_vectors.add_arguments(gone)
    checked = add("doctor", memory_edits.doctor, "check files, full text, vectors and Chroma")
    checked.add_argument("--repair", action="store_true", help="mend what can be mended, losing nothing")


def _entries(add: Callable[..., ArgumentParser]) -> None:
    """Commands for single entries of any kind."""
    stored = add("store", memory_verbs.store, "store a memory, a text of lore or an exchange")
    stored.add_argument("content", metavar="TEXT")
    stored.add_argument("--tag", action="append", default=[], dest="tags", metavar="T", help="at most 10")
    _kind(stored, choices=(_MEMORIES, "world_lore", "session_memory"))
    _scope(stored)
    stored.add_argument("--name", default="", metavar="NAME", help="the entry's own, in its world or session")
    stored.add_argument("--new", action="store_true", help="begin a world that does not exist yet")
    listed = add("list", memory_verbs.list_, "the entries of one kind")
    listed.add_argument("--words", default="", metavar="W", help="that are in the text")
    listed.add_argument("-n", type=int, default=100, metavar="N", help="how many, at most 1000 (100)")
    listed.add_argument("--offset", type=int, default=0, metavar="N", help="after how many others (0)")
    _scope(listed)
    shown = add("show", memory_verbs.show, "one entry")
    edited = add("edit", memory_verbs.edit, "change an entry's text, or a memory's tags")
    for one in (shown, edited):
        one.add_argument("id", metavar="ID")
    edited.add_argument("--text", metavar="TEXT", help="embedded again")
    edited.add_argument("--tag", action="append", dest="tags", metavar="T", help="all tags; may be repeated")
    removed = add("remove", memory_verbs.remove, "remove entries; undo brings them back")
    removed.add_argument("ids", nargs="+", metavar="ID")
    for one in (listed, shown, edited, removed):
        _kind(one)


def _for_models(add: Callable[..., ArgumentParser]) -> None:
    """Commands that give the memory to a language model."""
    built = add("assemble", memory_verbs.assemble, "the context that a model gets for a prompt")
    built.add_argument("prompt", metavar="PROMPT")
    asked = add("ask", memory_verbs.ask, "ask a language model; it cites the entries it answers from")
    asked.add_argument("question", metavar="TEXT")
    asked.add_argument("--model", default="", metavar="M", help="by its litellm name (MEMEDEX_CAPTION_MODEL)")
    asked.add_argument("-n", type=int, default=3, metavar="N", help="entries of each kind, at most (3)")
    for one in (built, asked):
        one.add_argument("--world", default="", metavar="WORLD")
        one.add_argument("--session", default="", metavar="KEY", help="CHARACTER_SESSION")


def _kind(to: ArgumentParser, *, choices: tuple[str, ...] = memory_edits.KINDS) -> None:
    to.add_argument("--kind", choices=choices, default=_MEMORIES, help="of text memory (memories)")


def _scope(to: ArgumentParser) -> None:
    to.add_argument("--in", dest="scope", default="", metavar="NAME", help="world, session key or protocol")
