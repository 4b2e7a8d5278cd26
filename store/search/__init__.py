"""Search: queries, weights, scores and their explanation, over vectors in memory."""

from store.search.calibration import LEAST_RECORDS
from store.search.golden_queries import Golden, checked_line
from store.search.picture_similarity import ORDERS, Order
from store.search.query import MAX_TOP
from store.search.query_syntax import Question, Term
from store.search.ranking import Scale, folded, rank
from store.search.samples import SAMPLES, Sample
from store.search.search import NO_COMMON_FACET, Certainty, describe, describe_pictures
from store.vectors.weights import DEFAULT_PRESET, DEFAULT_WEIGHTS, PRESETS, checked_weights

__all__ = [
    "DEFAULT_PRESET",
    "DEFAULT_WEIGHTS",
    "LEAST_RECORDS",
    "MAX_TOP",
    "NO_COMMON_FACET",
    "ORDERS",
    "PRESETS",
    "SAMPLES",
    "Certainty",
    "Golden",
    "Order",
    "Question",
    "Sample",
    "Scale",
    "Term",
    "checked_line",
    "checked_weights",
    "describe",
    "describe_pictures",
    "folded",
    "in_browser",
    "query_pictures",
    "query_syntax",
    "rank",
    "tag_suggestions",
]
