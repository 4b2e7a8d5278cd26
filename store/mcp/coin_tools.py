"""Tools about coins other than search: lists, their past, the map, decisions under the agent's name,
the examples that a generator gets, and a coin made from them.
"""

import json
from base64 import b64decode
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from store.catalog.filter_syntax import parsed
from store.catalog.filters import Filter
from store.errors import (
    BadSource,
    CaptioningFailed,
    InvalidRecord,
    MemedexError,
    ModelUnavailable,
    UnknownRecord,
)
from store.generation import coin_generator, context
from store.generation.coin_generator import GeneratedCoin, NearCoin
from store.generation.context import EXAMPLES, nearest_examples
from store.maps.layout import Map, Space
from store.mcp import answers
from store.mcp.access import Access
from store.mcp.limits import MOST, CoinTags, Name, Names, Question
from store.memory.values import nearest, offered
from store.reading.reader import Reader
from store.records import Record, Tier
from store.rules import families, running
from store.search.samples import SAMPLES, Sample
from store.settings import settings

Answer = dict[str, Any]
Addresses = Annotated[Names, Field(min_length=1, description=f"1 to {MOST} addresses of coins")]
Limit = Annotated[int, Field(ge=1, le=MOST, description=f"1 to {MOST}")]
Offset = Annotated[int, Field(ge=0, le=10_000_000)]
Sort = Literal["newest", "oldest", "name", "moved"] | Sample
_OFFERED = 5  # coins of the same name that an answer names
_COMPARED = 5_000  # newest coins whose names are compared with one that does not exist
Examples = Annotated[int, Field(ge=1, le=20, description="1 to 20 examples")]
Budget = Annotated[int, Field(ge=100, le=1_000_000, description="tokens")]
_BUDGET = 4_000  # tokens, as on the page


