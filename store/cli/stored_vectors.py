"""The command that deletes vectors of a model that is not in use, which may have cost money."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict

from store.cli.open_library import check_there_is_one, reading, writing
from store.cli.terminal import Terminal
from store.embedding.embedding_cache import ModelVectors

REFUSED = 1


def add_arguments(verb: ArgumentParser) -> None:
    """The arguments of `delete-vectors`."""
    verb.add_argument("model", nargs="?", metavar="MODEL", help="whose; without it, list what there is")
    verb.add_argument("--yes", action="store_true", help="really delete them: it cannot be undone")


def delete_vectors(arguments: Namespace, terminal: Terminal) -> int:
    """List the models that have vectors; with one and --yes, delete every vector of it."""
    check_there_is_one(arguments)
    with reading(arguments, terminal) as reader:
        found = reader.vectors_by_model()
    if not (chosen := choose({"library": found}, arguments, terminal)):
        return 0 if arguments.model is None else REFUSED
    with writing(arguments, terminal) as library:
        library.delete_vectors(arguments.model, actor=arguments.actor or "")
    return deleted(chosen, arguments, terminal)


def choose(
    found: dict[str, list[ModelVectors]], arguments: Namespace, terminal: Terminal
) -> dict[str, list[ModelVectors]]:
    """What is to be deleted, by its place; empty if only listed, or not confirmed."""
    if arguments.model is None:
        _answer("vectors", found, arguments, terminal)
        if not getattr(arguments, "json", False):
            for place, models in found.items():
                for one in models:
                    terminal.answer(
                        f"{place}: {one.model}: {vector_rows([one])}{', in use' if one.is_in_use else ''}"
                    )
        return {}
    chosen = {
        place: kept
        for place, models in found.items()
        if (kept := [m for m in models if m.model == arguments.model])
    }
    if not chosen:
        terminal.say(f"there are no vectors of {arguments.model}")
    elif not arguments.yes:
        for place, models in chosen.items():
            terminal.say(f"{place}: {vector_rows(models)} of {arguments.model} would be deleted for good")
        terminal.say("nothing was deleted; add --yes to do it")
        chosen = {}
    return chosen


def deleted(chosen: dict[str, list[ModelVectors]], arguments: Namespace, terminal: Terminal) -> int:
    """Print what was deleted; returns the exit status."""
    for place, models in chosen.items():
        terminal.say(f"{place}: {vector_rows(models)} of {arguments.model} deleted")
    _answer("deleted", chosen, arguments, terminal)
    return 0


def vector_rows(models: Sequence[ModelVectors]) -> str:
    """How many vectors these are, and their size in bytes, as text."""
    count, size = sum(one.count for one in models), sum(one.size for one in models)
    return f"{count:,} vector{'' if count == 1 else 's'}, {size:,} bytes"


def _answer(
    what: str, found: dict[str, list[ModelVectors]], arguments: Namespace, terminal: Terminal
) -> None:
    if getattr(arguments, "json", False):
        rows = {place: [asdict(one) for one in models] for place, models in found.items()}
        terminal.answer_json({what: rows})
