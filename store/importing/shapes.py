"""Lists of coins and of captioned pictures, in the shapes of services, datasets and labelling tools.

They become rows that name a picture as a table does (`file_name`), and its caption as `caption` or `text`.
One shape is one entry of `_SHAPES`: what people call it, by what it is recognised, and how its rows are made.

    COCO captions    https://cocodataset.org/#format-data
    Label Studio     https://labelstud.io/guide/export (JSON and JSON-MIN)
    FiftyOne         https://docs.voxel51.com/user_guide/export_datasets.html (FiftyOneDataset)
    kohya            sd-scripts' metadata: a picture's name, with or without its ending → caption, tags
    VGG              https://www.robots.ox.ac.uk/~vgg/software/via/docs/face_track_annotation.html (VIA 2)
    Telegram         https://core.telegram.org/import-export
    Discord          https://github.com/Tyrrrz/DiscordChatExporter (JSON)
    LLaVA            https://github.com/haotian-liu/LLaVA/blob/main/docs/Finetune_Custom_Data.md
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from store.importing import tables
from store.importing.metadata import address_in, chain_id, is_url, pictured, settle_dates, unwrapped
from store.importing.names import COIN, FILES, INNER, LISTS, NAMES, WHOLE, plain

Rows = list[Any]
_PICTURE = re.compile(r"\.(?:png|jpe?g|webp|gif|bmp|avif|tiff?|svg)$", re.IGNORECASE)
_DEEPEST = 6  # objects around a list
_KOHYA = {"caption", "tags", "train_resolution", "latents_npz", "train_resolution_bucket"}
# Ends of columns that name pictures, where a row has several.
_NAMED = ("filename", "imagefilename", "filenames")
_COINS = {name for key in ("token_address", "ticker") for name in NAMES[key]}  # what only coins have
_SAY = set(map(plain, _COINS))
_SHOW = {plain(name) for name in (*FILES, *NAMES["token_name"], "caption")}


_OF_A_BOX = {"class", "xmin", "ymin"}  # of Roboflow and TensorFlow, a row for each
_OF_A_CAPTION = {*FILES, *WHOLE, "comment_number", "caption_id", "id"}


class Listed(NamedTuple):
    """The rows of a list, and what people call its shape."""

    title: str
    rows: Rows


def entries(value: Any, *, depth: int = 0) -> Listed | None:
    """The rows of a list in JSON, whatever its shape; None if it is no list."""
    if depth > _DEEPEST or not isinstance(value, list | dict) or (isinstance(value, dict) and not value):
        return None
    for title, fits, made in _SHAPES:
        if fits(value):
            return Listed(title, made(value))
    return _within(value, depth) if isinstance(value, dict) and not _is_coin(value) else None


def single(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The row once for each picture that it names, as Hugging Face's `file_names` and `*_file_name` do."""
    several = [key for key in row if plain(key).endswith(_NAMED) and plain(key) != "filename"]
    images = [key for key in ("images", "image") if isinstance(row.get(key), list)]
    held = [row[key] for key in (*several, *images)]
    pictures = [one for value in held for one in (value if isinstance(value, list) else [value]) if one]
    if not pictures or "file_name" in row:
        yield dict(row)
        return
    rest = {key: value for key, value in row.items() if key not in (*several, *images)}
    if "prompt" in rest and not rest.keys() & {"caption", "text"}:
        rest["text"] = rest.pop("prompt")
    for picture in pictures:
        yield {**rest, ("image" if isinstance(picture, dict) else "file_name"): picture}


def coins_of(rows: Iterable[tables.Row], fields: Mapping[str, str]) -> tuple[list[tables.Row], list[str]]:
    """The rows by the fields that their columns count as, once for each picture, and what to say of them."""
    found = [
        (number, tables.named(one, fields) if isinstance(one, dict) else one)
        for number, row in rows
        for one in (single(_plainly(row)) if isinstance(row, dict) else [row])
    ]
    return [*_joined(found)], settle_dates([row for _, row in found if isinstance(row, dict)])


