"""Draft captions for many records in the background; the results are suggestions.

plan = plan_drafting(library, addresses, model="openai/gpt-4o-mini")      # how many, tokens, cost
job = start(library, plan, budget=2.0)
start(library, plan_drafting(library, [address], only="entity", hint="shorter"))

Many questions at once, with retries, and within a budget.
"""

import json
import math
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from store.captioning.captioner import CaptionDraft, Captioner, CaptionRequest
from store.captions import suggestions
from store.captions.suggestions import Origin, SuggestedFacet
from store.catalog.filters import Filter
from store.errors import (
    BudgetSpent,
    CaptioningFailed,
    InvalidRecord,
    MemedexError,
    ModelUnavailable,
    ProviderBusy,
    ProviderRefuses,
    UnknownRecord,
)
from store.jobs import Item, ItemDeferred, ItemDone, ItemRefused, Job, JobContext, JobKind, Result
from store.jobs.circuit_breaker import Attempt, CircuitBreaker
from store.llm.client import Usage, import_litellm, price
from store.llm.prompts import DEFAULT_PROMPT, Prompt
from store.records import CAPTION_FACETS, Facet, Record
from store.settings import settings

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader

TRIAL = 12  # records of a trial at most
_SAMPLE = 20  # records that the estimate is made from
_ANSWER_TOKENS = 260  # of four facets and tags, as good answers have them
_PICTURE_TOKENS = 170  # a 512 × 512 picture beyond the 85 that litellm counts (OpenAI's price page)


