"""Folders to import, written and imported in one call."""

import io
import json
import zipfile

from PIL import Image

from store.importing import Candidate, Refusal, candidates, uploaded

MINT = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"


OTHER = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"


EVM = "0x" + "aB" * 20


def png(colour="red"):
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(buffer, "PNG")
    return buffer.getvalue()


def sidecar(**changes):
    whole = {
        "token_name": "Doge Coin",
        "ticker": "DOGE",
        "description": "Much wow",
        "token_address": MINT,
        "created_at": 1_693_440_000,
    }
    return whole | changes


def write_files(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict | list):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def split_results(found):
    coins, refused = [], {}
    for one in found:
        if isinstance(one, Candidate):
            coins.append(one)
        else:
            assert isinstance(one, Refusal)
            refused[one.item] = one.reason
    return coins, refused


def zipped(entries, *, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def import_folder(folder, files):
    return split_results(candidates([write_files(folder / "in", files)]))


def import_folder_with_all_refusals(folder, files):
    """The coins, and every refusal with its item, including several refusals of one item."""
    found = list(candidates([write_files(folder / "in", files)]))
    refused = [(one.item, one.reason) for one in found if isinstance(one, Refusal)]
    return [one for one in found if isinstance(one, Candidate)], refused


def import_uploads(files):
    return split_results(
        uploaded(
            (name, json.dumps(v).encode() if isinstance(v, dict | list) else v) for name, v in files.items()
        )
    )