def _joined(rows: Iterable[tables.Row]) -> Iterator[tables.Row]:
    """The rows, with several captions of one picture in one of them, as Flickr30k and others list them.

    So are the names of its boxes, as tags.
    """
    first: dict[str, dict[str, Any]] = {}
    for number, row in rows:
        names = [str(row[key]) for key in FILES if key in row] if isinstance(row, dict) else []
        if isinstance(row, dict) and len(names) == 1 and row.keys() >= _OF_A_BOX:
            before = first.setdefault(names[0], row)
            tags = before.setdefault("tags", [])
            tags += [row["class"]] if row["class"] not in tags else []
            if before is not row:
                continue
            row = {key: value for key, value in row.items() if key not in {*_OF_A_BOX, "xmax", "ymax"}}
            first[names[0]] = row
        if isinstance(row, dict) and row.keys() <= _OF_A_CAPTION and len(names) == 1:
            key = next((key for key in WHOLE if row.get(key)), "")
            before = first.setdefault(names[0], row)
            if before is not row and key and isinstance(said := before.get(key), str | list):
                before[key] = [*([said] if isinstance(said, str) else said), row[key]]
                continue
        yield number, row


def _is_coin(value: Mapping[str, Any]) -> bool:
    """Whether it is one coin, rather than what surrounds a list of them, as a wallet's address does."""
    if any(isinstance(held := value.get(key), list) and any(map(_is_row, held)) for key in LISTS):
        return bool(value.keys() & {*NAMES["token_name"], *NAMES["ticker"]})
    said, own = (
        {plain(key) for key, one in row.items() if isinstance(one, str)} for row in (unwrapped(value), value)
    )
    return bool(said & _SAY or own & {"logouri", "image"})


def _is_row(value: Any) -> bool:
    """Whether it is a coin or a picture with what is said of it, as an entry of a list may be."""
    if not isinstance(value, dict):
        return False
    keys = {plain(key) for key, one in value.items() if not is_url(one) or plain(key) not in _SAY}
    if keys & (_SAY | {plain(name) for name in FILES}):
        return True
    return bool(keys & _SHOW and pictured(value) is not None) or any(_is_row(value.get(key)) for key in INNER)


def _within(value: Mapping[str, Any], depth: int) -> Listed | None:
    """The list in a service's answer, however deep: the one that LISTS name, else all that have rows."""
    if depth > _DEEPEST:
        return None
    named = next((key for key in LISTS if isinstance(value.get(key), list | dict) and value[key]), None)
    inner = [value[named]] if named else [one for one in value.values() if isinstance(one, list | dict)]
    found = [listed for one in inner if (listed := _held(one, depth)) is not None]
    if not found and named:  # such as `data` beside the list itself
        found = [listed for key, one in value.items() if key != named and (listed := _held(one, depth))]
    return Listed(found[0].title, [row for one in found for row in one.rows]) if found else None


def _held(value: Any, depth: int) -> Listed | None:
    """What an object of an answer holds: a list that has rows, or one coin."""
    if isinstance(value, dict) and _is_coin(value):
        return Listed("list of coins", [value])
    found = entries(value, depth=depth + 1)
    return found if found and any(map(_is_row, found.rows)) else None


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _flat(value: Rows) -> Rows:
    """The rows, also of lists in it, and those that only surround a coin as that coin."""
    rows = [row for one in value for row in (one if isinstance(one, list) else [one])]
    found = [_uncovered(row) for row in rows]
    if not any(map(_is_row, found)):  # pages of answers, each with a list
        pages = [_within(row, 1) for row in rows if isinstance(row, dict)]
        found = [row for page in pages if page for row in page.rows] or found
    return found


def _plainly(row: dict[str, Any]) -> dict[str, Any]:
    """A line of JSON without what only surrounds its coin."""
    for sign, fits, made in _ROWS:
        if sign in row and fits([row]):
            return dict(made([row])[0])
    inner = row if row.keys() & _COINS else _uncovered(row)
    return row if inner is row else unwrapped(inner)


def _uncovered(row: Any, depth: int = 0) -> Any:
    if depth > 2 or not isinstance(row, dict):
        return row
    if not any(isinstance(one, dict) for one in row.values()) or _is_row(row):
        return row
    for key, one in row.items():
        if isinstance(one, dict) and _is_row(inner := _uncovered(one, depth + 1)):
            return {**{name: value for name, value in row.items() if name != key}, **inner}
    return row


