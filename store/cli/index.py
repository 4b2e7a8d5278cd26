"""The command `index`: bring Chroma's collections to where the settings say, and compare them."""

from argparse import Namespace

from store.chroma.place import describe_place, is_there
from store.cli import memory_edits
from store.cli.open_library import has_followed, has_library, root_of, writing
from store.cli.terminal import Terminal
from store.library import Library
from store.memory.engine.places import Places
from store.memory.memory import Memory


def index(arguments: Namespace, terminal: Terminal) -> int:
    """Fill the collections of library and text memory in the place of the settings; status 0 if they agree.

    What was interrupted is continued the next time. The place they were in before keeps what it has.
    """
    root = root_of(arguments)
    if (place := describe_place() or "the library's folder") == "off":
        terminal.say("Chroma is switched off (MEMEDEX_CHROMA=off)")
        return 2
    found: dict[str, list[str]] = {}
    if has_library(root):
        with writing(arguments, terminal) as library:
            if arguments.rebuild:
                library.rebuild_chroma()
            found["library"] = _differences(library, terminal)
    if Places(root).folder.is_dir():
        with memory_edits.writing(arguments, terminal) as memory:
            if arguments.rebuild:
                memory.rebuild_chroma()
            found["memory"] = _differences(memory, terminal)
    if arguments.json:
        terminal.answer_json({"place": place, "differences": found})
    for fault in [fault for faults in found.values() for fault in faults]:
        terminal.say(fault)
    is_equal = not any(found.values())
    if is_equal:
        terminal.say(f"{place}: the index agrees with the {' and the '.join(found) or 'library'}")
    return 0 if is_equal else 1


def _differences(kept: Library | Memory, terminal: Terminal) -> list[str]:
    """What differs, after one rebuild of an index that follows and differs all the same.

    Such as that of a server that came back empty, which nobody noticed as long as nothing changed.
    """
    follows = has_followed(kept, terminal)
    faults = terminal.watch(lambda _: kept.check_chroma())
    if faults and follows and is_there() and not terminal.was_interrupted:
        kept.rebuild_chroma()
        has_followed(kept, terminal)
        faults = terminal.watch(lambda _: kept.check_chroma())
    return faults
