"""What a drafting run would ask, and its estimated cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from store.captioning.captioner import CaptionRequest
from store.catalog.filters import Filter
from store.errors import InvalidRecord, ModelUnavailable, UnknownRecord
from store.llm.client import import_litellm, price
from store.llm.prompts import DEFAULT, Prompt
from store.records import CAPTION_FACETS, Facet, Record
from store.settings import settings

if TYPE_CHECKING:
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
    prompt: str = DEFAULT,
    only: Facet | None = None,
    hint: str = "",
) -> Plan:
    """Plan drafting for these records; asks nothing yet.

    Raises ModelUnavailable if no model is named or configured, UnknownPrompt for an unknown prompt.
    """
    return _plan(library, addresses, [(model, prompt)], only=only, hint=hint)


def plan_trial(library: "Reader", addresses: Sequence[str], variants: Sequence[tuple[str, str]]) -> Plan:
    """Plan a trial on a few coins with one or more (model, prompt) pairs, to compare before a run.

    Raises InvalidRecord without a pair, or for more than TRIAL coins.
    """
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