def _are_objects(value: Any) -> bool:
    """Whether nearly all values are objects: one that is not is a row that is refused."""
    return isinstance(value, dict) and 2 * sum(isinstance(one, dict) for one in value.values()) > len(value)


def _is_by_address(value: Any) -> bool:
    return _are_objects(value) and all(map(_address, value))


def _address(key: str) -> str | None:
    """The address that a key is, also behind its chain as in `solana:ADDRESS`."""
    return address_in(key) or address_in(key.partition(":")[2]) or address_in(key.rpartition(":")[2])


def _is_by_chain(value: Any) -> bool:
    """By chain: lists under names of chains, or maps by address under their numbers."""
    return isinstance(value, dict) and all(
        chain_id(key) and (_is_by_address(one) or (not key.isdigit() and isinstance(one, list)))
        for key, one in value.items()
    )


def _by_chain(value: Mapping[str, Any]) -> Rows:
    return [
        {"chainId": chain, **row} if isinstance(row, dict) else row
        for chain, held in value.items()
        for listed in [entries(held)]
        for row in (listed.rows if listed else [])
    ]


def _is_by_number(value: Any) -> bool:
    """By an id or a ticker, as CoinMarketCap has them; there each may be a list."""
    ones = [row for one in value.values() for row in (one if isinstance(one, list) else [one])]
    return bool(ones) and all(
        isinstance(one, dict) and one.keys() & {"name", "symbol"} and _is_row(one) for one in ones
    )


def _by_number(value: Mapping[str, Any]) -> Rows:
    return [
        {**({"ticker": key} if key.isupper() and not {"symbol", "ticker"} & one.keys() else {}), **one}
        for key, held in value.items()
        for one in (held if isinstance(held, list) else [held])
    ]


def _keyed(name: str, key: str | None, one: Any) -> Any:
    """An object of a map with what its key says."""
    return {name: key, **one} if isinstance(one, dict) else one


def _is_kohya(value: Any) -> bool:
    """Pictures of which some, that have neither a caption nor tags, may be empty."""
    said = [one for one in value.values() if isinstance(one, dict) and one] if _are_objects(value) else []
    return bool(said) and all(one.keys() & _KOHYA for one in said)


def _is_captions(value: Any) -> bool:
    """A picture's name → its caption, or what is said of it."""
    return isinstance(value, dict) and all(
        isinstance(one, str | list | dict) and _PICTURE.search(key) for key, one in value.items()
    )


def _is_headed(value: Any) -> bool:
    """Lists of cells below one of the names of columns."""
    return isinstance(value, list) and len(value) > 1 and all(isinstance(one, list) for one in value) and (
        sum(bool(isinstance(name, str) and tables.counts_as(name)) for name in value[0]) > 1
    )  # fmt: skip


def _are_pairs(value: Any) -> bool:
    """Lists of a picture's name and its caption."""
    return bool(value) and all(
        isinstance(one, list) and len(one) == 2 and all(isinstance(text, str) for text in one)
        and _PICTURE.search(one[0])
        for one in value
    )  # fmt: skip


def _is_coco(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(key), list) for key in ("images", "annotations")
    )


def _coco(value: Mapping[str, Any]) -> Rows:
    names = {
        str(one.get("id")): one.get("name") for one in value.get("categories") or [] if isinstance(one, dict)
    }
    captions: defaultdict[str, list[str]] = defaultdict(list)
    facets: defaultdict[str, dict[str, str]] = defaultdict(dict)
    tags: defaultdict[str, list[str]] = defaultdict(list)
    for one in value["annotations"]:
        if isinstance(one, dict):
            image = str(one.get("image_id"))
            if isinstance(one.get("caption"), str):
                captions[image].append(one["caption"])
                facets[image][str(one.get("facet"))] = one["caption"]
            if isinstance(name := names.get(str(one.get("category_id"))), str):
                tags[image].append(name)
    rows: Rows = []
    for one in value["images"]:
        if not (isinstance(one, dict) and isinstance(name := one.get("file_name"), str)):
            rows.append(one)
            continue
        image, coin = str(one.get("id")), one.get(COIN)
        if isinstance(coin, dict) and "token_address" in coin:  # of our own export
            caption = coin.get("caption")
            said = {**(caption if isinstance(caption, dict) else {}), **facets[image]}
            rows.append({"file_name": name, **coin, "caption": said if said or caption is not None else None})
        else:
            rows.append(_said(name, captions[image], tags[image], coco_url=one.get("coco_url")))
    return rows