class CoinTools:
    """Each method is a tool; its docstring is the description that an agent reads."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def list_memecoins(
        self, tier: Tier | None = None, filter: Question | None = None, sort: Sort = "newest",
        offset: Offset = 0, limit: Limit = 20,
        seed: Annotated[int, Field(ge=1, le=1_000_000, description="another one is another sample")] = 1,
    ) -> Answer:  # fmt: skip
        """Coins of one tier or of all: pending waits for review, approved for captions, trash is rejected.

        filter is a line as people type it, such as "tag:dog -tag:frog holders:>100 owl". random is a sample,
        diverse, typical, outliers and balanced are samples by the pictures. advice is what a rule or the
        co-pilot would do.
        """
        line = parsed(filter or "", base=Filter(tier=tier))
        if line.faults:
            raise BadSource(" ".join(line.faults))
        library = self._access.library
        if sort in SAMPLES:
            ordered = library.sampled(library.addresses(line.filter), sort, seed=seed).addresses
            found = library.records(ordered[offset : offset + limit])
        else:
            found = library.find(line.filter, sort=sort, offset=offset, limit=limit)
        advice = running.suggestions(library, [record.address for record in found])
        return {
            "total": library.count(line.filter),
            "coins": [
                {**_brief(record), "advice": ": ".join(advice.get(record.address, ()))} for record in found
            ],
        }

    def memecoin_history(self, address: Name | None = None, limit: Limit = 20) -> Answer:
        """What was decided about a coin, or about any, newest first: who, when, from which tier to which."""
        library = self._access.library
        record = coin_named(library, address) if address else None
        return {
            "events": [
                {
                    "decision": one.decision, "verb": one.verb, "token_address": one.address,
                    "token_name": one.name, "at": one.created_at, "by": one.actor, "reason": one.reason,
                    "before": one.before_tier, "after": one.after_tier, "is_undone": one.is_undone,
                }
                for one in library.history(address=record.address if record else None, limit=limit)
            ]
        }  # fmt: skip

    def check_memecoin(
        self, asked: Name | None = None,
        picture: Annotated[str | None, Field(max_length=8_000_000, description="an image as base64")] = None,
    ) -> Answer:  # fmt: skip
        """What is known of an address, a ticker or a name, however it is spelt, or of a picture.

        Each coin with a sentence such as "copy of Dogecoin (mirrored, 97 %), rejected 2026-11-02: copycat".
        """
        if (asked is None) == (picture is None):
            raise InvalidRecord("give one of asked and picture")
        library = self._access.library
        try:
            content = b64decode(picture or "", validate=True)
        except ValueError as error:
            raise InvalidRecord("the picture is not base64") from error
        found = families.check(library, asked) if asked else families.check_picture(library, content)
        return {"found": [families.as_json(one) for one in found]}

    def map_neighbourhoods(
        self, near: Name | None = None, space: Space = "fused",
        n: Annotated[int, Field(ge=1, le=20, description="coins of each place, 1 to 20")] = 5,
    ) -> Answer:  # fmt: skip
        """The named places of the map of the library, widest first (level 0), each with coins at its middle.

        With near, a coin's address or name: the coins next to it on the map, and the nearest places. space
        is a facet, or fused for all of them.
        """
        library = self._access.library
        chart = library.maps.stored(space)
        places = (library.maps.neighbourhoods(space) if chart else None) or ()
        note = {} if places else {
            "note": "the map has no places yet: *Compute layout* of the dashboard's map finds them"
        }  # fmt: skip
        chart = chart or library.maps.of(space)
        assert chart is not None, "only a t-SNE may be missing"
        if near is None:
            return {**note, "places": [
                {"name": one.name, "level": one.level, "coins": one.coins,
                 "nearest": _nearest(library, chart, (one.x, one.y), n)}
                for one in places
            ]}  # fmt: skip
        record = coin_named(library, near)
        if record.address not in chart.addresses:
            raise InvalidRecord(
                f"{record.name} is in {record.tier}, and only the library's coins are on the map"
            )
        here = chart.points[chart.addresses.index(record.address)]
        closest = sorted(places, key=lambda one: float(np.hypot(one.x - here[0], one.y - here[1])))
        return {
            **note,
            "token_address": record.address,
            "places": [{"name": one.name, "level": one.level, "coins": one.coins} for one in closest[:3]],
            "nearest": _nearest(library, chart, (here[0], here[1]), n + 1)[1:],
        }

    def approve_memecoins(self, addresses: Addresses) -> answers.Decided:
        """Move coins from review (pending) to approved, as one decision under your name."""
        return self._decided(self._access.decide("approve", addresses=self._spelled(addresses)))

    def reject_memecoins(
        self, addresses: Addresses, reason: Annotated[str, Field(max_length=500)] = ""
    ) -> answers.Decided:
        """Move coins from review or approved to the rejected ones, as one decision under your name.

        reason is for the history. undo_memecoins brings them back.
        """
        return self._decided(self._access.decide("reject", addresses=self._spelled(addresses), reason=reason))

    def tag_memecoins(
        self, addresses: Addresses, add: CoinTags | None = None, remove: CoinTags | None = None
    ) -> answers.Decided:
        """Add tags to coins and remove others, as one decision under your name."""
        if not (add or remove):
            raise InvalidRecord("give tags to add, to remove, or both")
        return self._decided(
            self._access.decide(
                "tag", addresses=self._spelled(addresses), add=(*(add or ()),), remove=(*(remove or ()),)
            )
        )

    def undo_memecoins(self) -> answers.Decided:
        """Undo your own last decision about coins; again for the one before. Nobody else's is touched."""
        return self._decided(self._access.decide("undo"))

    def _spelled(self, addresses: Names) -> tuple[str, ...]:
        library = self._access.library
        return tuple(library.spelling_of(one.strip()) or one.strip() for one in addresses)

    @staticmethod
    def _decided(told: dict[str, Any]) -> answers.Decided:
        return {"done": told["done"], "unchanged": told["unchanged"], "refused": told["refused"],
                "decision": told["decision"]}  # fmt: skip