@dataclass(frozen=True, slots=True)
class Variant:
    """A model with a prompt."""

    model: str
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would ask, and its estimated cost."""

    addresses: tuple[str, ...]
    variants: tuple[Variant, ...]  # one; several are tried side by side
    only: Facet | None
    hint: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None  # US dollars; None where litellm's price list does not know a model
    sees: bool  # False where litellm knows that a model sees no pictures
    is_trial: bool = False  # to be looked at side by side, not suggested in the editor

    @property
    def count(self) -> int:
        """How many requests the plan makes."""
        return len(self.addresses) * len(self.variants)


def suggested(library: "Reader") -> list[str]:
    """Approved records without a caption that have an open suggestion; newest first."""
    waiting = {*library.suggestions.waiting()}
    return [
        address
        for address in library.addresses(Filter(tier="approved", captioned=False))
        if address in waiting
    ]


def lacking(library: "Reader") -> list[str]:
    """Approved records without a caption, a suggestion or a draft in progress; newest first."""
    proposed = {*library.suggestions.waiting(), *library.jobs.keys_under_way("draft")}
    addresses = library.addresses(Filter(tier="approved", captioned=False))
    return [address for address in addresses if address not in proposed]


def plan_drafting(
    library: "Reader",
    addresses: Sequence[str],
    *,
    model: str = "",
    prompt: str = DEFAULT_PROMPT,
    only: Facet | None = None,
    hint: str = "",
) -> Plan:
    """Plan drafting for these records, asking nothing yet. Raises ModelUnavailable or UnknownPrompt."""
    return _plan(library, addresses, [(model, prompt)], only=only, hint=hint)


def plan_trial(library: "Reader", addresses: Sequence[str], variants: Sequence[tuple[str, str]]) -> Plan:
    """Plan a trial on at most TRIAL coins with (model, prompt) pairs. Raises InvalidRecord."""
    if not variants or len(addresses) > TRIAL:
        raise InvalidRecord(f"a trial takes a prompt or more and up to {TRIAL} coins")
    return replace(_plan(library, addresses, variants, only=None, hint=""), is_trial=True)


def _plan(
    library: "Reader",
    addresses: Sequence[str],
    choices: Sequence[tuple[str, str]],
    *,
    only: Facet | None,
    hint: str,
) -> Plan:
    variants = tuple(Variant(_named(model), library.prompts.get(prompt)) for model, prompt in choices)
    chosen = tuple(dict.fromkeys(addresses))
    litellm = import_litellm()
    prompt_tokens, cost, sees = 0, 0.0, True
    answers = _ANSWER_TOKENS // (len(CAPTION_FACETS) if only else 1) * len(chosen)
    unknown = False
    for variant in variants:
        tokens = _tokens(litellm, library, chosen, variant, only=only, hint=hint)
        part = price(litellm, variant.model, prompt_tokens=tokens, completion_tokens=answers)
        prompt_tokens, cost, unknown = prompt_tokens + tokens, cost + (part or 0.0), unknown or part is None
        sees = sees and (part is None or bool(litellm.supports_vision(model=variant.model)))
    return Plan(
        chosen, variants, only, hint, prompt_tokens, answers * len(variants), None if unknown else cost, sees
    )


def _named(model: str) -> str:
    name = model.strip() or settings().caption_model
    if not name:
        raise ModelUnavailable(
            "no language model is configured; set MEMEDEX_CAPTION_MODEL (for instance gpt-4o-mini, or "
            "ollama/llava on this machine), or name one"
        )
    return name


def _tokens(
    litellm: Any,
    library: "Reader",
    addresses: Sequence[str],
    variant: Variant,
    *,
    only: Facet | None,
    hint: str,
) -> int:
    """The tokens of all questions together, estimated from a sample."""
    if not addresses:
        return 0
    step = max(1, len(addresses) // _SAMPLE)
    sample = addresses[::step][:_SAMPLE]
    tags = library.taxonomy.tags
    counted = 0
    for address in sample:
        try:
            record = library.get(address)
        except UnknownRecord:
            continue
        text = library.picture_texts.of(record.address).text
        request = question(record, b"", variant.prompt.text, tags, picture_text=text, only=only, hint=hint)
        counted += int(litellm.token_counter(model=variant.model, messages=request.messages()))
        counted += _PICTURE_TOKENS
    return counted * len(addresses) // len(sample)


def question(
    record: Record,
    picture: bytes,
    template: str,
    tags: Sequence[str],
    *,
    picture_text: str,
    only: Facet | None,
    hint: str,
) -> CaptionRequest:
    """The question about one record; `picture_text` is the known text in its picture."""
    return CaptionRequest(
        template,
        picture,
        name=record.name,
        ticker=record.ticker,
        description=record.description,
        tags=record.tags,
        taxonomy=tags,
        picture_text=picture_text,
        only=only,
        caption=record.caption,
        hint=hint,
    )


TRIES = 5  # of one record that the provider fails on
LONGEST_PAUSE = 120.0  # seconds that a job waits because a provider asks to; it keeps the library from others
_SUMS = ("prompt_tokens", "completion_tokens", "cost")  # of Usage, as a job's note keeps them
LANES = 8  # requests at the same time
MAX_LANES = 64


def api_base_of(model: str) -> str | None:
    """The configured API address, for models of the provider that it was configured for."""
    chosen = settings()
    same = _provider(model) == _provider(chosen.caption_model)
    return chosen.caption_api_base if chosen.caption_api_base and same else None


def _provider(model: str) -> str:
    return model.partition("/")[0] if "/" in model else ""


class _DraftingRun:
    """One run of a drafting job: what its threads share."""

    def __init__(self, context: "JobContext[Library]") -> None:
        self.context = context
        self.library = context.library
        options = context.job.options
        self.variants = [
            (
                Captioner(model, api_base=api_base_of(model), timeout=settings().caption_timeout),
                self.library.prompts.get(prompt, version=version),
            )
            for model, prompt, version in options["variants"]
        ]
        self.taxonomy = self.library.taxonomy
        self.budget: float | None = options.get("budget")
        self.breakers = [CircuitBreaker() for _ in self.variants]
        self.tries: Counter[int] = Counter()
        self.lock = threading.Lock()
        self.spent = float(context.job.note.get("cost") or 0.0)
        self.in_flight, self.dearest = 0, float(options.get("about") or 0.0)
        self.last_error = ""  # why the provider did not answer the last time

    def do(self, items: Sequence[Item]) -> list[Result]:
        return [self.one(item) for item in items]

    def one(self, item: Item) -> Result:
        """Ask for one caption: done, deferred or refused. Raises what concerns every item."""
        breaker = self.breakers[item.payload["variant"]]
        try:
            record = self.library.get(item.payload["address"])
            if record.tier == "trash":
                raise InvalidRecord("it was rejected meanwhile")
            picture = self.library.picture(record.address).read_bytes()
        except (MemedexError, OSError) as error:
            return ItemRefused(item, str(error))
        while True:
            with breaker.attempt() as attempt:
                if not attempt.pause:
                    return self.ask(item, record, picture, attempt)
            if self.context.is_stopping:
                return ItemDeferred(item)
            self.context.rest(attempt.pause, reason=f"waiting: {self.last_error}")

    def ask(self, item: Item, record: Record, picture: bytes, attempt: Attempt) -> Result:
        """Ask the provider within this attempt."""
        captioner, prompt = self.variants[item.payload["variant"]]
        self.reserve()
        used = Usage()
        try:
            draft = captioner.draft(self.question(record, picture, prompt))
            used = draft.usage
            return ItemDone(item, self.written(record, draft, prompt))
        except ProviderBusy as error:
            used = error.usage or used
            attempt.failed(retry_after=error.retry_after)
            return self.again(item, error, model=captioner.model)
        except ProviderRefuses:
            raise
        except CaptioningFailed as error:
            used = error.usage or used
            return ItemRefused(item, str(error), self.paid(used, model=captioner.model))
        finally:
            self.release(used)

    def question(self, record: Record, picture: bytes, prompt: Prompt) -> CaptionRequest:
        """The question about one record, as the job's options want it."""
        options = self.context.job.options
        return question(
            record,
            picture,
            prompt.text,
            self.taxonomy.tags,
            picture_text=self.library.picture_texts.of(record.address).text,
            only=options.get("only"),
            hint=options.get("hint", ""),
        )

    def again(self, item: Item, error: ProviderBusy, *, model: str) -> Result:
        """Ask later again; unless only this record fails, or the provider never answered."""
        self.last_error = error.short_reason or str(error)
        if error.retry_after and error.retry_after > LONGEST_PAUSE:
            then = time.strftime("%H:%M", time.localtime(time.time() + error.retry_after))
            raise CaptioningFailed(
                f"{self.last_error} for {error.retry_after / 60:,.0f} minutes; what is left waits, continue "
                f"at {then}"
            )
        if self.breakers[item.payload["variant"]].is_given_up and self.context.job.total > 1:
            raise CaptioningFailed(f"{error}; what is left waits, continue when the provider is back")
        self.tries[item.position] += 1
        used = error.usage or Usage()
        if self.tries[item.position] >= TRIES or not error.may_change:
            return ItemRefused(item, str(error), self.paid(used, model=model))
        if used.cost:
            with self.library.catalog.writing() as db:
                self.paid(used, model=model)(db)
        return ItemDeferred(item)

    def reserve(self) -> None:
        """Reserve budget for one more question, counting running ones at the highest cost so far."""
        with self.lock:
            ahead = (self.in_flight + 1) * self.dearest
            if self.budget is not None and self.spent + ahead > self.budget:
                raise BudgetSpent(
                    f"${self.spent:,.4f} of ${self.budget:,.2f} are spent and the next caption would pass "
                    "the budget; what is done is kept, raise the budget to go on"
                )
            self.in_flight += 1

    def release(self, used: Usage) -> None:
        with self.lock:
            self.in_flight -= 1
            self.spent += used.cost or 0.0
            self.dearest = max(self.dearest, used.cost or 0.0)

    def written(self, record: Record, draft: CaptionDraft, prompt: Prompt) -> suggestions.Write:
        """A write that stores the record's draft, and its cost with the job, in one transaction."""
        texts: dict[SuggestedFacet, str] = dict(draft.caption.items())
        fresh = [tag for tag in draft.tags if tag not in record.tags]
        known = [tag for tag in fresh if self.taxonomy.knows(tag)]
        unknown = [tag for tag in fresh if not self.taxonomy.knows(tag)]
        texts |= {"tags": ",".join(known)} if known else {}
        texts |= {"new_tags": ",".join(unknown)} if unknown else {}
        job, hint = self.context.job, self.context.job.options.get("hint", "")
        origin = Origin(draft.model, prompt.label, hint, job.actor, job.id)
        state: suggestions.SuggestionState = "trial" if job.options.get("trial") else "open"
        pay = self.paid(draft.usage, model=draft.model)

        def write(db: sqlite3.Connection) -> None:
            suggestions.save(db, record.address, texts, origin, state=state)
            pay(db)

        return write

    def paid(self, used: Usage, *, model: str) -> suggestions.Write:
        """A write that adds to the job's cost, in total and by day and model."""
        job = self.context.job

        def write(db: sqlite3.Connection) -> None:
            note = json.loads(db.execute("SELECT note FROM jobs WHERE id = ?", [job.id]).fetchone()[0])
            today = note.setdefault("spent", {}).setdefault(str(int(time.time() // 86_400)), {})
            for sums in (note, today.setdefault(model, {})):
                for name in _SUMS:
                    if (value := getattr(used, name)) is not None:  # no price is known: then no cost is shown
                        sums[name] = sums.get(name, 0) + value
            db.execute("UPDATE jobs SET note = ? WHERE id = ?", [json.dumps(note), job.id])

        return write


def _draft(context: "JobContext[Library]") -> None:
    run = _DraftingRun(context)
    context.each(run.do, lanes=context.job.options["lanes"])


KIND = JobKind("draft", _draft, queue="language model")


def start(
    library: "Library",
    plan: Plan,
    *,
    budget: float | None = None,
    lanes: int = LANES,
    actor: str = "",
    decision: str | None = None,
) -> Job:
    """Start the job; with a budget (US dollars) it stops asking before that would be exceeded.

    Raises InvalidRecord if there is nothing to do, or if a budget is given and the price is unknown.
    """
    if not plan.addresses:
        raise InvalidRecord("there is nothing to draft: choose coins first")
    if budget is not None and plan.cost is None:
        raise InvalidRecord("no price is known for this model, so a budget could not be kept; leave it out")
    if budget is not None and not 0 < budget < math.inf:  # NaN neither
        raise InvalidRecord("a budget is more than nothing, and not infinite")
    variants = []
    for variant in plan.variants:
        prompt = library.prompts.store(variant.prompt.name, **({"actor": actor} if actor else {}))
        variants.append([variant.model, prompt.name, prompt.version])
    options: dict[str, Any] = {"variants": variants, "lanes": max(1, min(lanes, MAX_LANES))}
    options |= {"budget": budget} if budget is not None else {}
    options |= {"about": plan.cost / plan.count} if plan.cost else {}
    options |= {"trial": True} if plan.is_trial else {}
    options |= {"only": plan.only} if plan.only else {}
    options |= {"hint": plan.hint} if plan.hint else {}
    return library.jobs.start(
        "draft",
        [
            (f"{address} {number}" if plan.is_trial else address, {"address": address, "variant": number})
            for address in plan.addresses
            for number in range(len(variants))
        ],
        name=_name(library, plan),
        options=options,
        decision=decision,
        **({"actor": actor} if actor else {}),
    )


def _name(library: "Reader", plan: Plan) -> str:
    what = f"{plan.only} of " if plan.only else ""
    if len(plan.addresses) == 1:
        coins = library.get(plan.addresses[0]).name
    else:
        coins = f"{len(plan.addresses):,} coins"
    verb = "Try prompts on" if plan.is_trial else "Draft"
    return f"{verb} {what}{coins}"
