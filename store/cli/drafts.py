"""Commands for language models and their suggestions."""

from argparse import Namespace
from dataclasses import asdict
from typing import Any

from store.captioning.suggestions import accept_suggestions as accept_suggestions
from store.cli import values
from store.cli.jobs import Verbs, follow
from store.cli.open_library import check_addresses_or_all, reading, spelled, typed_path, writing
from store.cli.output import as_json, named, report
from store.cli.terminal import Terminal
from store.disk.files import read_regular
from store.errors import BadSource
from store.library import Library
from store.llm.prompts import DEFAULT, MAX_BYTES
from store.outcome import not_taken_notes
from store.progress import Progress
from store.records import CAPTION_FACETS
from store.tasks.draft import LANES, Plan, lacking, plan_drafting, start
from store.tasks.import_captions import preview
from store.tasks.import_captions import start as start_import


def add_arguments(verbs: Verbs) -> None:
    """`draft`, `suggestions`, `accept`, `prompts`, `import-captions`."""
    draft = verbs.add("draft", draft_, "have a language model draft captions; they wait as suggestions")
    draft.add_argument("addresses", nargs="*", metavar="ADDRESS")
    draft.add_argument("--all", action="store_true", help="every approved coin without caption or suggestion")
    draft.add_argument("--model", default="", metavar="M", help="by its litellm name (MEMEDEX_CAPTION_MODEL)")
    draft.add_argument("--prompt", default=DEFAULT, metavar="P", help=f"one of `prompts` ({DEFAULT})")
    draft.add_argument("--facet", choices=CAPTION_FACETS, help="only this facet, again")
    draft.add_argument("--hint", default="", metavar="TEXT", help='"shorter", "name the meme"')
    draft.add_argument("--budget", type=float, metavar="USD", help="stop before this is passed")
    draft.add_argument(
        "--concurrency", type=values.positive, default=LANES, metavar="N", help=f"parallel requests ({LANES})"
    )
    draft.add_argument("--estimate", action="store_true", help="only say how many and what it costs")

    shown = verbs.add("suggestions", suggestions, "open suggestions, to accept or dismiss")
    shown.add_argument("addresses", nargs="*", metavar="ADDRESS", help="else every coin with a suggestion")
    accepted = verbs.add("accept", accept, "write suggestions where nothing is written yet")
    accepted.add_argument("addresses", nargs="*", metavar="ADDRESS")
    accepted.add_argument("--all", action="store_true", help="every coin with a suggestion")

    prompts = verbs.add("prompts", prompts_, "the prompts, or one of them, or a new version of one")
    prompts.add_argument("name", nargs="?", metavar="NAME")
    prompts.add_argument("--version", type=values.positive, metavar="N", help="show this version")
    prompts.add_argument("--set", type=typed_path, metavar="FILE", help="ask with this text from now on")

    taken_in = verbs.add(
        "import-captions", import_captions, "captions and tags alone, from what export writes"
    )
    taken_in.add_argument(
        "paths", nargs="+", type=typed_path, metavar="PATH", help="folder, zip, table, ADDRESS.txt"
    )
    taken_in.add_argument(
        "--facet", choices=CAPTION_FACETS, default="entity", help="what .txt files contain (entity)"
    )
    taken_in.add_argument("--preview", action="store_true", help="only show what would change")


def draft_(arguments: Namespace, terminal: Terminal) -> int:
    """Draft captions, or say what that would cost."""
    check_addresses_or_all(arguments)
    if arguments.estimate:
        with reading(arguments, terminal) as reader:
            return _print_plan(_plan(arguments, reader), arguments, terminal)
    with writing(arguments, terminal) as library:
        plan = _plan(arguments, library)
        if not plan.addresses:
            terminal.say("nothing lacks a caption and a suggestion")
            return 0
        if not arguments.json:
            _print_plan(plan, arguments, terminal)
        job = start(
            library, plan, budget=arguments.budget, lanes=arguments.concurrency, actor=arguments.actor or ""
        )
        return follow(library, job, arguments, terminal)


def suggestions(arguments: Namespace, terminal: Terminal) -> int:
    """List open suggestions.

    Raises UnknownRecord for the address of no coin.
    """
    with reading(arguments, terminal) as reader:
        named_ones = [reader.get(address).address for address in spelled(arguments.addresses)]
        addresses = named_ones or reader.suggestions.waiting()
        found = [one for address in addresses for one in reader.suggestions.of(address)]
    if arguments.json:
        keys = ("id", "address", "facet", "text", "model", "prompt", "hint")
        terminal.answer_json(
            [{key: getattr(one, key) for key in keys} | {"at": one.created_at} for one in found]
        )
    elif found:
        rows = [(one.address, one.facet, one.model, one.prompt, one.text) for one in found]
        terminal.answer_table(("ADDRESS", "FACET", "MODEL", "PROMPT", "TEXT"), rows)
    else:
        terminal.say("no suggestion is open")
    return 0


