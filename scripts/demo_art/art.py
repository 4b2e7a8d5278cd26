"""The openly licensed art that the pictures are built from, rasterised with rsvg-convert."""

import json
import subprocess
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import Image

SIZE = 1024  # everything is composed at this size and shrunk to 512 at the end

# Set -> folder of the unpacked npm package below the art folder.
PACKAGES = {
    "fluent": "@lobehub/fluent-emoji-3d",
    "openmoji": "openmoji",
    "twemoji": "@twemoji/svg",
    "noto": "@iconify-json/noto",
}
_folder = Path()


def open_art(folder: Path) -> None:
    """Say where the npm packages lie: folder/openmoji, folder/@twemoji/svg …"""
    global _folder
    missing = [name for name in PACKAGES.values() if not (folder / name).is_dir()]
    if missing:
        raise SystemExit(f"not unpacked below {folder}: {', '.join(missing)}")
    _folder = folder


def emoji(source: str, code: str, size: int) -> Image.Image:
    """One emoji of one set as an RGBA square of `size` pixels; `code` is its code point in hex."""
    picture = _original(source, code)
    return picture.resize((size, size), Image.Resampling.LANCZOS)


@cache
def _original(source: str, code: str) -> Image.Image:
    place = _folder / PACKAGES[source]
    if source == "fluent":
        return Image.open(_first(place / "assets", code, ".webp")).convert("RGBA")
    if source == "noto":
        return draw(_noto(code), size=768)
    if source == "twemoji":
        return draw(_first(place, code, ".svg").read_text(), size=768)
    return draw(_first(place / "color" / "svg", code.upper(), ".svg").read_text(), size=768)


def _first(folder: Path, code: str, ending: str) -> Path:
    plain, other = folder / f"{code}{ending}", folder / f"{code}-fe0f{ending}"
    if not other.exists():
        other = folder / f"{code}-FE0F{ending}"
    return plain if plain.exists() else other


@cache
def _noto_tables() -> tuple[dict[str, str], dict]:
    place = _folder / PACKAGES["noto"]
    return json.loads((place / "chars.json").read_text()), json.loads((place / "icons.json").read_text())


def _noto(code: str) -> str:
    names, sheet = _noto_tables()
    name = names[code]
    icon = sheet["icons"].get(name) or sheet["icons"][sheet["aliases"][name]["parent"]]
    side = sheet.get("width", 128)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {side} {side}">{icon["body"]}</svg>'
    )


@cache
def draw(svg: str, *, size: int = SIZE) -> Image.Image:
    """An SVG text as an RGBA square of `size` pixels."""
    command = ["rsvg-convert", "--width", str(size), "--height", str(size)]
    done = subprocess.run(command, input=svg.encode(), capture_output=True, check=True)
    return Image.open(BytesIO(done.stdout)).convert("RGBA")


def canvas(body: str, *, size: int = SIZE) -> Image.Image:
    """SVG elements on the 1024 grid as an RGBA square of `size` pixels."""
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'viewBox="0 0 1024 1024">'
    )
    return draw(f"{head}{body}</svg>", size=size).copy()
