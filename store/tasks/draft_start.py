"""Start drafting captions for many records in the background; the results are suggestions.

plan = plan_drafting(library, addresses, model="openai/gpt-4o-mini")      # how many, tokens, cost
job = start(library, plan, budget=2.0)
start(library, plan_drafting(library, [address], only="entity", hint="shorter"))
"""

import math
from typing import TYPE_CHECKING, Any

from store.captioning.plan import TRIAL, Plan, Variant, lacking, plan_drafting, plan_trial, suggested
from store.errors import InvalidRecord
from store.jobs import Job
from store.tasks.draft import KIND

if TYPE_CHECKING:
    from store.library import Library
    from store.reading.reader import Reader

__all__ = [
    "KIND",
    "LANES",
    "MAX_LANES",
    "TRIAL",
    "Plan",
    "Variant",
    "lacking",
    "plan_drafting",
    "plan_trial",
    "start",
    "suggested",
]

LANES = 8  # requests at the same time
MAX_LANES = 64


def start(
    library: "Library", plan: Plan, *, budget: float | None = None, lanes: int = LANES, actor: str = ""
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
