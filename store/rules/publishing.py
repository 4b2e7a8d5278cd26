"""Publish decisions as a folder of plain files for any static host, signed so that anybody can verify it.

tokenlist.json     the approved coins, by the Token List schema and its rule for versions
changes.html       what changed since the list that the folder had
rejected/*.html    an evidence sheet for each rejected coin
index.html         what there is
manifest.json      the SHA-256 of each file, and the public key; manifest.sig its Ed25519 signature
"""

import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from PIL import Image, ImageChops, ImageOps

from store.catalog import confusables
from store.catalog.filters import Filter
from store.disk.files import Disk
from store.disk.images import QUALITY
from store.errors import BadSource, InvalidRecord, MemedexError
from store.exporting import token_list
from store.outcome import Refusal
from store.progress import Progress
from store.reading.reader import Reader
from store.records import Record
from store.rules import families
from store.rules.families import Member, Told, day

MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
KEY = "publishing-key.pem"  # next to memecoins/
_FORMAT = "memedex publication 1"
_REJECTED = "rejected"

_NAME = re.compile(r"[A-Za-z0-9_ ]{1,30}")  # by the standard's schema
_NAMES = "give 1 to 30 letters from A to Z, digits and spaces"
_SIDE = 320  # px
_VISIBLE = 40  # of 255: less is what JPEG changes
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:1060px;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}figure{display:inline-block;margin:0 1rem 1rem 0;vertical-align:top}"
    "img{width:320px;max-width:100%;border-radius:8px}figcaption{max-width:320px}"
    "mark{background:#ffd54d;color:#000}table{border-spacing:1rem .2rem;margin-left:-1rem}"
    "th{text-align:left;vertical-align:top}code{overflow-wrap:anywhere}"
)
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
{body}
</html>
"""


@dataclass(frozen=True, slots=True)
class Published:
    """What a folder holds now."""

    version: str  # of the list
    tokens: int
    sheets: int
    key: str  # with which it is signed; people compare it
    refused: list[Refusal]


@dataclass(slots=True)
class Verified:
    """Whose folder it is, and what is wrong with it."""

    key: str = ""
    at: str = ""
    files: int = 0
    faults: list[str] = field(default_factory=list)


def publish(
    reader: Reader,
    folder: Path,
    *,
    key: Path | None = None,
    filter: Filter | None = None,
    name: str = "Memedex",
    progress: Progress | None = None,
) -> Published:
    """Write the folder, or what changed since it was written; coins that no list can name are refused.

    `key` is a file with an Ed25519 private key, made if there is none; by default it lies next to
    `memecoins/`. `filter` narrows the coins. Raises BadSource for a folder of other files, for a key that
    cannot be used, and for more coins than a list may have; InvalidRecord for a name that no list may have.
    """
    progress = progress or Progress()
    if not _NAME.fullmatch(name):
        raise InvalidRecord(f"a Token List cannot be called {name[:60]!r}: {_NAMES}")
    _check_is_ours(folder)
    signing = _signing_key(key or reader.layout.root / KEY)
    refused, files = list[Refusal](), dict[str, bytes]()
    _add_list(reader, filter or Filter(), name, folder, files, refused)
    rejected = reader.find(_narrowed(filter, "trash"), sort="name")
    progress.what, progress.total = "evidence", len(rejected)
    listed = []
    for record in rejected:
        if progress.cancelled:
            raise BadSource("it was stopped; the folder is as it was")
        told = families.tell(reader, record.address)
        original = next(iter(reader.records([told.member.of])), None) if told.member.of else None
        sheet = f"{_REJECTED}/{record.address}.html"
        files[sheet] = evidence_sheet(reader, told, original, actor=_who_rejected(reader, record.address))
        listed.append(f'<li><a href="{escape(sheet)}">{escape(record.name)}</a> {escape(told.sentence)}</li>')
        progress.done += 1
    tokens = json.loads(files[token_list.FILE])
    version = ".".join(str(tokens["version"][part]) for part in ("major", "minor", "patch"))
    files["index.html"] = html_page(
        name,
        f'<h1>{escape(name)}</h1><p><a href="{token_list.FILE}">Token list {version}</a>, '
        f'{len(tokens["tokens"]):,} coins (<a href="changes.html">changes</a>)</p>'
        f"<h2>Rejected: {len(listed):,}</h2><ul>{''.join(listed)}</ul>",
    )
    _write(folder, files, signing)
    return Published(version, len(tokens["tokens"]), len(listed), public_key(signing.public_key()), refused)


def verify(folder: Path, *, expected: str = "") -> Verified:
    """Compare a published folder with its manifest, signed by `expected`. Raises BadSource without."""
    manifest, content = _manifest(folder)
    if manifest is None:
        raise BadSource(f"{folder} has no {MANIFEST}: nothing was published there")
    found = Verified()
    try:
        found.key, found.at, files = manifest["public_key"], manifest["published_at"], manifest["files"]
        key = Ed25519PublicKey.from_public_bytes(b64decode(found.key.removeprefix("ed25519:"), validate=True))
        key.verify(b64decode((folder / SIGNATURE).read_bytes(), validate=True), content)
        if not isinstance(files, dict):
            raise TypeError("files")
    except (InvalidSignature, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        why = "does not match" if isinstance(error, InvalidSignature) else "is missing or damaged"
        found.faults.append(f"the signature of {MANIFEST} {why}: trust nothing in this folder")
        return found
    if expected and expected.strip() != found.key:
        found.faults.append(f"it is signed by {found.key}, not by {expected.strip()}")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    found.files = len(files)
    for name, said in sorted(files.items()):
        if name not in there:
            found.faults.append(f"{name} is missing")
        elif said != _sum((folder / name).read_bytes()):
            found.faults.append(f"{name} was changed after it was signed")
    others = there - files.keys() - {MANIFEST, SIGNATURE}
    found.faults += [f"{name} is not in the manifest" for name in sorted(others) if not name.startswith(".")]
    return found


def public_key(key: Ed25519PublicKey) -> str:
    """A public key as people compare it."""
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return f"ed25519:{b64encode(raw).decode()}"


def _add_list(
    reader: Reader, filter: Filter, name: str, folder: Path, files: dict[str, bytes], refused: list[Refusal]
) -> None:
    """The list and the page of its changes; both stay as they are while the tokens do."""
    chosen = []
    for record in [*reader.find(_narrowed(filter, "approved")), *reader.find(_narrowed(filter, "library"))]:
        try:
            token_list.check_token(record)
            chosen.append(record)
        except MemedexError as error:
            refused.append(Refusal(record.address, str(error)))
    if refused and not chosen:
        first = refused[0]
        raise BadSource(f"none of {len(refused):,} coins can be in a list; {first.item}: {first.reason}")
    chosen.sort(key=lambda record: record.address)
    path = folder / token_list.FILE
    before = json.loads(path.read_bytes()) if path.exists() else None
    made = token_list.token_list(chosen, name=name, previous=before)
    if before and made["version"] == before["version"] and (folder / "changes.html").exists():
        files[token_list.FILE] = path.read_bytes()
        files["changes.html"] = (folder / "changes.html").read_bytes()
        return
    files[token_list.FILE] = json.dumps(made, ensure_ascii=False, indent=2).encode()
    files["changes.html"] = html_page("Changes", _changes(before["tokens"] if before else [], made["tokens"]))


def _changes(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> str:
    old, new = ({(one["chainId"], one["address"]): one for one in tokens} for tokens in (before, now))
    parts = {
        "Added": [new[key] for key in new.keys() - old.keys()],
        "Removed": [old[key] for key in old.keys() - new.keys()],
        "Changed": [new[key] for key in new.keys() & old.keys() if new[key] != old[key]],
    }
    body = "<h1>Changes since the last list</h1>"
    for title, tokens in parts.items():
        lines = sorted(
            f"<li>{escape(one['name'])} ({escape(one['symbol'])}) <code>{escape(one['address'])}</code></li>"
            for one in tokens
        )
        body += f"<h2>{title}: {len(tokens):,}</h2><ul>{''.join(lines)}</ul>"
    return body


def _narrowed(filter: Filter | None, tier: Any) -> Filter:
    return replace(filter or Filter(), tier=tier)


def _who_rejected(reader: Reader, address: str) -> str:
    row = reader.catalog.row(
        "SELECT who FROM history WHERE address = ? AND after ->> 'tier' = 'trash' "
        "AND before ->> 'tier' IS NOT 'trash' AND verb NOT IN ('undo', 'redo') ORDER BY id DESC LIMIT 1",
        [address],
    )
    return str(row[0]) if row else "somebody before the history begins"


def _check_is_ours(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()) and _manifest(folder)[0] is None:
        raise BadSource(f"{folder} has other files: name an empty folder, or one that was published to")


def _manifest(folder: Path) -> tuple[dict[str, Any] | None, bytes]:
    try:
        content = (folder / MANIFEST).read_bytes()
        value = json.loads(content)
    except (OSError, ValueError):
        return None, b""
    is_ours = isinstance(value, dict) and value.get("format") == _FORMAT
    return (value if is_ours else None), content


def _signing_key(path: Path) -> Ed25519PrivateKey:
    """The key in this file, made if there is none; nobody else may read it."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        key = Ed25519PrivateKey.generate()
        content = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return key
    try:
        found = serialization.load_pem_private_key(content, password=None)
    except (ValueError, TypeError) as error:
        raise BadSource(f"{path} is no private key without a password: {error}") from error
    if not isinstance(found, Ed25519PrivateKey):
        raise BadSource(f"{path} is no Ed25519 key; `openssl genpkey -algorithm ed25519` makes one")
    return found


