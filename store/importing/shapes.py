"""Lists of coins and of captioned pictures, in the shapes of services, datasets and labelling tools.

They become rows that name a picture as a table does (`file_name`), and its caption as `caption` or `text`.
One shape is one entry of `_SHAPES`: by what it is recognised, and how its rows are made.

    COCO captions    https://cocodataset.org/#format-data
    Label Studio     https://labelstud.io/guide/export (JSON)
    FiftyOne         https://docs.voxel51.com/user_guide/export_datasets.html (FiftyOneDataset)
    kohya            sd-scripts' metadata: a picture's name, with or without its ending → caption, tags
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from store.importing.metadata import address_in

Rows = list[Any]
_LISTS = ("tokens", "pairs", "coins", "data", "items", "results", "result", "included")  # what wraps a list
_KOHYA = {"caption", "tags", "train_resolution", "latents_npz", "train_resolution_bucket"}
_FILES = "_file_name"  # the end of a column that names a picture, where a row has several


def entries(value: Any) -> Rows | None:
    """The rows of a list in JSON, whatever its shape; None if it is no list."""
    if isinstance(value, list):
        return _labelled(value) if _is_labelled(value) else value
    if not isinstance(value, dict) or not value:
        return None
    return next((made(value) for fits, made in _SHAPES if fits(value)), None)


def single(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The row once for each picture that it names, as Hugging Face's `file_names` and `*_file_name` do."""
    names = row.get("file_names")
    columns = [key for key in row if key.endswith(_FILES)]
    if not isinstance(names, list):
        names = [row[key] for key in columns if isinstance(row[key], str)]
    if not names or "file_name" in row:
        yield dict(row)
        return
    rest = {key: value for key, value in row.items() if key not in (*columns, "file_names")}
    if "prompt" in rest and not rest.keys() & {"caption", "text"}:
        rest["text"] = rest.pop("prompt")
    for name in names:
        yield {**rest, "file_name": name}


def _wraps(value: Mapping[str, Any]) -> bool:
    is_coin = value.keys() & {"token_address", "address", "symbol", "ticker"}
    return not is_coin and any(isinstance(value.get(key), list | dict) for key in _LISTS)


def _wrapped(value: Mapping[str, Any]) -> Rows | None:
    return entries(next(value[key] for key in _LISTS if isinstance(value.get(key), list | dict)))


def _are_objects(value: Mapping[str, Any]) -> bool:
    return all(isinstance(one, dict) for one in value.values())


def _is_by_address(value: Mapping[str, Any]) -> bool:
    return _are_objects(value) and all(map(address_in, value))


def _by_address(value: Mapping[str, Any]) -> Rows:
    return [{"address": key, **one} for key, one in value.items()]


def _is_by_number(value: Mapping[str, Any]) -> bool:
    return _are_objects(value) and all(one.keys() & {"name", "symbol"} for one in value.values())


def _is_kohya(value: Mapping[str, Any]) -> bool:
    return _are_objects(value) and all(one.keys() & _KOHYA for one in value.values())


def _kohya(value: Mapping[str, Any]) -> Rows:
    return [{"file_name": key, **one} for key, one in value.items()]


def _is_coco(value: Mapping[str, Any]) -> bool:
    return all(isinstance(value.get(key), list) for key in ("images", "annotations"))


def _coco(value: Mapping[str, Any]) -> Rows:
    captions: defaultdict[Any, list[str]] = defaultdict(list)
    for one in value["annotations"]:
        if isinstance(one, dict) and isinstance(one.get("caption"), str):
            captions[one.get("image_id")].append(one["caption"])
    return [
        {"file_name": one["file_name"], "caption": captions[one.get("id")]}
        if isinstance(one, dict) and isinstance(one.get("file_name"), str)
        else one
        for one in value["images"]
    ]


def _is_fiftyone(value: Mapping[str, Any]) -> bool:
    samples = value.get("samples")
    return isinstance(samples, list) and all(isinstance(one, dict) and "filepath" in one for one in samples)


def _fiftyone(value: Mapping[str, Any]) -> Rows:
    return [
        {
            "file_name": one["filepath"],
            "tags": [tag for tag in one.get("tags") or [] if isinstance(tag, str)],
            **{key: _label(one[key]) for key in ("caption", "text", "description") if key in one},
        }
        for one in value["samples"]
    ]


def _label(value: Any) -> Any:
    """A text, or the text of FiftyOne's Classification."""
    return value.get("label", "") if isinstance(value, dict) else value


def _is_labelled(value: Rows) -> bool:
    return bool(value) and all(
        isinstance(one, dict) and isinstance(one.get("data"), dict) and "annotations" in one for one in value
    )


def _labelled(value: Rows) -> Rows:
    return [{**_picture_of(one["data"]), **_answers(one["annotations"])} for one in value]


def _picture_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Label Studio names an upload as `/data/upload/1/8a5b-frog.png` or `/data/local-files/?d=frog.png`."""
    name = str(next((data[key] for key in ("image", "img", "picture") if key in data), ""))
    return {"file_name": name.rpartition("?d=")[2].removeprefix("/data/upload/")}


def _answers(annotations: Any) -> dict[str, Any]:
    texts: list[str] = []
    tags: list[str] = []
    for one in annotations if isinstance(annotations, list) else []:
        for result in one.get("result", []) if isinstance(one, dict) else []:
            answer = result.get("value", {}) if isinstance(result, dict) else {}
            text = answer.get("text", [])
            texts += text if isinstance(text, list) else [text]
            tags += answer.get("choices", [])
    return {"caption": [one for one in texts if isinstance(one, str)], **({"tags": tags} if tags else {})}


_SHAPES: tuple[
    tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], Rows | None]], ...
] = (
    (_is_coco, _coco),
    (_is_fiftyone, _fiftyone),
    (_wraps, _wrapped),
    (_is_by_address, _by_address),
    (_is_kohya, _kohya),
    (_is_by_number, lambda value: list(value.values())),
)