def accept(arguments: Namespace, terminal: Terminal) -> int:
    """Write suggestions into empty facets."""
    check_addresses_or_all(arguments)
    with writing(arguments, terminal) as library:
        addresses = spelled(arguments.addresses) or library.suggestions.waiting()

        def work(progress: Progress) -> Any:
            progress.what, progress.total = "accept", len(addresses)
            return accept_suggestions(library, addresses, progress=progress, actor=arguments.actor or "")

        outcome = terminal.watch(work)
    return report(outcome, arguments, terminal)


def import_captions(arguments: Namespace, terminal: Terminal) -> int:
    """Show what would change, and write it unless only a preview was asked for."""
    from store.importing.captions import captions_at  # Pillow, which other verbs do without

    with (reading if arguments.preview else writing)(arguments, terminal) as library:
        shown = preview(library, captions_at(arguments.paths, facet=arguments.facet))
        if arguments.preview and arguments.json:
            terminal.answer_json(
                {
                    "changes": [
                        {
                            "address": one.record.address,
                            "caption": one.caption,
                            "tags": one.tags,
                            "others": one.others,
                        }
                        for one in shown.changes
                    ],
                    "same": shown.same,
                    "not_taken": [asdict(one) for one in shown.not_taken],
                    "refused": as_json(shown.refused),
                }
            )
        elif arguments.preview and shown.changes:
            rows = [
                (one.record.address, one.record.name, facet, text)
                for one in shown.changes
                for facet, text in [
                    *one.caption.items(),
                    *([("tags", ", ".join(one.tags))] if one.tags else []),
                    *((name, str(value)) for name, value in one.others.items()),
                ]
            ]
            terminal.answer_table(("ADDRESS", "NAME", "FACET", "WOULD SAY"), rows)
        terminal.say(
            f"{len(shown.changes):,} to change, {shown.same:,} the same, {len(shown.refused):,} refused"
        )
        for note in not_taken_notes(shown.not_taken):
            terminal.say(note)
        status = named(shown.refused, terminal)
        if arguments.preview or not shown.changes:
            return status
        assert isinstance(library, Library)  # opened by `writing`
        job = start_import(library, shown.changes, actor=arguments.actor or "")
        return max(status, follow(library, job, arguments, terminal))


def prompts_(arguments: Namespace, terminal: Terminal) -> int:
    """List the prompts, print one, or save a new version.

    Raises BadSource if the new version cannot be read as text.
    """
    if arguments.set is not None:
        if not arguments.name:
            arguments.parser.error("--set needs the prompt's NAME")
        try:
            text = read_regular(arguments.set, limit=MAX_BYTES).decode("utf-8-sig")
        except OSError as error:
            raise BadSource(f"{arguments.set} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise BadSource(f"{arguments.set} is not text in UTF-8") from error
        with writing(arguments, terminal) as library:
            actor = {"actor": arguments.actor} if arguments.actor else {}
            terminal.say(f"saved as {library.prompts.save(arguments.name, text, **actor).label}")
        return 0
    with reading(arguments, terminal) as reader:
        if arguments.name:
            terminal.answer(reader.prompts.get(arguments.name, version=arguments.version).text.rstrip("\n"))
            return 0
        found = [reader.prompts.get(name) for name in reader.prompts.names()]
    if arguments.json:
        terminal.answer_json([{"name": one.name, "version": one.version, "text": one.text} for one in found])
    else:
        terminal.answer_table(("NAME", "VERSION", "CHARACTERS"), [_prompt_row(one) for one in found])
    return 0


def _plan(arguments: Namespace, library: Any) -> Plan:
    return plan_drafting(
        library,
        spelled(arguments.addresses) or lacking(library),
        model=arguments.model,
        prompt=arguments.prompt,
        only=arguments.facet,
        hint=arguments.hint,
    )


def _print_plan(plan: Plan, arguments: Namespace, terminal: Terminal) -> int:
    (variant,) = plan.variants
    if arguments.json:
        terminal.answer_json(
            {
                "count": plan.count,
                "model": variant.model,
                "prompt": variant.prompt.label,
                "prompt_tokens": plan.prompt_tokens,
                "completion_tokens": plan.completion_tokens,
                "cost": plan.cost,
                "sees": plan.sees,
            }
        )
        return 0
    cost = "cost unknown" if plan.cost is None else f"about ${plan.cost:,.4f}"
    tokens = plan.prompt_tokens + plan.completion_tokens
    coins = f"{plan.count:,} coin{'' if plan.count == 1 else 's'}"
    terminal.say(f"{coins}, {variant.model}, {variant.prompt.label}, about {tokens:,} tokens, {cost}")
    if not plan.sees:
        terminal.say(f"{variant.model} is known not to see pictures")
    return 0


def _prompt_row(prompt: Any) -> tuple[str, ...]:
    return prompt.name, str(prompt.version), f"{len(prompt.text):,}"