def _write(folder: Path, files: Mapping[str, bytes], signing: Ed25519PrivateKey) -> None:
    """Write what changed, remove what an earlier publication had and this one has not, and sign last."""
    disk, earlier = Disk(), (_manifest(folder)[0] or {}).get("files", {})
    disk.make_folder(folder / _REJECTED)
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            disk.replace(path, content)
    manifest = {
        "format": _FORMAT,
        "published_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "public_key": public_key(signing.public_key()),
        "files": {name: _sum(content) for name, content in sorted(files.items())},
    }
    written = json.dumps(manifest, ensure_ascii=False, indent=1).encode()
    disk.replace(folder / MANIFEST, written)
    disk.replace(folder / SIGNATURE, b64encode(signing.sign(written)))
    for name in earlier.keys() - files.keys():
        path = folder / name
        if path.is_file() and folder.resolve() in path.resolve().parents:
            path.unlink()


def _sum(content: bytes) -> str:
    return sha256(content).hexdigest()


def html_page(title: str, body: str) -> bytes:
    """An HTML file that loads nothing; `body` is HTML already."""
    return _PAGE.format(policy=_POLICY, title=escape(title), style=_STYLE, body=body).encode()


def evidence_sheet(reader: Reader, told: Told, original: Record | None, *, actor: str) -> bytes:
    """The sheet of a coin that `actor` rejected, beside the coin that it is a copy of."""
    one = told.member
    figures = [_figure(_picture(reader, one.address), "The rejected coin")]
    rows = [("Address", f"<code>{escape(one.address)}</code>")]
    name, ticker = escape(one.name), escape(one.ticker)
    if original is not None:
        own, other = _picture(reader, one.address), _picture(reader, original.address)
        figures.append(_figure(other, f"{original.name}, of which it is a copy"))
        if own and other:
            figures.append(_figure(_difference(own, other, one), "Where both differ, in red"))
        name, ticker = _marked(one.name, original.name), _marked(one.ticker, original.ticker)
    rows += [("Name", name), ("Ticker", ticker), ("Created", day(one.created_at))]
    if original is not None:
        rows += [
            (
                "Copy of",
                f"{escape(original.name)} ({escape(original.ticker)}), created {day(original.created_at)}",
            ),
            ("", f"<code>{escape(original.address)}</code>"),
            ("By", f"{escape(', '.join(one.done))}; {one.sure:.0%} sure"),
        ]
    rows += [
        ("Rejected", f"{day(one.rejected_at)} by {escape(actor)}"),
        ("Reason", escape(one.reason) or "none was given"),
    ]
    table = "".join(f"<tr><th>{head}</th><td>{text}</td></tr>" for head, text in rows)
    body = f"<h1>{escape(one.name)}: rejected</h1><p>{escape(told.sentence)}</p>"
    return html_page(f"{one.name}: rejected", f"{body}<div>{''.join(figures)}</div><table>{table}</table>")