def _numbered(value: Rows) -> Rows:
    """COCO's results by the names of its pictures, other ids as they are."""
    return [
        {"file_name": f"{id:0>12}" if isinstance(id := one["image_id"], int) else str(id), **one}
        for one in value
    ]


def _are_results(value: Any) -> bool:
    """Captions by the number of a picture, with which COCO's files are called since 2017."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, dict) and {"image_id", "caption"} <= one.keys() for one in value)
        and not any(name in value[0] for name in FILES)
    )


def _said(name: str, captions: list[str], tags: list[str], **more: Any) -> dict[str, Any]:
    """A picture's row with what is said of it."""
    said = {"caption": captions, "tags": list(dict.fromkeys(tags)), **more}
    return {"file_name": name, **{key: value for key, value in said.items() if value}}


def _is_via(value: Any) -> bool:
    images = value.get("_via_img_metadata", value) if isinstance(value, dict) else {}
    return _are_objects(images) and all(
        isinstance(one, dict) and {"filename", "regions"} <= one.keys() for one in images.values()
    )


def _via(value: Mapping[str, Any]) -> Rows:
    """By picture: what is said of it, and the names of its regions as tags."""
    rows: Rows = []
    for one in value.get("_via_img_metadata", value).values():
        regions = one["regions"].values() if isinstance(one["regions"], dict) else one["regions"]
        said = [region.get("region_attributes", {}) for region in regions if isinstance(region, dict)]
        tags = [name for named in said for name in named.values() if isinstance(name, str)]
        rows.append(_said(one["filename"], [], tags, **(one.get("file_attributes") or {})))
    return rows


def _is_channel(value: Any) -> bool:
    posts = value.get("messages") if isinstance(value, dict) else None
    return isinstance(posts, list) and any(
        isinstance(one, dict) and (one.get("photo") or one.get("attachments")) for one in posts
    )


def _posts(value: Mapping[str, Any]) -> Rows:
    """The pictures of a channel's export, each with the text and the time of its post."""
    rows: Rows = []
    for one in value["messages"]:
        if not isinstance(one, dict):
            continue
        given = one.get("content", one.get("text")) or ""
        parts = given if isinstance(given, list) else [given]
        text = "".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in parts)
        pictures = [one["photo"]] if one.get("photo") else []
        pictures += [held.get("fileName", held.get("url")) for held in one.get("attachments") or []]
        at = one.get("timestamp", one.get("date_unixtime"))
        rows += (_said(picture, [text] if text else [], [], created_at=at) for picture in pictures)
    return rows


def _is_fiftyone(value: Any) -> bool:
    samples = value.get("samples") if isinstance(value, dict) else None
    return isinstance(samples, list) and all(isinstance(one, dict) and "filepath" in one for one in samples)


def _is_classified(value: Any) -> bool:
    """FiftyOne's classifications: names of classes, and by picture their numbers."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("classes"), list)
        and isinstance(value.get("labels"), dict)
    )


def _classified(value: Mapping[str, Any]) -> Rows:
    names = dict(enumerate(value["classes"]))
    return [
        {
            "file_name": picture,
            "tags": [str(names.get(one, one)) for one in (said if isinstance(said, list) else [said])],
        }
        for picture, said in value["labels"].items()
    ]


def _fiftyone(value: Mapping[str, Any]) -> Rows:
    rows = []
    for one in value["samples"]:
        texts = {key: _label(one[key]) for key in ("caption", "text", "description") if key in one}
        tags = [tag for tag in one.get("tags") or [] if isinstance(tag, str)]
        tags += [tag for key, field in one.items() if key not in texts for tag in _labels(field)]
        rows.append(_said(one["filepath"], [], tags, **texts))
    return rows


def _label(value: Any) -> Any:
    """A text, or the text of FiftyOne's Classification."""
    return value.get("label", "") if isinstance(value, dict) else value


