"""Lists and folders of coins as other programs and services have them, each in its own shape."""

import json
import math
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from store.importing import Candidate, Refusal, RemoteLogo, candidates
from store.importing.candidate import Passed
from store.importing.preview import ImportPreview

SOLANA = "6CKYMCqoD1s44cfT1k3iZ9AJvivqQVcfoGTf8kBVCpTA"
OTHER = "9VJiuPkAV1XsrJgitqLahYW4GSf3C7FdMudyT3C3j6Sq"
EVM = "0x95aD61b0a150d79219dCF64E1E6Cc01f0B64C4cE"
CID = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG"
LOGO = "https://example.org/frog.png"
FROG = {"name": "Frog", "symbol": "FROG"}


def png(color: str = "green") -> bytes:
    file = BytesIO()
    Image.new("RGB", (32, 32), color).save(file, "PNG")
    return file.getvalue()


def svg() -> bytes:
    return b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'


def written(folder: Path, name: str, content: bytes | Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


@pytest.mark.parametrize(
    "value",
    [
        [{"id": SOLANA, **FROG, "icon": LOGO, "decimals": 6}],
        [{"mint": SOLANA, **FROG, "image_uri": LOGO}],
        [{"tokenAddress": SOLANA, "icon": LOGO, **FROG}],
        {"pairs": [{"baseToken": {"address": SOLANA, **FROG}, "info": {"imageUrl": LOGO}}]},
        {"data": [{"attributes": {"address": SOLANA, **FROG, "image_url": LOGO}}]},
        {"data": {"1": {**FROG, "contract_address": SOLANA, "logo": LOGO}}},
        [{"contract_address": SOLANA, **FROG, "image": {"thumb": "x", "large": LOGO}}],
        [{"id": "frog", **FROG, "image": {"large": LOGO}, "platforms": {"": "", "solana": SOLANA}}],
        {"data": [{"id": 7, **FROG, "platform": {"name": "Solana", "token_address": SOLANA}, "logo": LOGO}]},
        {SOLANA: {**FROG, "logoURI": LOGO}},
        {"name": "A list", "tokens": [{"address": SOLANA, **FROG, "logoURI": LOGO}]},
        {"tokens": [{"address": SOLANA, **FROG, "logo_uri": LOGO}]},
        [{"address": SOLANA, **FROG, "properties": {"files": [{"uri": LOGO}]}}],
        {"data": [{"address": OTHER, "name": "FROG / SOL", "type": "pool"}],
         "included": [{"attributes": {"address": SOLANA, **FROG, "image_url": LOGO}}]},
        {"data": {"attributes": {"address": SOLANA, **FROG, "image_url": LOGO}}},
        {"data": {"FROG": [{**FROG, "logo": LOGO, "contract_address": [{"contract_address": SOLANA}]}]}},
        {"result": {"items": [{"id": SOLANA, "content": {"metadata": FROG, "links": {"image": LOGO}}}]}},
        {"name": "Raydium", "official": [{**FROG, "mint": SOLANA, "icon": LOGO}], "unOfficial": []},
        {"data": {"mintList": [{"address": SOLANA, **FROG, "logoURI": LOGO}], "blacklist": []}},
        {"code": 0, "data": {"rank": [{"address": SOLANA, **FROG, "logo": LOGO}]}},
        {"data": {"tokens": {"edges": [{"node": {"address": SOLANA, **FROG, "logoURI": LOGO}}]}}},
        {"solana": [{"address": SOLANA, **FROG, "logoURI": LOGO}]},
        {"FROG": {"name": "Frog", "address": SOLANA, "logo": LOGO}},
        {"coins": {f"solana:{SOLANA}": {**FROG, "logo": LOGO}}},
        [[{"Coin Mint": SOLANA, "Name": "Frog", "Ticker": "FROG", "ImageURL": LOGO}]],
        {"meta": {"v": 2}, "payload": {"pages": [{"entries": [{"address": SOLANA, **FROG, "icon": LOGO}]}]}},
        {"chain_name": "x", "assets": [{"address": SOLANA, **FROG, "logo_URIs": {"png": LOGO}}]},
        {"tokens": [{"address": SOLANA, **FROG, "logoURI": LOGO, "decimals": math.nan, "tags": {"a": 1}}]},
        {"latest": [{"token": {"mint": SOLANA, **FROG, "image": LOGO}, "pools": []}], "graduated": []},
        {"token": {"mint": SOLANA, **FROG, "image": LOGO}, "pools": [{"tokenAddress": SOLANA}]},
        {"data": {"filterTokens": {"results": [
            {"token": {"address": SOLANA, **FROG, "info": {"imageLargeUrl": LOGO}}, "priceUSD": "0.4"}]}}},
        {"mint": SOLANA, "token": {"supply": 7}, "tokenMeta": {**FROG, "uri": "x"},
         "fileMeta": {**FROG, "image": LOGO}, "topHolders": [{"address": OTHER}]},
        {"items": [{"address_hash": SOLANA, **FROG, "icon_url": LOGO}], "next_page_params": None},
        {"data": {"address": OTHER, "items": [
            {"contract_address": SOLANA, "contract_name": "Frog", "contract_ticker_symbol": "FROG",
             "contract_decimals": 6, "logo_url": LOGO}]}},
        {"data": [{"attributes": {**FROG, "icon": {"url": LOGO}, "implementations": [
            {"chain_id": "solana", "address": SOLANA, "decimals": 6}]}}]},
    ],
    ids=[
        *("jupiter v2", "pump.fun", "dexscreener profiles", "dexscreener pairs", "geckoterminal"),
        *("coinmarketcap by id", "coingecko", "coingecko coin", "coinmarketcap", "map by address"),
        *("token list", "with logo_uri", "metaplex", "geckoterminal pools", "geckoterminal token"),
        *("coinmarketcap by ticker", "helius", "raydium", "raydium v3", "gmgn", "graphql", "by chain"),
        *("by ticker", "defillama", "list in a list", "pages", "chain registry", "NaN and tags as an object"),
        *("solana tracker", "solana tracker token", "codex.io", "rugcheck", "blockscout"),
        *("covalent", "zerion"),
    ],
)  # fmt: skip
def test_a_list_of_any_shape_is_queued_with_its_logos(tmp_path: Path, value: object) -> None:
    [found] = candidates([written(tmp_path / "in", "coins.json", value)])
    assert isinstance(found, RemoteLogo)
    fields = found.sidecar
    assert (fields["token_name"], fields["ticker"], fields["token_address"]) == ("Frog", "FROG", SOLANA)
    assert found.uri == LOGO


def test_lines_of_a_stream_give_the_coins_in_them(tmp_path: Path) -> None:
    token = {
        "mint": SOLANA,
        **FROG,
        "image": LOGO,
        "decimals": 6,
        "creation": {"created_time": 1_733_900_000},
    }
    line = {"type": "message", "room": "latest", "data": {"token": token, "pools": [{"poolId": OTHER}]}}
    (tmp_path / "lines.jsonl").write_text(json.dumps(line))
    [found] = candidates([tmp_path / "lines.jsonl"])
    assert isinstance(found, RemoteLogo)
    said = found.sidecar
    assert (said["token_address"], said["decimals"], said["created_at"]) == (SOLANA, 6, 1_733_900_000)
    assert (said["token_name"], found.uri) == ("Frog", LOGO)


def test_fields_of_an_object_in_a_row_are_shown_and_its_date_counts(tmp_path: Path) -> None:
    token = {"mint": SOLANA, **FROG, "image": LOGO, "createdOn": "https://pump.fun"}
    rows = [
        {"token": {**token, "creation": {"created_time": 1749298225}}, "pools": [{"createdAt": 1}]},
        {"token": {**token, "mint": OTHER}, "pools": [{"createdAt": 1743276571192}]},
    ]
    preview = ImportPreview()
    found = [*candidates([written(tmp_path / "in", "coins.json", rows)], preview=preview)]
    dates = [one.sidecar["created_at"] for one in found if isinstance(one, RemoteLogo)]
    assert dates == [1749298225, 1743276571]
    [kind] = preview.kinds.values()
    assert {"mint": "token_address", "name": "token_name", "image": "picture"}.items() <= kind.fields.items()
    assert "token" not in kind.fields


@pytest.mark.parametrize(
    ("reference", "uri"),
    [
        ("//example.org/frog.png", "https://example.org/frog.png"),
        (
            "ar://kTrKvBo5bYvJ9lTLo9YcUOTeBhQ-hOq8VEzaTHIBJ8I",
            "ar://kTrKvBo5bYvJ9lTLo9YcUOTeBhQ-hOq8VEzaTHIBJ8I",
        ),
        (CID, f"ipfs://{CID}"),
    ],
)
def test_a_logo_may_have_any_form_of_address(tmp_path: Path, reference: str, uri: str) -> None:
    rows = [{"address": SOLANA, **FROG, "logoURI": reference}]
    [found] = candidates([written(tmp_path / "in", "coins.json", rows)])
    assert isinstance(found, RemoteLogo)
    assert found.uri == uri


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_a_logo_in_the_list_itself_needs_no_network(tmp_path: Path, is_wrapped: bool) -> None:
    logo = f"data:image/png;base64,{b64encode(png()).decode()}"
    rows = [{"address": SOLANA, **FROG, "logoURI": logo}]
    [coin] = candidates([written(tmp_path / "in", "coins.json", {"tokens": rows} if is_wrapped else rows)])
    assert isinstance(coin, Candidate)
    assert (coin.picture, coin.sidecar["token_address"]) == (png(), SOLANA)
    assert "logoURI" not in coin.sidecar


def test_a_folder_for_each_coin_gives_each_its_name_address_and_picture(tmp_path: Path) -> None:
    assets = tmp_path / "blockchains" / "solana" / "assets"
    written(assets, f"{SOLANA}/info.json", {**FROG, "id": SOLANA, "tags": ["meme"]})
    written(assets, f"{SOLANA}/logo.png", png())
    written(assets, f"{OTHER}/logo.svg", svg())  # without metadata
    shiba = {"name": "Shiba Inu", "symbol": "SHIB", "decimals": 18, "tokens": {"ethereum": {"address": EVM}}}
    written(tmp_path, "data/SHIB/data.json", shiba)
    written(tmp_path, "data/SHIB/logo.svg", svg())
    written(tmp_path, "data/SHIB/logo.png", png("red"))
    found = list(candidates([tmp_path]))
    coins = {coin.sidecar["token_address"]: coin for coin in found if isinstance(coin, Candidate)}
    assert len(coins) == len(found) == 3
    assert (coins[SOLANA].sidecar["token_name"], coins[SOLANA].sidecar["tags"]) == ("Frog", ["meme"])
    assert coins[OTHER].sidecar["token_name"] == OTHER
    [shib] = [coin for coin in coins.values() if coin.sidecar["ticker"] == "SHIB"]
    assert shib.sidecar["token_address"].lower() == EVM.lower()
    assert str(shib.picture).endswith("logo.png")


def test_a_folder_without_metadata_and_address_names_its_coin(tmp_path: Path) -> None:
    written(tmp_path, "FROG/logo.png", png())
    [coin] = candidates([tmp_path])
    assert isinstance(coin, Candidate)
    assert coin.sidecar["token_name"] == "FROG"


def test_a_list_of_what_is_traded_names_coins_by_their_addresses(tmp_path: Path) -> None:
    rows = [
        {"chainId": "solana", "tokenAddress": SOLANA, "icon": LOGO, "links": []}
    ]  # DexScreener's profiles
    [found] = candidates([written(tmp_path / "in", "coins.json", rows)])
    assert isinstance(found, RemoteLogo)
    assert (found.sidecar["token_name"], found.sidecar["ticker"], found.sidecar["chainId"]) == (
        SOLANA[:12], "", 101,
    )  # fmt: skip


def test_an_id_that_is_no_address_stays_what_it_is(tmp_path: Path) -> None:
    rows = [{"id": "frog", "symbol": "frog", "name": "Frog", "image": LOGO, "current_price": 1.2}]
    [found] = candidates([written(tmp_path / "in", "coins.json", rows)])
    assert isinstance(found, RemoteLogo)
    assert found.address.startswith("local-")
    assert (found.sidecar["id"], found.sidecar["current_price"]) == ("frog", 1.2)


def captioned(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Caption and tags of each coin, by the name of its picture."""
    found = list(candidates([folder]))
    assert all(isinstance(one, Candidate) for one in found), found
    return {
        one.picture_name or str(one.sidecar["token_name"]): (
            one.sidecar.get("caption", {}).get("entity", ""),
            one.sidecar.get("tags", []),
        )
        for one in found
        if isinstance(one, Candidate)
    }


HYDRUS = ["creator:some artist", "green", "frog"]
IMG2DATASET = {"caption": "a frog", "url": LOGO, "key": "a"}
COCO = {
    "images": [{"id": 1, "file_name": "a.png"}],
    "annotations": [{"image_id": 1, "caption": "a frog"}, {"image_id": 1, "caption": "in rain"}],
}
BOXES = {
    "images": [{"id": "1", "file_name": "a.png"}],
    "annotations": [{"image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4]}],
    "categories": [{"id": 3, "name": "frog"}],
}
FIFTYONE = {"samples": [{"filepath": "a.png", "tags": ["frog"], "caption": {"label": "a frog"}}]}
LABEL_STUDIO = [
    {
        "data": {"image": "/data/upload/a.png"},
        "annotations": [{"result": [{"value": {"text": ["a frog"]}}, {"value": {"choices": ["frog"]}}]}],
    }
]
TWO = {"a.png": png(), "b.png": png("red")}


@pytest.mark.parametrize(
    ("files", "captions"),
    [
        pytest.param({"a.png.txt": "\n".join(HYDRUS).encode()}, {"a": ("", HYDRUS)}, id="one tag a line"),
        pytest.param({"a.png.json": {"tags": ["frog"]}}, {"a": ("", ["frog"])}, id="json beside"),
        pytest.param({"a.caption": b"A frog sits."}, {"a": ("A frog sits.", [])}, id="caption"),
        pytest.param({"a.json": IMG2DATASET, "a.txt": b"a frog"}, {"a": ("a frog", [])}, id="img2dataset"),
        pytest.param({"m.json": {"a": {"caption": "a frog", "tags": "frog, rain"}}},
                     {"a": ("a frog", ["frog", "rain"])}, id="kohya"),
        pytest.param({"m.json": {"/set/a.png": {"caption": "a frog"}}}, {"a": ("a frog", [])}, id="absolute"),
        pytest.param({"t.csv": b"file_name,text\nC:\\set\\a.png,frog\n"}, {"a": ("frog", [])}, id="windows"),
        pytest.param({"t.csv": "file_name,text\na.png,une grenouille à la plage\n".encode("cp1252")},
                     {"a": ("une grenouille à la plage", [])}, id="cp1252"),
        pytest.param({"t.jsonl": {"image": {"path": "a.png", "bytes": None}, "text": "a frog"}},
                     {"a": ("a frog", [])}, id="image as object"),
        pytest.param({"t.jsonl": {"file_names": ["a.png", "b.png"], "text": "frogs"}, **TWO},
                     {"a": ("frogs", []), "b": ("frogs", [])}, id="file_names"),
        pytest.param({"t.csv": b"in_file_name,out_file_name,prompt\na.png,b.png,bluer\n", **TWO},
                     {"a": ("bluer", []), "b": ("bluer", [])}, id="several columns"),
        pytest.param({"coco.json": COCO}, {"a": ("a frog in rain", [])}, id="coco"),
        pytest.param({"coco.json": BOXES}, {"a": ("", ["frog"])}, id="coco boxes"),
        pytest.param({"a.txt": b"1girl solo long_hair"}, {"a": ("", ["1girl", "solo", "long_hair"])},
                     id="booru line"),
        pytest.param({"a.png.txt": b"frog\r\n"}, {"a": ("", ["frog"])}, id="one tag"),
        pytest.param({"a.txt": b"frog, green,\r\nmoon\r\n"},
                     {"a": ("", ["frog", "green", "moon"])}, id="tags in lines"),
        pytest.param({"a.TXT": b"frog, green, moon"},
                     {"a": ("", ["frog", "green", "moon"])}, id="other case"),
        pytest.param({"a.txt": b"frog, green, moon", "a.caption": b"A frog sits."},
                     {"a": ("A frog sits.", ["frog", "green", "moon"])}, id="tags and caption"),
        pytest.param({"a.png.json": {"tag_string": "1girl long_hair", "rating": "s"}},
                     {"a": ("", ["1girl", "long_hair"])}, id="danbooru"),
        pytest.param({"a.png.json": {"tag_string": "frog hat"}},
                     {"a": ("", ["frog", "hat"])}, id="no underscore"),
        pytest.param({"a.txt": b"frog, \\(smile\\), moon"}, {"a": ("", ["frog", "(smile)", "moon"])},
                     id="escaped brackets"),
        pytest.param({"m.json": {"/set/a": {"caption": "a frog"}}}, {"a": ("a frog", [])},
                     id="absolute without ending"),
        pytest.param({"t.csv": b"id,image,caption\n1,/data/upload/1/8a5b1234-a.png,a frog\n"},
                     {"a": ("a frog", [])}, id="Label Studio's CSV"),
        pytest.param({"t.json": [{"image": "/data/local-files/?d=set/a.png", "caption": "a frog"}]},
                     {"a": ("a frog", [])}, id="Label Studio's JSON-MIN"),
        pytest.param({"t.jsonl": {"file_name": "a.png", "prompt": "a frog", "negative_prompt": "dog"}},
                     {"a": ("a frog", [])}, id="prompt"),
        pytest.param({"a.json": {"tags": {"general": ["frog"], "artist": ["bob"]}}},
                     {"a": ("", ["frog", "bob"])}, id="e621"),
        pytest.param({"a.json": {"post": {"id": 1, "tags": {"general": ["frog"]}}}},
                     {"a": ("", ["frog"])}, id="e621's answer"),
        pytest.param({"m.json": {"a": "a frog"}}, {"a": ("a frog", [])}, id="names without ending"),
        pytest.param({"m.json": [["a.png", "a frog"]]}, {"a": ("a frog", [])}, id="pairs"),
        pytest.param({"m.json": {"images": [
                     {"filename": "a.png", "sentences": [{"raw": "A frog."}, {"raw": "It."}]}]}},
                     {"a": ("A frog. It.", [])}, id="Karpathy's splits"),
        pytest.param({"m.json": [{"image": {"url": "a.png"}, "caption": "a frog"}]},
                     {"a": ("a frog", [])}, id="a picture in an object"),
        pytest.param({"m.json": {"sub/a.PNG": {"caption": "a frog"}}},
                     {"a": ("a frog", [])}, id="other folder"),
        pytest.param({"m.json": {"a.png": "a frog"}}, {"a": ("a frog", [])}, id="captions by picture"),
        pytest.param({"captions.txt": b"image,caption\na.png,A frog.\na.png,It sits.\n"},
                     {"a": ("A frog. It sits.", [])}, id="flickr8k"),
        pytest.param({"r.csv": b"image_name| comment_number| comment\na.png|0|A frog.\na.png|1| It sits.\n"},
                     {"a": ("A frog. It sits.", [])}, id="flickr30k"),
        pytest.param({"all.txt": b"a.png|a frog\n"}, {"a": ("a frog", [])}, id="a picture in each line"),
        pytest.param({"m.json": [{"id": "a", "image": "a.png", "conversations": [
                     {"from": "human", "value": "?"}, {"from": "gpt", "value": "a frog"}]}]},
                     {"a": ("a frog", [])}, id="llava"),
        pytest.param({"m.json": b'{"file": "a.png", "text": "a"}\n{"file": "b.png", "text": "b"}', **TWO},
                     {"a": ("a", []), "b": ("b", [])}, id="lines in json"),
        pytest.param({"m.jsonl": '{"file_name": "a.png", "text": "é"}'.encode("utf-16")},
                     {"a": ("é", [])}, id="utf-16"),
        pytest.param({"t.csv": "file_name,text\na.png,一只青蛙\n".encode("gbk")},
                     {"a": ("一只青蛙", [])}, id="gbk"),
        pytest.param({"a.json": '{"caption": "été"}'.encode("cp1252")},
                     {"a": ("été", [])}, id="json in cp1252"),
        pytest.param({"samples.json": FIFTYONE}, {"a": ("a frog", ["frog"])}, id="fiftyone"),
        pytest.param({"project.json": LABEL_STUDIO}, {"a": ("a frog", ["frog"])}, id="label studio"),
        pytest.param({"p.json": [{"data": {"image": "a.png"}, "annotations": [],
                     "predictions": [{"result": [{"value": {"text": ["a frog"]}}]}]}]},
                     {"a": ("a frog", [])}, id="label studio's predictions"),
        pytest.param({"labels.json": {"classes": ["dog", "frog"], "labels": {"a": 1}}},
                     {"a": ("", ["frog"])}, id="fiftyone's classes"),
        pytest.param({"m.json": {"a": {"caption": "a frog"}, "b": {}}, **TWO},
                     {"a": ("a frog", []), "b": ("", [])}, id="kohya with an empty one"),
        pytest.param({"a.png.json": ["frog", "hat"]}, {"a": ("", ["frog", "hat"])}, id="a list of tags"),
        pytest.param({"a.json": {"general": {"frog": 0.9}, "rating": {"safe": 1.0}}},
                     {"a": ("", ["frog"])}, id="a tagger's scores"),
        pytest.param({"m.json": [{"images": ["a.png", "b.png"], "messages": [
                     {"role": "user", "content": "?"}, {"role": "assistant", "content": "frogs"}]}], **TWO},
                     {"a": ("frogs", []), "b": ("frogs", [])}, id="llava with several pictures"),
        pytest.param({"captions/a.txt": b"A frog sits."}, {"a": ("A frog sits.", [])}, id="texts apart"),
        pytest.param({"c.in.png": png("red"), "c.txt": b"A frog sits."},
                     {"a": ("", []), "c.in": ("A frog sits.", [])}, id="key of WebDataset"),
        pytest.param({"t.csv": b"file_name,text\na.png,a frog\nb.png,\n", **TWO,
                      "a.txt": b"A toad.", "b.txt": b"A toad."},
                     {"a": ("a frog", []), "b": ("A toad.", [])}, id="texts of rows without one"),
        pytest.param({"c.txt": b"a.png: a frog, green\r\nb.png a toad\n", **TWO},
                     {"a": ("a frog, green", []), "b": ("a toad", [])}, id="lines of names and texts"),
        pytest.param({"c.json": {"a.png": {"caption": "a frog", "tags": ["x"]}, "b.png": "a toad"}, **TWO},
                     {"a": ("a frog", ["x"]), "b": ("a toad", [])}, id="by name, in two forms"),
        *(pytest.param({name: b'{\n "file": "a.png",\n "text": "a frog"\n}\r\n{\n "file": "b.png"\n}', **TWO},
                       {"a": ("a frog", []), "b": ("", [])}, id=f"objects over lines of {name}")
          for name in ("c.json", "c.jsonl")),
        pytest.param({"c.json": [["file", "caption"], ["a.png", "a frog"]]}, {"a": ("a frog", [])},
                     id="lists below names of columns"),
        pytest.param({"a.txt": b"0 0.5 0.5 0.1 0.1\n1 0.1 .2 1 0\n"}, {"a": ("", [])}, id="boxes of YOLO"),
        pytest.param({"t.csv": b"filename,class,xmin,ymin\na.png,frog,1,2\na.png,hat,1,2\n"},
                     {"a": ("", ["frog", "hat"])}, id="boxes in rows"),
        pytest.param({"via.json": {"a.png9": {"filename": "a.png", "file_attributes": {"caption": "a frog"},
                     "regions": [{"region_attributes": {"name": "hat"}}]}}},
                     {"a": ("a frog", ["hat"])}, id="via"),
        pytest.param({"ann/a.png.json": {"caption": "a frog"}}, {"a": ("a frog", [])}, id="json apart"),
        pytest.param({"m.jsonl": b'{"image_id": "a", "caption": "a frog"}'},
                     {"a": ("a frog", [])}, id="a line by the number of its picture"),
        pytest.param({"m.jsonl": b'{"images": ["a.png"], "messages": [{"role": "assistant", '
                     b'"content": "frog"}]}'}, {"a": ("frog", [])}, id="llava in lines"),
        pytest.param({"c.image.png": png("red"), "c.caption.txt": b"A frog.", "c.meta.json": {"x": 1}},
                     {"a": ("", []), "c.image": ("A frog.", [])}, id="text and json by WebDataset's key"),
        pytest.param({"result.json": {"name": "frogs", "messages": [
                     {"photo": "a.png", "date_unixtime": "1714557600",
                      "text": ["a ", {"type": "bold", "text": "frog"}]}, {"text": "no picture"}]}},
                     {"a": ("a frog", [])}, id="telegram"),
        pytest.param({"d.json": {"messages": [{"content": "a frog", "timestamp": "2024-05-01T10:00:00+00:00",
                     "attachments": [{"id": "5", "fileName": "a.png", "url": "https://x/a.png"}]}]}},
                     {"a": ("a frog", [])}, id="discord"),
    ],
)  # fmt: skip
def test_pictures_come_with_the_captions_that_stand_beside_them(
    tmp_path: Path, files: dict[str, Any], captions: dict[str, tuple[str, list[str]]]
) -> None:
    for name, content in {"a.png": png(), **files}.items():
        written(tmp_path, name, content)
    assert captioned(tmp_path) == captions


def test_a_picture_of_eagle_has_its_fields_and_no_thumbnail(tmp_path: Path) -> None:
    about = {
        "name": "f",
        "ext": "png",
        "annotation": "a frog",
        "tags": ["x"],
        "width": 9,
        "url": "https://page",
    }
    for name, content in {"metadata.json": about, "f.png": png("red"), "f_thumbnail.png": png()}.items():
        written(tmp_path, f"E.info/{name}", content)
    coin, passed = candidates([tmp_path])
    assert (coin.sidecar["token_name"], coin.sidecar["tags"]) == ("f", ["x"])
    assert coin.sidecar["caption"] == {"entity": "a frog"}
    assert isinstance(passed, Passed)


def test_column_names_of_further_languages_are_known(tmp_path: Path) -> None:
    written(tmp_path, "a.png", png())
    table = "название,тикер,картинка,дата\nЛягушка,ЛЯГ,a.png,1 мая 2024\n".encode("cp1251")
    [coin] = [*candidates([written(tmp_path, "t.csv", table)])]
    assert (coin.sidecar["token_name"], coin.sidecar["ticker"]) == ("Лягушка", "ЛЯГ")
    assert coin.sidecar["created_at"] == 1_714_521_600


def test_a_parquet_file_has_its_pictures_inside_or_beside_it(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    written(tmp_path, "a.png", png())
    pq.write_table(pa.table({"file_name": ["a.png"], "text": ["a frog"]}), tmp_path / "metadata.parquet")
    assert captioned(tmp_path) == {"a": ("a frog", [])}
    image = {"bytes": png("red"), "path": "r.png"}
    inside = tmp_path / "inside"
    inside.mkdir()
    pq.write_table(
        pa.table({"image": [image], "text": ["a red square"], "name": ["Red"]}), inside / "0.parquet"
    )
    assert captioned(inside) == {"Red": ("a red square", [])}


def test_a_parquet_file_has_lists_of_pictures_classes_and_addresses(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    images = [[{"bytes": png(), "path": "a.png"}, {"bytes": png("red"), "path": "b.png"}]]
    features = {"label": {"names": ["dog", "frog"], "_type": "ClassLabel"}}
    table = pa.table({"images": images, "label": [1], "text": ["two"]})
    described = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    (tmp_path / "images").mkdir()
    pq.write_table(described, tmp_path / "images" / "train-00000-of-00001.parquet")
    assert captioned(tmp_path / "images") == {"a": ("two", ["frog"]), "b": ("two", ["frog"])}
    pq.write_table(pa.table({"URL": [LOGO], "TEXT": ["a frog"], "WIDTH": [9]}), tmp_path / "laion.parquet")
    [found] = candidates([tmp_path / "laion.parquet"])
    assert isinstance(found, RemoteLogo)
    assert (found.uri, found.sidecar["caption"]) == (LOGO, {"entity": "a frog"})


def test_a_picture_in_a_row_itself_may_be_coded(tmp_path: Path) -> None:
    written(tmp_path, "t.jsonl", {"image": b64encode(png()).decode(), "text": "a frog"})
    assert captioned(tmp_path) == {"t 1": ("a frog", [])}


@pytest.mark.parametrize("logo", ["logo.png", "LOGO.PNG", "logo-256.png", "token-icon_64x64.png", "frog.png"])
@pytest.mark.parametrize("metadata", ["info.json", "Metadata.JSON"])
def test_a_coins_folder_has_one_picture_whatever_it_is_called(
    tmp_path: Path, logo: str, metadata: str
) -> None:
    written(tmp_path, f"assets/{SOLANA}/{metadata}", {"name": None, "symbol": "FROG", "tags": {"meme": True}})
    written(tmp_path, f"assets/{SOLANA}/{logo}", png())
    [coin] = candidates([tmp_path])
    assert isinstance(coin, Candidate)
    fields = coin.sidecar
    assert (fields["token_name"], fields["token_address"], fields["tags"]) == ("FROG", SOLANA, ["meme"])


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.psd", b"8BPS", "save it as PNG"),
        ("t.xlsx", b"PK", "save it as CSV"),
        ("notes.md", b"# x", "a document"),
        ("a.npz", b"PK", "numbers of a model"),
        ("b.xml", b"<x/>", "COCO"),
        ("00000_stats.json", {"count": 2, "successes": 2, "failed_to_download": 0}, "img2dataset's figures"),
        ("dataset_infos.json", {"default": {"features": {}}}, "a description of a dataset"),
        ("pond.af", {"agents": [{"name": "Ada's"}], "blocks": [{"label": "human"}]}, "agents of Letta"),
        ("chain.json", {"chain_name": "x", "apis": {"rpc": [{"address": "https://x"}]}}, "of a chain"),
        ("a.mp3", b"ID3", "a recording"),
        ("lonely.txt", b"a frog", "no picture here has its name"),
    ],
)
def test_what_is_known_and_not_read_is_named(tmp_path: Path, name: str, content: Any, reason: str) -> None:
    [found] = candidates([written(tmp_path / "in", name, content)])
    assert isinstance(found, Refusal)
    assert reason in found.reason


def test_files_about_a_folder_are_named_and_are_no_error(tmp_path: Path) -> None:
    about = ("README", "README.de.md", "LICENSE.txt", "package.json", "index.js", "latents.npz", "yarn.lock")
    for name in about:
        written(tmp_path / "in", name, b'{"name": "lists"}')
    for name in ("Notice.png", "Notice.txt"):  # a coin that is called so
        written(tmp_path / "in", name, png() if name.endswith("png") else b"a frog, green, hat")
    shown = ImportPreview()
    found = [*candidates([tmp_path / "in"], preview=shown)]
    assert {Path(one.item).name for one in found if isinstance(one, Passed)} == {*about}
    [coin] = [one for one in found if isinstance(one, Candidate)]
    assert (coin.sidecar["tags"], shown.refused) == (["a frog", "green", "hat"], [])
    assert {name for kind in shown.kinds.values() for name in kind.names} >= {"in/README", "in/index.js"}
    [alone] = candidates([tmp_path / "in" / "README"])
    assert type(alone) is Refusal, "nobody means a README alone"


def test_a_path_says_address_and_chain_of_its_picture(tmp_path: Path) -> None:
    written(
        tmp_path,
        f"metadata/eip155:56/erc20:{EVM}.json",
        {**FROG, "logo": f"./icons/eip155:56/erc20:{EVM}.svg"},
    )
    written(tmp_path, f"icons/eip155:56/erc20:{EVM}.svg", svg())
    written(tmp_path, f"blockchains/base/assets/{EVM}/logo.png", png())
    written(tmp_path, f"assets/43114/{EVM}/logo_48.png", png("blue"))
    written(tmp_path, f"batch/7/{EVM}.png", png("red"))
    coins = [one.sidecar for one in candidates([tmp_path]) if isinstance(one, Candidate)]
    assert {(coin["token_name"], coin["token_address"], coin.get("chainId")) for coin in coins} == {
        ("Frog", EVM.lower(), 56), (EVM, EVM.lower(), 8453),
        (EVM, EVM.lower(), 43114), (EVM, EVM.lower(), None),
    }  # fmt: skip


def test_a_folder_called_by_an_address_has_one_logo_in_several_sizes(tmp_path: Path) -> None:
    for size in ("24", "48", "128"):
        written(tmp_path, f"assets/smartchain/{EVM}/logo_{size}.png", png())
    for number in range(2):
        written(tmp_path, f"pack/image{number}.png", png(("red", "blue")[number]))
    found = [*candidates([tmp_path])]
    coins = [one for one in found if isinstance(one, Candidate)]
    assert [Path(str(one.picture)).name for one in coins] == ["logo_128.png", "image0.png", "image1.png"]
    assert (coins[0].sidecar["token_address"], coins[0].sidecar["chainId"]) == (EVM.lower(), 56)
    assert {one.reason for one in found if isinstance(one, Passed)} == {
        "the logo of its folder in another size"
    }


def test_a_further_file_in_a_coins_folder_is_named_and_is_no_error(tmp_path: Path) -> None:
    for name, content in {"data.json": {**FROG, "address": SOLANA}, "mismatches.json": FROG}.items():
        written(tmp_path, f"FROG/{name}", content)
    written(tmp_path, "FROG/logo.png", png())
    coin, further = candidates([tmp_path])
    assert isinstance(coin, Candidate)
    assert (type(further), further.item.rpartition("/")[2]) == (Passed, "mismatches.json")


def test_a_value_of_a_map_that_is_no_object_costs_itself_alone(tmp_path: Path) -> None:
    coins = {SOLANA: {**FROG, "logoURI": LOGO}, OTHER: None, EVM: {**FROG, "logoURI": LOGO}}
    found = [*candidates([written(tmp_path / "in", "coins.json", coins)])]
    assert [type(one) for one in found] == [RemoteLogo, Refusal, RemoteLogo]


def test_an_address_that_a_map_has_twice_costs_no_other_coin(tmp_path: Path) -> None:
    other = json.dumps({"name": "Other", "logo": "a.png"})
    listed = f'{{"{EVM}": {json.dumps({**FROG, "logo": "a.png"})}, "{SOLANA}": {other}, "{EVM}": {other}}}'
    written(tmp_path, "map.json", listed.encode())
    written(tmp_path, "a.png", png())
    coins = [one.sidecar for one in candidates([tmp_path]) if isinstance(one, Candidate)]
    assert sorted(coin["token_name"] for coin in coins) == ["Frog", "Other"]


def test_coins_that_name_the_same_picture_all_have_it(tmp_path: Path) -> None:
    written(tmp_path, "images/old.svg", svg())
    rows = [{"address": address, "name": address[:4], "logo": "old.svg"} for address in (SOLANA, OTHER)]
    written(tmp_path, "map.json", rows)
    assert [type(one) for one in candidates([tmp_path])] == [Candidate, Candidate]


def test_a_coin_in_a_file_of_its_own_finds_the_picture_that_is_called_by_its_address(tmp_path: Path) -> None:
    (tmp_path / f"{SOLANA}.png").write_bytes(png())
    coin = {**FROG, "id": "frog", "platforms": {"solana": SOLANA}, "image": {"large": LOGO}}
    (found,) = candidates([written(tmp_path, "frog.json", coin)])
    assert isinstance(found, Candidate)
    assert (found.sidecar["token_address"], found.sidecar["token_name"]) == (SOLANA, FROG["name"])
