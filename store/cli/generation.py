"""Commands for generators: the examples that a model gets, and a new coin made from them."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from store.cli import values
from store.cli.jobs import Verbs, watched
from store.cli.open_library import making, reading, spelled
from store.cli.output import named
from store.cli.terminal import Terminal
from store.errors import CaptioningFailed, MemedexError, ModelUnavailable
from store.generation import coin_generator, context
from store.generation.coin_generator import GeneratedCoin
from store.generation.context import EXAMPLES, ExampleContext, chosen_examples
from store.library import Library
from store.progress import Progress
from store.reading.reader import Reader
from store.settings import settings
from store.tasks import generate as invention

_BUDGET = 4_000  # tokens, as on the page

_FORMS: Mapping[str, Callable[[ExampleContext, str], str]] = {
    "markdown": lambda built, _: context.as_markdown(built),
    "json": lambda built, _: context.as_json(built),
    "messages": lambda built, line: json.dumps(coin_generator.messages(built, line), ensure_ascii=False),
}


def add_arguments(verbs: Verbs) -> None:
    """`context` and `generate`."""
    shown = verbs.add("context", show_context, "the examples that a generator gets for a request")
    _examples(shown)
    shown.add_argument("--form", choices=list(_FORMS), default="markdown", help="markdown, json or messages")
    made = verbs.add("generate", generate, "have a language model invent a coin from the nearest ones")
    _examples(made)
    made.add_argument("--save", action="store_true", help="add it for review (pending), with a picture")


def show_context(arguments: Namespace, terminal: Terminal) -> int:
    """Print the examples, pictures included, and say what the budget left out."""
    with reading(arguments, terminal) as reader:
        built = _built(reader, arguments, terminal, model=arguments.model)
    terminal.answer(_FORMS["json" if arguments.json else arguments.form](built, arguments.line))
    return 0


def generate(arguments: Namespace, terminal: Terminal) -> int:
    """Ask the model once, print the coin and what is near it; with --save it waits for review.

    With --save the library is opened for writing before the model is asked, and the answer is stored with a
    job as it arrives. Raises ModelUnavailable if no language model is configured.
    """
    model = arguments.model or settings().caption_model
    if not model:
        raise ModelUnavailable("no language model is configured: --model NAME, or MEMEDEX_CAPTION_MODEL")
    if arguments.save:
        with making(arguments, terminal) as library:
            return _generated_and_saved(library, arguments, terminal, model=model)
    with reading(arguments, terminal) as reader:
        built = _built(reader, arguments, terminal, model=model)
        sources = [example.record.address for example in built.examples]
        came: list[str] = []
        try:
            terminal.watch(lambda progress: _ask(built, arguments.line, model, came, progress))
            coin = coin_generator.read("".join(came), model=model, prompt=arguments.line, sources=sources)
        except CaptioningFailed:
            _print_answer("".join(came), terminal)
            raise
        _print(coin, reader, arguments, terminal)
    return 0


def _generated_and_saved(library: Library, arguments: Namespace, terminal: Terminal, *, model: str) -> int:
    built, actor = _built(library, arguments, terminal, model=model), arguments.actor or ""
    job = invention.start(
        library.jobs, arguments.line, [example.record.address for example in built.examples], model=model,
        budget=arguments.budget, pictures=not arguments.no_pictures, actor=actor,
    )  # fmt: skip
    job = watched(library, job, terminal)
    try:
        coin = invention.coin_of(job)
    except CaptioningFailed:
        _print_answer(job.note.get("answer") or "", terminal)
        terminal.say(f"job {job.id} keeps what came; `jobs resume {job.id}` asks the model again")
        raise
    _print(coin, library, arguments, terminal)
    if fault := job.note.get("picture_error"):
        terminal.say(f"it gets a plain card: {fault}")
    done = invention.save(library, job, actor=actor)
    terminal.say(
        f"saved for review: {', '.join(done.done)}"
        if done.done
        else "not saved; it waits on the Generate page"
    )
    return named(done.refused, terminal)


def _print(coin: GeneratedCoin, reader: Reader, arguments: Namespace, terminal: Terminal) -> None:
    """The coin, and what is near it; a comparison that fails must not cost the answer."""
    try:
        near = coin_generator.nearest(reader, coin)
    except MemedexError as error:
        terminal.say(f"it could not be compared with the library: {error}")
        near = []
    for one in near:
        if one.is_copy:
            same = f": the same {', '.join(one.same)}" if one.same else ""
            terminal.say(f"it is very near {one.address}{same}")
    if arguments.json:
        cosines = [{"address": one.address, "cosine": one.cosine, "is_copy": one.is_copy} for one in near]
        terminal.answer_json({**coin_generator.as_fields(coin), "near": cosines})
        return
    terminal.answer(f"{coin.name} (${coin.ticker})\n{coin.description}")
    for facet, text in coin.caption.items():
        terminal.answer(f"{facet}: {text}")
    terminal.answer(f"tags: {', '.join(coin.tags)}")
    terminal.answer(f"picture: {coin.image_prompt}")


def _print_answer(answer: str, terminal: Terminal) -> None:
    """What came, which was paid for, although it is no coin."""
    if answer:
        terminal.say("what the model answered:")
        for line in answer.splitlines():
            terminal.say(line)


def _examples(to: ArgumentParser) -> None:
    to.add_argument("line", metavar="LINE", help="what it should be about, as on the search page")
    to.add_argument("--only", nargs="+", default=[], metavar="ADDRESS", help="these coins as examples")
    to.add_argument(
        "--top", type=values.top, default=EXAMPLES, metavar="N", help=f"how many examples ({EXAMPLES})"
    )
    to.add_argument(
        "--budget", type=values.positive, default=_BUDGET, metavar="TOKENS", help=f"of examples ({_BUDGET})"
    )
    to.add_argument("--no-pictures", action="store_true", help="texts alone")
    to.add_argument("--model", default="", metavar="M", help="by its litellm name (MEMEDEX_CAPTION_MODEL)")


def _built(reader: Reader, arguments: Namespace, terminal: Terminal, *, model: str) -> ExampleContext:
    only = [reader.get(address).address for address in spelled(arguments.only)]
    addresses = chosen_examples(reader, arguments.line, only, top=arguments.top)
    built = context.build(
        reader, addresses, budget=arguments.budget, model=model, pictures=not arguments.no_pictures
    )
    for left in built.left_out:
        terminal.say(f"no room for {left.what} of {left.record.name} ({left.tokens:,} tokens)")
    terminal.say(f"{len(built.examples):,} examples, {built.tokens:,} tokens")
    return built


def _ask(built: ExampleContext, line: str, model: str, came: list[str], progress: Progress) -> None:
    """Append the pieces of the answer to `came`, so that an error in the middle leaves those."""
    progress.what = f"asking {model}"
    for piece in coin_generator.stream(
        built, line, model=model, api_base=settings().caption_api_base or None,
        timeout=settings().caption_timeout,
    ):  # fmt: skip
        came.append(piece)
        if progress.cancelled:
            break
