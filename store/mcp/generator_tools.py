"""Tools for generators: the examples that a model gets, and a coin made from them."""

import json
from typing import Annotated, Any

from pydantic import Field

from store.errors import CaptioningFailed, MemedexError, ModelUnavailable
from store.generation import coin_generator, context
from store.generation.coin_generator import GeneratedCoin, NearCoin
from store.generation.context import EXAMPLES, nearest_examples
from store.mcp.access import Access
from store.mcp.limits import Question
from store.settings import settings

Examples = Annotated[int, Field(ge=1, le=20, description="1 to 20 examples")]
Budget = Annotated[int, Field(ge=100, le=1_000_000, description="tokens")]
Answer = dict[str, Any]
_BUDGET = 4_000  # tokens, as on the page


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