def _labels(field: Any) -> list[str]:
    """The labels of FiftyOne's Classification, Classifications or Detections."""
    if not isinstance(field, dict):
        return []
    ones = [field, *(one for key in ("classifications", "detections") for one in field.get(key) or [])]
    return [one["label"] for one in ones if isinstance(one, dict) and isinstance(one.get("label"), str)]


def _is_labelled(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(one, dict) and isinstance(one.get("data"), dict) and "annotations" in one
            for one in value
        )
    )


def _labelled(value: Rows) -> Rows:
    return [
        {**_picture_of(one["data"]), **(_answers(one["annotations"]) or _answers(one.get("predictions")))}
        for one in value
    ]


def _picture_of(data: Mapping[str, Any]) -> dict[str, Any]:
    key = next((key for key in ("image", "img", "picture") if key in data), "")
    return {**{other: value for other, value in data.items() if other != key}, "file_name": data.get(key, "")}


def _answers(annotations: Any) -> dict[str, Any]:
    texts: list[str] = []
    tags: list[str] = []
    for one in annotations if isinstance(annotations, list) else []:
        for result in one.get("result", []) if isinstance(one, dict) else []:
            answer = result.get("value", {}) if isinstance(result, dict) else {}
            text = answer.get("text", [])
            texts += text if isinstance(text, list) else [text]
            tags += [
                tag for key, found in answer.items() if key.endswith(("choices", "labels")) for tag in found
            ]
    texts, tags = ([one for one in found if isinstance(one, str)] for found in (texts, tags))
    return {**({"caption": texts} if texts else {}), **({"tags": list(dict.fromkeys(tags))} if tags else {})}


def _is_llava(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(one, dict)
            and isinstance(one.get("image", one.get("images")), str | list)
            and isinstance(one.get("conversations", one.get("messages")), list)
            for one in value
        )
    )


def _llava(value: Rows) -> Rows:
    return [
        {"image" if isinstance(pictures, list) else "file_name": pictures, "caption": next((
            turn.get("value", turn.get("content")) for turn in one.get("conversations", one.get("messages"))
            if isinstance(turn, dict) and turn.get("from", turn.get("role")) in ("gpt", "assistant")), "")}
        for one in value for pictures in [one.get("image", one.get("images"))]
    ]  # fmt: skip


_SHAPES: tuple[tuple[str, Callable[[Any], bool], Callable[[Any], Rows]], ...] = (
    ("COCO annotations", _is_coco, _coco),
    ("COCO results", _are_results, _numbered),
    ("VGG annotations", _is_via, _via),
    ("channel of Telegram or Discord", _is_channel, _posts),
    ("FiftyOne dataset", _is_fiftyone, _fiftyone),
    ("FiftyOne classifications", _is_classified, _classified),
    ("Label Studio export", _is_labelled, _labelled),
    ("LLaVA conversations", _is_llava, _llava),
    ("captions by picture", _are_pairs,
     lambda value: [{"file_name": name, "caption": said} for name, said in value]),
    ("lists below names of columns", _is_headed,
     lambda value: [dict(zip(map(str, value[0]), one, strict=False)) for one in value[1:]]),
    ("JSON list", _is_list, _flat),
    ("coins by address", _is_by_address,
     lambda value: [_keyed("address", _address(key), one) for key, one in value.items()]),
    ("coins by chain", _is_by_chain, _by_chain),
    ("kohya's metadata", _is_kohya,
     lambda value: [_keyed("file_name", key, one) for key, one in value.items()]),
    ("coins by id", lambda value: isinstance(value, dict) and _is_by_number(value), _by_number),
    ("captions by picture", _is_captions,
     lambda value: [
         _keyed("file_name", key, one) if isinstance(one, dict) else {"file_name": key, "caption": one}
         for key, one in value.items()
     ]),
)  # fmt: skip
_ROWS = (  # also a row a line: a key of one, by what else it is recognised, and how it is made
    ("image_id", _are_results, _numbered),
    ("annotations", _is_labelled, _labelled),
    ("messages", _is_llava, _llava),
    ("conversations", _is_llava, _llava),
)
