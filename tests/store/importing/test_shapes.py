"""Lists and folders of coins as other programs and services have them, each in its own shape."""

import json
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from store.importing import Candidate, RemoteLogo, candidates

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
    ],
    ids=[
        *("jupiter v2", "pump.fun", "dexscreener profiles", "dexscreener pairs", "geckoterminal"),
        *(
            "coinmarketcap by id",
            "coingecko",
            "coingecko coin",
            "coinmarketcap",
            "map by address",
            "token list",
            "with logo_uri",
            "metaplex",
        ),
    ],
)
def test_a_list_of_any_shape_is_queued_with_its_logos(tmp_path: Path, value: object) -> None:
    [found] = candidates([written(tmp_path / "in", "coins.json", value)])
    assert isinstance(found, RemoteLogo)
    fields = found.sidecar
    assert (fields["token_name"], fields["ticker"], fields["token_address"]) == ("Frog", "FROG", SOLANA)
    assert found.uri == LOGO


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
        pytest.param({"samples.json": FIFTYONE}, {"a": ("a frog", ["frog"])}, id="fiftyone"),
        pytest.param({"project.json": LABEL_STUDIO}, {"a": ("a frog", ["frog"])}, id="label studio"),
    ],
)  # fmt: skip
def test_pictures_come_with_the_captions_that_stand_beside_them(
    tmp_path: Path, files: dict[str, Any], captions: dict[str, tuple[str, list[str]]]
) -> None:
    for name, content in {"a.png": png(), **files}.items():
        written(tmp_path, name, content)
    assert captioned(tmp_path) == captions


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
