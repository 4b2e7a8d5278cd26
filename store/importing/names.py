"""The names that fields have in the lists, tables and side files of other programs: the one place for them.

A new source whose fields have other names is an entry here. Names are compared without case and signs, so
"Token Name" and `tokenName` are one; of several that say something, the first counts.
"""

import re
from typing import Literal, get_args

from store.records import CAPTION_FACETS

# The sidecar's keys, and what else they are called.
NAMES: dict[str, tuple[str, ...]] = {
    "token_name": ("token_name", "name", "coin_name"),
    "ticker": ("ticker", "symbol", "token_symbol", "short_name", "asset_code"),
    "description": ("description",),
    "token_address": (
        *("token_address", "address", "mint", "contract_address", "mint_address", "coin_mint", "token_mint"),
        *("ca", "fa_address"),
    ),
    "tags": ("tags", "tag", "tag_string"),
}
PERHAPS = ("id", "key", "token", "contract")  # a coin's address in some lists, anything else in others
# Dates and numbers: the first with a value that can be read counts.
READ: dict[str, tuple[str, ...]] = {
    "created_at": (
        *("createdat", "createdtimestamp", "created", "createdon", "createdtime", "datecreated"),
        *("creationdate", "creationtime", "timestamp", "date", "launchdate", "launchedat", "launchtime"),
        *("launchtimestamp", "paircreatedat", "mintedat", "mintdate", "deployedat", "listedat", "dateadded"),
        *("genesisdate", "blocktime", "opentimestamp", "createdate"),
    ),
    "decimals": ("decimals", "decimal", "tokendecimals"),
    "chainId": ("chainid", "chain", "network", "blockchain"),
}
# Where a row names the file of its picture, before all other references.
FILES = (
    "file_name",
    "file",
    "filename",
    "image",
    "picture",
    "image_path",
    "image_name",
    "img_path",
    "logoURI",
)
# Where the reference to a picture is; steps lead into objects and lists.
PICTURES: tuple[tuple[str | int, ...], ...] = (
    *((name,) for name in ("logoURI", "logo_uri", "logoUrl", "logo_url", "logo", "icon", "iconUrl")),
    *((name,) for name in ("image_uri", "imageUri", "imageUrl", "image_url", "img", "avatar")),
    *(("image", size) for size in ("large", "small", "thumb")),
    *((name,) for name in ("large", "thumbnail", "thumb")),
    *(("logo", step) for step in ("src", "url", "png")),
    ("logo_URIs", "png"),
    ("logo_URIs", "svg"),
    ("info", "imageUrl"),
    ("info", "imageThumbUrl"),
    ("tokenMetadata", "image"),
    ("properties", "files", 0, "uri"),
    ("content", "links", "image"),
    ("links", "image"),
    ("files", 0, "uri"),
    ("content", "files", 0, "uri"),
)
COIN = "coin"  # the key of COCO's images under which our own export keeps the whole coin
# Texts for the whole caption, where nothing says which facet they are.
WHOLE = (
    *("caption", "text", "captions", "comment", "txt", "prompt", "image_caption", "caption_text", "alt_text"),
    *("blip_caption", "generated_caption", "long_caption", "sentence", "sentences"),
)
# What wraps a list of coins, the first that is there; without one of these, whatever holds rows.
LISTS = ("tokens", "pairs", "coins", "included", "data", "items", "results", "result")
# Objects that hold the coin itself: pairs of DexScreener, GeckoTerminal's attributes, GraphQL's nodes.
INNER = ("baseToken", "base_token", "token", "attributes", "metadata", "item", "node")
# Objects with a coin's addresses by chain: Optimism's data.json, CoinGecko's coins, CoinMarketCap's.
BY_CHAIN = ("tokens", "platforms", "detail_platforms", "platform", "addresses", "contracts")
# Files of one coin in a folder of its own: its picture, and its metadata.
LOGOS = re.compile(
    r"(?:token[-_ ]?|coin[-_ ]?)?(?:logo|icon|image|picture|token|coin|avatar)(?:[-_@ ]?\d[\dx]*)?"
)
METADATA = ("info", "data", "metadata", "meta", "token", "coin")
# What is known and not read, by its ending: what it is, and what to do.
NOT_READ: dict[str, str] = {
    **dict.fromkeys(
        (".psd", ".eps", ".jxl", ".xcf", ".raw", ".dng", ".cr2"),
        "a picture of a kind that is not read; save it as PNG or JPG",
    ),
    **dict.fromkeys(
        (".xlsx", ".xls", ".ods", ".numbers"), "a spreadsheet, which is not read; save it as CSV"
    ),
    **dict.fromkeys((".mp4", ".webm", ".mov", ".mkv"), "a video, which is not read"),
    **dict.fromkeys(
        (".npz", ".npy", ".safetensors", ".pt", ".ckpt"), "numbers of a model, which are not read"
    ),
    **dict.fromkeys(
        (".rar", ".7z", ".xz", ".bz2", ".zst"), "an archive of a kind that is not opened; unpack it first"
    ),
    **dict.fromkeys(
        (".md", ".rst", ".pdf", ".html", ".docx", ".odt", ".pptx", ".epub"),
        "a document, which says nothing of one coin; `memory import-document` takes it",
    ),
    ".xml": "XML, such as CVAT's or Pascal VOC's boxes, which are not read; export COCO captions or JSON",
    ".xmp": "a picture's XMP, which is not read; save captions as .txt",
    ".arrow": "an Arrow file of Hugging Face's cache, which is not read; save it with to_parquet()",
    ".tfrecord": "a TFRecord, which is not read; save it as tar or Parquet",
    ".cls": "the number of a class, which is not read; its name as tag in a .txt or .json is",
}

# JSON that is known and not read, by keys of it or of an object in it.
JSON_NOT_READ: tuple[tuple[set[str], str], ...] = (
    (
        {"successes", "failed_to_download"},
        "img2dataset's figures of a shard, which say nothing of one picture",
    ),
    ({"features", "splits"}, "Hugging Face's description of a dataset, which says nothing of one picture"),
    ({"features"}, "a description of a dataset, which says nothing of one picture"),
    ({"nbformat", "cells"}, "a notebook, which is not read"),
)

# What a person may say that a column or key counts as, where its name says something else or nothing …
FIELDS = (*NAMES, *READ, "picture", *CAPTION_FACETS, "caption")
KEPT = "kept"  # … under its own name …
LEFT_OUT = "left out"  # … or not taken at all
Texts = Literal["guess", "tags", "sentence"]  # what a text beside a picture holds
TEXTS: tuple[Texts, ...] = get_args(Texts)


def plain(name: str) -> str:
    """A name without case and signs, by which names are compared."""
    return re.sub(r"[\W_]", "", name.lower())
