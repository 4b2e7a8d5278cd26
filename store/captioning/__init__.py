"""Captions by a language model: planned, requested, validated and accepted.

Pages find here everything about captions, those that people write as well.
"""

from store.captioning.checkup import CaptionFinding, CheckUp
from store.captioning.suggestions import accept_suggestions, suggest_nearest
from store.captions.caption_text import Replacement, ReplaceRequest, replacements
from store.captions.revisions import Revision, authors, source_of
from store.captions.suggestions import BORROWED, Suggestion
from store.llm.client import answer_pieces, is_loaded, is_warm
from store.llm.prompts import DEFAULT_PROMPT, Prompt

__all__ = [
    "BORROWED",
    "DEFAULT_PROMPT",
    "CaptionFinding",
    "CheckUp",
    "Prompt",
    "ReplaceRequest",
    "Replacement",
    "Revision",
    "Suggestion",
    "accept_suggestions",
    "answer_pieces",
    "authors",
    "checkup",
    "is_loaded",
    "is_warm",
    "replacements",
    "source_of",
    "suggest_nearest",
]
