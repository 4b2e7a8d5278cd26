"""Count tokens of `cl100k_base`, with the copy that litellm's package contains."""

import os
from typing import TYPE_CHECKING

from store.embedding.local_weights import Lazy, package_folder

if TYPE_CHECKING:
    from tiktoken import Encoding

NAME = "cl100k_base"
_EXACT, _SAMPLE = 200, 100  # characters: shorter texts are counted, longer ones estimated by their first


def count_tokens(text: str) -> int:
    """How many tokens the text has; special tokens in it count as text."""
    return len(_encoding.get().encode(text, disallowed_special=()))


def estimated_tokens(text: str) -> int:
    """About how many tokens the text has, by its first 100 characters; exactly, if it has at most 200."""
    if len(text) <= _EXACT:
        return count_tokens(text)
    estimated = count_tokens(text[:_SAMPLE]) * len(text) // _SAMPLE
    return min(estimated, _most(text))


def has_at_most(text: str, tokens: int) -> bool:
    """Whether the text surely has no more tokens than this, without counting them."""
    return _most(text) <= tokens


def _most(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))  # each token has a byte at least


def tail_of(text: str, *, tokens: int) -> int:
    """How many characters at the end of the text make up about this many tokens."""
    encoding = _encoding.get()
    return len(encoding.decode(encoding.encode(text, disallowed_special=())[-tokens:]).lstrip("\ufffd"))


def _load() -> "Encoding":
    import tiktoken

    # tiktoken fetches what it does not find in its cache; litellm's copy is one, hash and all.
    folder = package_folder("litellm", install="pip install litellm") / "litellm_core_utils" / "tokenizers"
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
