"""Limits of lengths and counts, as the tools' schemas say them."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from store.memory.values import LONGEST, LONGEST_QUESTION, LONGEST_TAG, MOST_CHARS, MOST_TAGS
from store.records import MAX_TAG, MAX_TAGS
from store.vectors.weights import MAX_WEIGHT

MOST = 100  # passages, messages or coins of one answer; names in one question
_LONGEST_NAME = 500  # characters


def _listed(value: object) -> object:
    """What an agent gave as "a,b" instead of as a list."""
    return [one.strip() for one in value.split(",") if one.strip()] if isinstance(value, str) else value


Characters = Annotated[int, Field(ge=1, le=MOST_CHARS, description=f"1 to {MOST_CHARS:,}")]
Content = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]
Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)]
Names = Annotated[list[Name], Field(max_length=MOST), BeforeValidator(_listed)]
Moment = Annotated[str | None, Field(max_length=40, description="a date or time, ISO 8601")]
Weight = Annotated[float, Field(ge=0, le=MAX_WEIGHT)]
Percent = Annotated[float, Field(ge=0, le=100, description="the least cosine, in percent")]
Diversity = Annotated[
    float | None, Field(ge=0, le=1, description="λ of marginal relevance: 1 for relevance alone")
]
Tag = Annotated[str, Field(max_length=LONGEST_TAG)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS), BeforeValidator(_listed)]
CoinTag = Annotated[str, Field(min_length=1, max_length=MAX_TAG)]
CoinTags = Annotated[list[CoinTag], Field(max_length=MAX_TAGS), BeforeValidator(_listed)]