def coin_named(library: Reader, name: str) -> Record:
    """The coin with this address, name or ticker. Raises UnknownRecord with the nearest, or the several."""
    found = library.exact_matches([name], Filter(), limit=MOST)
    if len(found) == 1:
        return found[0]
    if found:
        which = ", ".join(f"{one.name} ({one.address})" for one in found[:_OFFERED])
        raise UnknownRecord(f"{len(found):,} coins are called {name!r}; name one by its address: {which}")
    names = {one.name: one.address for one in library.find(Filter(), limit=_COMPARED)}
    near = "".join(f"; {one!r} is {names[one]}" for one in nearest(name, names))
    raise UnknownRecord(f"there is no coin {name!r}{offered(name, names)}{near}")


def _brief(record: Record) -> Answer:
    return {
        "token_address": record.address, "token_name": record.name, "ticker": record.ticker,
        "tier": record.tier, "tags": [*record.tags], "caption": record.caption,
        "description": record.description,
    }  # fmt: skip


def _nearest(library: Reader, chart: Map, point: tuple[float, float], n: int) -> list[Answer]:
    """The coins of a map that are closest to this point."""
    distances = np.hypot(*(chart.points - np.asarray(point, np.float32)).T)
    rows = np.argsort(distances, kind="stable")[:n]
    found = {one.address: one for one in library.records(chart.addresses[row] for row in rows)}
    return [
        {"token_address": one.address, "token_name": one.name, "ticker": one.ticker, "tags": [*one.tags]}
        for row in rows
        if (one := found.get(chart.addresses[row]))
    ]


class GeneratorTools:
    """Each method is a tool; its docstring is the description that an agent reads."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def memecoin_examples(
        self, query: Question, n: Examples = EXAMPLES, budget: Budget = _BUDGET, pictures: bool = True
    ) -> Answer:
        """The coins nearest to a request as examples for a generator, with captions and base64 pictures.

        budget is in tokens; it goes to all captions first, then to pictures.
        """
        built = self._examples(query, n, budget, pictures, model="")
        return {**json.loads(context.as_json(built)), "left_out": _left_out(built)}

    def generate_memecoin(
        self, query: Question, n: Examples = EXAMPLES, budget: Budget = _BUDGET, pictures: bool = True
    ) -> Answer:
        """Have the configured language model invent a coin from the nearest ones; nothing is stored.

        image is a picture of it as a data: URL if an image model is configured (else null, and why_no_image
        says why it failed). near lists the coins of the library that are most similar to it, copies marked
        (empty, with why_no_near, if they could not be compared).
        """
        model = settings().caption_model
        if not model:
            raise ModelUnavailable("no language model is configured: set MEMEDEX_CAPTION_MODEL")
        built = self._examples(query, n, budget, pictures, model=model)
        pieces = coin_generator.stream(
            built, query, model=model, api_base=settings().caption_api_base or None,
            timeout=settings().caption_timeout,
        )  # fmt: skip
        sources = [example.record.address for example in built.examples]
        answer = "".join(pieces)
        try:
            coin = coin_generator.read(answer, model=model, prompt=query, sources=sources)
        except CaptioningFailed as error:
            raise CaptioningFailed(f"{error}; what it answered: {answer}") from error
        near, why_no_near = self._nearest(coin)
        picture, fault = coin_generator.draw_if_configured(coin)
        return {
            **coin_generator.as_fields(coin),
            "image": coin_generator.as_url(picture),
            "why_no_image": fault,
            "near": [
                {"token_address": one.address, "cosine": one.cosine, "is_copy": one.is_copy} for one in near
            ],
            "why_no_near": why_no_near,
            "left_out": _left_out(built),
        }

    def _nearest(self, coin: GeneratedCoin) -> tuple[list[NearCoin], str]:
        """The nearest coins, or why there are none: the answer is paid for, and must not be lost."""
        try:
            return coin_generator.nearest(self._access.library, coin), ""
        except MemedexError as error:
            return [], str(error)

    def _examples(
        self, query: str, n: int, budget: int, pictures: bool, *, model: str
    ) -> context.ExampleContext:
        library = self._access.library
        addresses = nearest_examples(library, query, top=n)
        return context.build(library, addresses, budget=budget, model=model, pictures=pictures)


def _left_out(built: context.ExampleContext) -> list[Answer]:
    return [
        {"token_address": left.record.address, "what": left.what, "tokens": left.tokens}
        for left in built.left_out
    ]
