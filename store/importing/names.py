"""The names that fields have in the lists, tables and side files of other programs: the one place for them.

A new source whose fields have other names is an entry here. Names are compared without case and signs, so
"Token Name" and `tokenName` are one; of several that say something, the first counts.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal, get_args

from store.records import CAPTION_FACETS

# The sidecar's keys, and what else they are called.
NAMES: dict[str, tuple[str, ...]] = {
    "token_name": ("token_name", "name", "coin_name", "asset_name", "currency_name", "contract_name"),
    "ticker": (
        *("ticker", "symbol", "token_symbol", "ticker_symbol", "coin_symbol", "short_name", "asset_code"),
        "contract_ticker_symbol",
    ),
    "description": ("description", "token_description", "coin_description", "desc"),
    "token_address": (
        *("token_address", "address", "mint", "contract_address", "mint_address", "coin_mint", "token_mint"),
        *("token_contract_address", "token_mint_address", "base_mint", "asset_address", "ca", "fa_address"),
        "address_hash",
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
        *("genesisdate", "blocktime", "opentimestamp", "createdate", "addedat"),
    ),
    "decimals": ("decimals", "decimal", "tokendecimals", "contractdecimals"),
    "chainId": ("chainid", "chain", "network", "blockchain"),
}
# The same in other languages, as spreadsheets head their columns. Words that
# mean something else in English or in one of the others, as `red` and `nota`, are not here.
SPOKEN: dict[str, str] = {  # between commas
    "token_name": (
        "Bezeichnung, nombre, nom, nome, nazwa, isim, название, имя, 이름, 코인명, 名称, 名字, 币名, "
        "名稱, 名前, コイン名"
    ),
    "ticker": (
        "Kürzel, símbolo, symbole, simbolo, sembol, тикер, символ, 심볼, 티커, 代码, 符号, 代碼, "
        "シンボル, ティッカー"
    ),
    "description": (
        "Beschreibung, descripción, descrição, descrizione, opis, açıklama, описание, 설명, 描述, 说明, "
        "說明, 説明, 概要"
    ),
    "token_address": (
        "Adresse, Vertragsadresse, dirección, dirección del contrato, adresse du contrat, indirizzo, "
        "endereço, адрес, адрес контракта, 주소, 컨트랙트 주소, 合约地址, 代币地址, 地址, 合約地址, "
        "アドレス, コントラクトアドレス"
    ),
    "tags": (
        "Schlagwörter, Schlagworte, etiquetas, étiquettes, mots-clés, etichette, теги, 태그, 标签, 標籤, タグ"
    ),
    "created_at": (
        "Datum, Erstellt, Erstellt am, Erstellungsdatum, fecha, fecha de creación, criado em, creato il, "
        "data utworzenia, tarih, дата, дата создания, 날짜, 생성일, date de création, créé le, 日期, "
        "创建时间, 创建日期, 建立日期, 日付, 作成日"
    ),
    "decimals": "Dezimalstellen, Nachkommastellen, decimales, 小数位, 小数位数, 小数点以下桁数",
    "chainId": "Kette, Netzwerk, cadena, chaîne, réseau, 链, 网络, チェーン, ネットワーク",
    "file_name": (
        "Bild, Bilddatei, Dateiname, Datei, imagen, archivo, nombre de archivo, fichier, nom du fichier, "
        "imagem, immagine, obraz, resim, изображение, картинка, файл, имя файла, 이미지, 파일명, 图片, "
        "图像, 文件名, 图片文件, 圖片, 画像, ファイル名, 画像ファイル"
    ),
    "caption": (
        "Bildunterschrift, leyenda, légende, legenda, didascalia, подпись, 캡션, 图片描述, キャプション"
    ),
}
MONTHS = {  # of dates in these languages, as English has them
    name: english
    for english, names in {
        "January": "Januar Jänner enero janvier janeiro gennaio января",
        "February": "Februar febrero février fevereiro febbraio февраля",
        "March": "März marzo mars março марта", "April": "abril avril aprile апреля",
        "May": "Mai mayo maio maggio мая", "June": "Juni junio juin junho giugno июня",
        "July": "Juli julio juillet julho luglio июля", "August": "agosto août августа",
        "September": "septiembre septembre setembro settembre сентября",
        "October": "Oktober octubre octobre outubro ottobre октября",
        "November": "noviembre novembre novembro ноября",
        "December": "Dezember diciembre décembre dezembro dicembre декабря",
    }.items()
    for name in names.lower().split()
}  # fmt: skip
# Where a row names the file of its picture, before all other references.
FILES = (
    *("file_name", "file", "filename", "image", "picture", "image_path", "image_name", "img_path"),
    "logoURI",
)
# Where the reference to a picture is; steps lead into objects and lists.
PICTURES: tuple[tuple[str | int, ...], ...] = (
    *((name,) for name in ("logoURI", "logo_uri", "logoUrl", "logo_url", "logo", "icon", "iconUrl")),
    *((name,) for name in ("image_uri", "imageUri", "imageUrl", "image_url", "img", "avatar")),
    *(("image", size) for size in ("large", "small", "thumb")),
    *((place, step) for place in ("image", "icon", "thumbnail") for step in ("url", "src", "uri")),
    *(("images", size) for size in ("large", "small", "thumb")),
    ("images", 0),
    *(("images", 0, step) for step in ("url", "src", "uri")),
    *((name,) for name in ("large", "thumbnail", "thumb")),
    *(("logo", step) for step in ("src", "url", "png")),
    ("logo_URIs", "png"),
    ("logo_URIs", "svg"),
    *(("info", name) for name in ("imageUrl", "imageThumbUrl", "imageLargeUrl", "imageSmallUrl")),
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
    *("blip_caption", "generated_caption", "long_caption", "short_caption", "vlm_caption", "recaption"),
    *("positive_prompt", "sentence", "sentences", "response", "caption_str", "annotation"),
)
# What wraps a list of coins, the first that is there; without one of these, whatever holds rows.
LISTS = ("tokens", "pairs", "coins", "included", "data", "items", "results", "result")
# Objects that hold the coin itself: pairs of DexScreener, GeckoTerminal's attributes, GraphQL's nodes,
# RugCheck's `fileMeta`. Their fields count as those of the entry around them.
INNER = (
    *("baseToken", "base_token", "token", "attributes", "metadata", "item", "node"),
    *("fileMeta", "tokenMeta"),
)
# Where dates and numbers are deeper in a row; they count if no field of the coin itself states one.
DEEPER: dict[str, tuple[tuple[str | int, ...], ...]] = {
    "created_at": (("creation", "created_time"), ("pools", 0, "createdAt"), ("firstPool", "createdAt")),
    "decimals": (("token_info", "decimals"), ("implementations", 0, "decimals")),
}
# Objects or lists with a coin's addresses by chain: Optimism's data.json, CoinGecko, CoinMarketCap, Zerion.
BY_CHAIN = (
    "tokens",
    "platforms",
    "detail_platforms",
    "platform",
    "addresses",
    "contracts",
    "implementations",
)
# Files of one coin in a folder of its own: its picture, and its metadata.
LOGOS = re.compile(
    r"(?:token[-_ ]?|coin[-_ ]?)?(?:logo|icon|image|picture|token|coin|avatar)(?:[-_@ ]?\d[\dx]*)?"
)
METADATA = ("info", "data", "metadata", "meta", "token", "coin")
# What lies in folders of coins and says nothing of one coin: named, and no error.
ASIDE = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|authors|changelog|contributing|code[-_]of[-_]conduct|security|citation"
    r"|makefile|dockerfile|package(?:-lock)?|tsconfig|requirements)"
    r"(?:[-_.](?:[a-z]{2,3}|test))?(?:\.(?:md|txt|rst|json|html|cff))?",
    re.IGNORECASE,
)
DOCUMENT = "a document, which says nothing of one coin; `memory import-document` takes it"
PROGRAM = "a program or its settings, which say nothing of one coin"
NUMBERS = "numbers of a model, which say nothing of one coin"
ASIDES = (DOCUMENT, PROGRAM, NUMBERS)
OF_THE_FOLDER = "a text about the folder, which says nothing of one coin"
OF_ITS_COIN = "another file about the coin of its folder, which is not read"
OTHER_SIZE = "the logo of its folder in another size"
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
    **dict.fromkeys((".mp3", ".wav", ".ogg", ".flac", ".m4a", ".opus"), "a recording, which is not read"),
    **dict.fromkeys((".npz", ".npy", ".safetensors", ".pt", ".ckpt"), NUMBERS),
    **dict.fromkeys((".rar", ".7z", ".zst"), "an archive of a kind that is not opened; unpack it first"),
    **dict.fromkeys((".md", ".rst", ".pdf", ".html", ".docx", ".odt", ".pptx", ".epub"), DOCUMENT),
    **dict.fromkeys(
        (
            *(".py", ".ipynb", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".css", ".sh", ".go", ".rs", ".sol"),
            *(".yml", ".yaml", ".toml", ".ini", ".cfg", ".lock", ".snap"),
        ),
        PROGRAM,
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
    (
        {"media_type", "sample_fields"},
        "FiftyOne's description of a dataset, which says nothing of one picture",
    ),
    ({"chain_name", "apis"}, "Cosmos's description of a chain, which says nothing of one coin"),
    ({"chain_name", "versions"}, "Cosmos's description of a chain, which says nothing of one coin"),
    ({"features"}, "a description of a dataset, which says nothing of one picture"),
    ({"agents", "blocks"}, "agents of Letta, which say nothing of one coin; `adopt` takes them"),
)

# What a person may say that a column or key counts as, where its name says something else or nothing …
FIELDS = (*NAMES, *READ, "picture", *CAPTION_FACETS, "caption")
KEPT = "kept"  # … under its own name …
LEFT_OUT = "left out"  # … or not taken at all
Texts = Literal["guess", "tags", "sentence"]  # what a text beside a picture holds
TEXTS: tuple[Texts, ...] = get_args(Texts)


@lru_cache(10_000)
def plain(name: str) -> str:
    """A name without case, signs and accents, by which names are compared."""
    bare = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFKD", name.lower()))
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFC", bare))
