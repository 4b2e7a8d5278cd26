"""Verbs that ask language models: drafts of captions, their suggestions and prompts, and new coins."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from store.captioning.suggestions import accept_suggestions
from store.cli.call import Call, spelled
from store.cli.jobs import follow, watched
from store.cli.verbs import AnyAddresses, CaptionFacet, Model, typed_path, verb, whole
from store.cli.verbs import top as top_number
from store.disk.files import read_regular
from store.errors import BadSource, CaptioningFailed, MemedexError, ModelUnavailable
from store.generation import coin_generator
from store.generation import context as examples
from store.generation.coin_generator import GeneratedCoin
from store.generation.context import EXAMPLES, ExampleContext, chosen_examples
from store.library import Library
from store.llm.prompts import DEFAULT_PROMPT, MAX_BYTES
from store.outcome import Outcome
from store.progress import Progress
from store.reading.reader import Reader
from store.settings import settings
from store.tasks import generate as invention
from store.tasks.draft import LANES, Plan, lacking, plan_drafting, start

_BUDGET = 4_000  # tokens of examples, as on the page

_FORMS: Mapping[str, Callable[[ExampleContext, str], str]] = {
    "markdown": lambda built, _: examples.as_markdown(built),
    "json": lambda built, _: examples.as_json(built),
    "messages": lambda built, line: json.dumps(coin_generator.messages(built, line), ensure_ascii=False),
}

Line = Annotated[str, Argument(metavar="LINE", help="what it should be about, as on the search page")]
Only = Annotated[list[str] | None, Option(metavar="ADDRESS…", help="these coins as examples")]
Top = Annotated[int, Option(metavar="N", parser=top_number, help=f"how many examples ({EXAMPLES})")]
Budget = Annotated[int, Option(metavar="TOKENS", parser=whole, help=f"of examples ({_BUDGET})")]
NoPictures = Annotated[bool, Option("--no-pictures", help="texts alone")]


# -- drafts -----------------------------------------------------------------------------------------------


@verb("draft")
def draft(
    call: Call,
    addresses: AnyAddresses = None,
    everything: Annotated[
        bool, Option("--all", help="every approved coin without caption or suggestion")
    ] = False,
    model: Model = "",
    prompt: Annotated[str, Option(metavar="P", help=f"one of `prompts` ({DEFAULT_PROMPT})")] = DEFAULT_PROMPT,
    facet: Annotated[CaptionFacet | None, Option(help="only this facet, again")] = None,
    hint: Annotated[str, Option(metavar="TEXT", help='"shorter", "name the meme"')] = "",
    budget: Annotated[float | None, Option(metavar="USD", help="stop before this is passed")] = None,
    concurrency: Annotated[
        int, Option(metavar="N", parser=whole, help=f"parallel requests ({LANES})")
    ] = LANES,
    estimate: Annotated[bool, Option("--estimate", help="only say how many and what it costs")] = False,
) -> int:
    """Have a language model draft captions; they wait as suggestions."""
    call.check_addresses_or_all(addresses, everything)

    def planned(reader: Reader) -> Plan:
        chosen = spelled(addresses) or lacking(reader)
        return plan_drafting(reader, chosen, model=model, prompt=prompt, only=facet, hint=hint)

    if estimate:
        with call.reading() as reader:
            return _print_plan(planned(reader), call)
    with call.writing() as library:
        plan = planned(library)
        if not plan.addresses:
            call.say("nothing lacks a caption and a suggestion")
            return 0
        if not call.json:
            _print_plan(plan, call)
        job = start(library, plan, budget=budget, lanes=concurrency, actor=call.actor)
        return follow(library, job, call)


def _print_plan(plan: Plan, call: Call) -> int:
    (variant,) = plan.variants
    if call.json:
        call.answer_json(
            {
                "count": plan.count, "model": variant.model, "prompt": variant.prompt.label,
                "prompt_tokens": plan.prompt_tokens, "completion_tokens": plan.completion_tokens,
                "cost": plan.cost, "sees": plan.sees,
            }
        )  # fmt: skip
        return 0
    cost = "cost unknown" if plan.cost is None else f"about ${plan.cost:,.4f}"
    tokens = plan.prompt_tokens + plan.completion_tokens
    coins = f"{plan.count:,} coin{'' if plan.count == 1 else 's'}"
    call.say(f"{coins}, {variant.model}, {variant.prompt.label}, about {tokens:,} tokens, {cost}")
    if not plan.sees:
        call.say(f"{variant.model} is known not to see pictures")
    return 0


@verb("suggestions")
def suggestions(
    call: Call,
    addresses: Annotated[
        list[str] | None, Argument(metavar="ADDRESS", help="else every coin with a suggestion")
    ] = None,
) -> int:
    """Open suggestions, to accept or dismiss."""
    with call.reading() as reader:
        named = [reader.get(address).address for address in spelled(addresses)]
        found = [
            one for address in named or reader.suggestions.waiting() for one in reader.suggestions.of(address)
        ]
    keys = ("id", "address", "facet", "text", "model", "prompt", "hint")
    return call.listed(
        [{key: getattr(one, key) for key in keys} | {"at": one.created_at} for one in found],
        ("ADDRESS", "FACET", "MODEL", "PROMPT", "TEXT"),
        [(one.address, one.facet, one.model, one.prompt, one.text) for one in found],
        empty="no suggestion is open",
    )


@verb("accept", "take")
def accept(
    call: Call,
    addresses: AnyAddresses = None,
    everything: Annotated[bool, Option("--all", help="every coin with a suggestion")] = False,
) -> int:
    """Write suggestions where nothing is written yet."""
    call.check_addresses_or_all(addresses, everything)

    def work(library: Library, progress: Progress) -> Outcome:
        chosen = spelled(addresses) or library.suggestions.waiting()
        progress.what, progress.total = "accept", len(chosen)
        return accept_suggestions(library, chosen, progress=progress, actor=call.actor)

    return call.change("accepted suggestions for", work)


@verb("prompts")
def prompts(
    call: Call,
    name: Annotated[str | None, Argument(metavar="NAME")] = None,
    version: Annotated[int | None, Option(metavar="N", parser=whole, help="show this version")] = None,
    file: Annotated[
        Path | None, Option("--set", metavar="FILE", parser=typed_path, help="ask with this text from now on")
    ] = None,
) -> int:
    """The prompts, or one of them, or a new version of one."""
    if file is not None:
        if not name:
            call.fail("--set needs the prompt's NAME")
        try:
            text = read_regular(file, limit=MAX_BYTES).decode("utf-8-sig")
        except OSError as error:
            raise BadSource(f"{file} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise BadSource(f"{file} is not text in UTF-8") from error
        with call.writing() as library:
            actor = {"actor": call.actor} if call.actor else {}
            call.say(f"saved as {library.prompts.save(name, text, **actor).label}")
        return 0
    with call.reading() as reader:
        if name:
            call.answer(reader.prompts.get(name, version=version).text.rstrip("\n"))
            return 0
        found = [reader.prompts.get(one) for one in reader.prompts.names()]
    if call.json:
        call.answer_json([{"name": one.name, "version": one.version, "text": one.text} for one in found])
    else:
        rows = [(one.name, str(one.version), f"{len(one.text):,}") for one in found]
        call.answer_table(("NAME", "VERSION", "CHARACTERS"), rows)
    return 0


# -- new coins --------------------------------------------------------------------------------------------


@verb("context")
def context(
    call: Call,
    line: Line,
    only: Only = None,
    top: Top = EXAMPLES,
    budget: Budget = _BUDGET,
    no_pictures: NoPictures = False,
    model: Model = "",
    form: Annotated[
        Literal["markdown", "json", "messages"], Option(help="markdown, json or messages")
    ] = "markdown",
) -> int:
    """The examples that a generator gets for a request."""
    with call.reading() as reader:
        asked = _Asked(line, only, top, budget, not no_pictures, model)
        built = _built(reader, asked, call)
    call.answer(_FORMS["json" if call.json else form](built, line))
    return 0


@verb("generate")
def generate(
    call: Call,
    line: Line,
    only: Only = None,
    top: Top = EXAMPLES,
    budget: Budget = _BUDGET,
    no_pictures: NoPictures = False,
    model: Model = "",
    save: Annotated[bool, Option("--save", help="add it for review (pending), with a picture")] = False,
) -> int:
    """Have a language model invent a coin from the nearest ones."""
    model = model or settings().caption_model
    if not model:
        raise ModelUnavailable("no language model is configured: --model NAME, or MEMEDEX_CAPTION_MODEL")
    asked = _Asked(line, only, top, budget, not no_pictures, model)
    if save:
        with call.making() as library:  # before the model is asked, which costs money
            return _generated_and_saved(library, asked, call)
    with call.reading() as reader:
        built = _built(reader, asked, call)
        sources = [example.record.address for example in built.examples]
        came: list[str] = []
        try:
            call.watch(lambda progress: _ask(built, line, model, came, progress))
            coin = coin_generator.read("".join(came), model=model, prompt=line, sources=sources)
        except CaptioningFailed:
            _print_answer("".join(came), call)
            raise
        _print_coin(coin, reader, call)
    return 0


@dataclass(frozen=True)
class _Asked:
    """What both verbs are given."""

    line: str
    only: Sequence[str] | None
    top: int
    budget: int
    pictures: bool
    model: str


def _built(reader: Reader, asked: _Asked, call: Call) -> ExampleContext:
    only = [reader.get(address).address for address in spelled(asked.only)]
    addresses = chosen_examples(reader, asked.line, only, top=asked.top)
    built = examples.build(reader, addresses, budget=asked.budget, model=asked.model, pictures=asked.pictures)
    for left in built.left_out:
        call.say(f"no room for {left.what} of {left.record.name} ({left.tokens:,} tokens)")
    call.say(f"{len(built.examples):,} examples, {built.tokens:,} tokens")
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


def _generated_and_saved(library: Library, asked: _Asked, call: Call) -> int:
    """The answer is stored with a job as it arrives."""
    built = _built(library, asked, call)
    job = invention.start(
        library.jobs, asked.line, [example.record.address for example in built.examples], model=asked.model,
        budget=asked.budget, pictures=asked.pictures, actor=call.actor,
    )  # fmt: skip
    job = watched(library, job, call)
    try:
        coin = invention.coin_of(job)
    except CaptioningFailed:
        _print_answer(job.note.get("answer") or "", call)
        call.say(f"job {job.id} keeps what came; `jobs resume {job.id}` asks the model again")
        raise
    _print_coin(coin, library, call)
    if fault := job.note.get("picture_error"):
        call.say(f"it gets a plain card: {fault}")
    done = invention.save(library, job, actor=call.actor)
    call.say(
        f"saved for review: {', '.join(done.done)}"
        if done.done
        else "not saved; it waits on the Generate page"
    )
    return call.named(done.refused)


def _print_coin(coin: GeneratedCoin, reader: Reader, call: Call) -> None:
    """The coin, and what is near it; a comparison that fails must not cost the answer."""
    try:
        near = coin_generator.nearest(reader, coin)
    except MemedexError as error:
        call.say(f"it could not be compared with the library: {error}")
        near = []
    for one in near:
        if one.is_copy:
            same = f": the same {', '.join(one.same)}" if one.same else ""
            call.say(f"it is very near {one.address}{same}")
    if call.json:
        cosines = [{"address": one.address, "cosine": one.cosine, "is_copy": one.is_copy} for one in near]
        call.answer_json({**coin_generator.as_fields(coin), "near": cosines})
        return
    call.answer(f"{coin.name} (${coin.ticker})\n{coin.description}")
    for facet, text in coin.caption.items():
        call.answer(f"{facet}: {text}")
    call.answer(f"tags: {', '.join(coin.tags)}")
    call.answer(f"picture: {coin.image_prompt}")


def _print_answer(answer: str, call: Call) -> None:
    """What came, which was paid for, although it is no coin."""
    if answer:
        call.say("what the model answered:")
        for line in answer.splitlines():
            call.say(line)