def _picture(reader: Reader, address: str) -> Image.Image | None:
    try:
        with Image.open(reader.picture(address)) as image:
            return image.convert("RGB").resize((_SIDE, _SIDE))
    except (OSError, MemedexError):
        return None


def _difference(own: Image.Image, other: Image.Image, one: Member) -> Image.Image:
    """The rejected picture in grey, red where the other one, turned as it was, differs."""
    turned = ImageOps.mirror(other) if "mirrored" in one.done else other
    differs = ImageChops.difference(own, turned).convert("L").point(lambda value: 255 * (value > _VISIBLE))
    grey = ImageOps.colorize(own.convert("L"), "#777777", "#ffffff")
    return Image.composite(Image.new("RGB", own.size, "#d32f2f"), grey, differs)


def _figure(image: Image.Image | None, caption: str) -> str:
    if image is None:
        return f"<figure><figcaption>{escape(caption)}: its picture is missing.</figcaption></figure>"
    file = BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    data = b64encode(file.getvalue()).decode()
    text = escape(caption)
    shown = f'<img alt="{text}" src="data:image/jpeg;base64,{data}">'
    return f"<figure>{shown}<figcaption>{text}</figcaption></figure>"


def _marked(own: str, other: str) -> str:
    """The name with what differs from the other's marked, and letters in disguise named."""
    pieces, _ = confusables.compared_names(own, other)
    return "".join(
        f"<mark>{escape(one.text)}</mark>" + (f" <small>({escape(one.note)})</small>" if one.note else "")
        if one.differs
        else escape(one.text)
        for one in pieces
    )
