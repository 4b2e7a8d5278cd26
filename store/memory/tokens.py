"""Counting tokens as `cl100k_base` does (reference 5), with the copy that litellm carries in its package."""

import os
from typing import TYPE_CHECKING

from store.embedding.loading import Lazy, package_folder

if TYPE_CHECKING:
    from tiktoken import Encoding

NAME = "cl100k_base"


def count_tokens(text: str) -> int:
    """How many tokens the text has; what looks like a special token is text."""
    return len(_encoding.get().encode(text, disallowed_special=()))


def tail_of(text: str, *, tokens: int) -> int:
    """How many characters at the end of the text make up about as many tokens."""
    encoding = _encoding.get()
    return len(encoding.decode(encoding.encode(text, disallowed_special=())[-tokens:]).lstrip("\ufffd"))


def _load() -> "Encoding":
    import tiktoken

    # tiktoken fetches what it does not find in its cache; litellm's copy is one, hash and all.
    folder = package_folder("litellm", install="litellm") / "litellm_core_utils" / "tokenizers"
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding(NAME)
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


_encoding: "Lazy[Encoding]" = Lazy("the token counter", _load)
