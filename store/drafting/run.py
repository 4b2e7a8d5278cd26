"""One run of a drafting job: many questions at once, a provider's moods, and a budget."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.captions import suggestions
from store.captions.captioning import Captioner, Draft
from store.captions.patience import Patience
from store.captions.suggestions import Origin, SuggestedFacet
from store.drafting.plan import question
from store.errors import (
    BudgetSpent,
    CaptioningFailed,
    InvalidRecord,
    MemedexError,
    ProviderBusy,
    ProviderRefuses,
)
from store.jobs import Done, Item, Kind, Later, Refused, Result, Shift
from store.language_models import Usage
from store.prompts import Prompt
from store.records import Record
from store.settings import settings

if TYPE_CHECKING:
    from store.library import Library

TRIES = 5  # of one record that the provider fails on


def api_base_of(model: str) -> str | None:
    """The configured address, for models of the provider it was configured for."""
    chosen = settings()
    same = _provider(model) == _provider(chosen.caption_model)
    return chosen.caption_api_base if chosen.caption_api_base and same else None


def _provider(model: str) -> str:
    return model.partition("/")[0] if "/" in model else ""


class _Run:
    """One shift of a drafting job: what its lanes share."""

    def __init__(self, shift: Shift) -> None:
        self.shift = shift
        self.library: Library = shift.library
        options = shift.job.options
        self.variants = [
            (
                Captioner(model, api_base=api_base_of(model), timeout=settings().caption_timeout),
                self.library.prompts.get(prompt, version=version),
            )
            for model, prompt, version in options["variants"]
        ]
        self.taxonomy = self.library.taxonomy
        self.budget: float | None = options.get("budget")
        self.patience = [Patience() for _ in self.variants]
        self.tries: Counter[int] = Counter()
        self.lock = threading.Lock()
        self.spent = float(shift.job.note.get("cost") or 0.0)
        self.in_flight, self.dearest = 0, float(options.get("about") or 0.0)
        self.trouble = ""  # why the provider did not answer the last time

    def do(self, items: Sequence[Item]) -> list[Result]:
        return [self.one(item) for item in items]

    def one(self, item: Item) -> Result:
        number = item.payload["variant"]
        captioner, prompt = self.variants[number]
        patience = self.patience[number]
        try:
            record = self.library.get(item.payload["address"])
            if record.tier == "trash":
                raise InvalidRecord("it is in the trash by now")
            picture = self.library.picture(record.address).read_bytes()
        except (MemedexError, OSError) as error:
            return Refused(item, str(error))
        while (seconds := patience.seconds()) > 0:
            if self.shift.is_stopping:
                return Later(item)
            self.shift.rest(seconds, why=f"waiting: {self.trouble}")
        self.reserve()
        used = Usage()
        try:
            options = self.shift.job.options
            draft = captioner.draft(
                question(
                    record,
                    picture,
                    prompt.text,
                    self.taxonomy.tags,
                    only=options.get("only"),
                    hint=options.get("hint", ""),
                )
            )
            used = draft.usage
            patience.answered()
            return Done(item, self.written(record, draft, prompt))
        except ProviderBusy as error:
            used = error.usage or used
            patience.failed(retry_after=error.retry_after)
            return self.again(item, error, patience)
        except ProviderRefuses:
            raise
        except CaptioningFailed as error:
            used = error.usage or used
            patience.answered()
            return Refused(item, str(error), self.paid(used))
        finally:
            self.release(used)

    def again(self, item: Item, error: ProviderBusy, patience: Patience) -> Result:
        """Its turn comes once more; unless this record alone fails, or nobody was ever there."""
        self.trouble = error.why or str(error)
        if patience.is_spent and self.shift.job.total > 1:
            raise CaptioningFailed(f"{error}; what is left waits, continue when the provider is back")
        self.tries[item.position] += 1
        used = error.usage or Usage()
        if self.tries[item.position] >= TRIES:
            return Refused(item, str(error), self.paid(used))
        if used.cost:
            with self.library.catalog.writing() as db:
                self.paid(used)(db)
        return Later(item)

    def reserve(self) -> None:
        """Room in the budget for one more question, those under way counted at the dearest so far."""
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

    def written(self, record: Record, draft: Draft, prompt: Prompt) -> suggestions.Write:
        """Puts the draft beside the record, and its cost beside the job, in one transaction."""
        texts: dict[SuggestedFacet, str] = dict(draft.caption.items())
        fresh = [tag for tag in draft.tags if tag not in record.tags]
        known = [tag for tag in fresh if self.taxonomy.knows(tag)]
        unknown = [tag for tag in fresh if not self.taxonomy.knows(tag)]
        texts |= {"tags": ",".join(known)} if known else {}
        texts |= {"new_tags": ",".join(unknown)} if unknown else {}
        job, hint = self.shift.job, self.shift.job.options.get("hint", "")
        origin = Origin(draft.model, prompt.label, hint, job.who, job.id)
        state: suggestions.SuggestionState = "trial" if job.options.get("trial") else "open"
        pay = self.paid(draft.usage)

        def write(db: sqlite3.Connection) -> None:
            suggestions.save(db, record.address, texts, origin, state=state)
            pay(db)

        return write

    def paid(self, used: Usage) -> suggestions.Write:
        """Adds to what the job has cost so far."""
        job = self.shift.job.id

        def write(db: sqlite3.Connection) -> None:
            sums = {"prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens}
            for name, value in {**sums, "cost": used.cost}.items():
                if value is not None:  # no price is known: then no cost is shown
                    db.execute(
                        "UPDATE jobs SET note = json_set(note, :path, "
                        "coalesce(json_extract(note, :path), 0) + :value) WHERE id = :job",
                        {"path": f"$.{name}", "value": value, "job": job},
                    )

        return write


def _draft(shift: Shift) -> None:
    run = _Run(shift)
    shift.each(run.do, lanes=shift.job.options["lanes"])


KIND = Kind("draft", _draft, queue="language model")
