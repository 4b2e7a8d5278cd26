"""Draw the demo library in res/demo/ from openly licensed art.

Every picture is composed by rule: a figure (demo_art/figures.py) in clothes of our own drawing
(wardrobe.py) in front of a setting (places.py), drawn in one of sixteen styles (styles.py). The content of
each coin is in demo_art/coins/*.toml. The same inputs give the same pictures: every random choice is
seeded with the coin's name.

Needs: Python 3.11 with Pillow, NumPy and SciPy; rsvg-convert (Debian: librsvg2-bin); the fonts of Debian's
fonts-bebas-neue, fonts-league-spartan, fonts-reggae and fonts-lobster; and four npm packages unpacked below
one folder, for instance with

    npm install --prefix ART --ignore-scripts openmoji@17.0.0 @twemoji/svg@15.0.0 \\
        @iconify-json/noto@1.2.9 @lobehub/fluent-emoji-3d@1.1.0
    python scripts/make_demo.py ART/node_modules

Licences are in res/demo/ATTRIBUTION.md.
"""

import argparse
import json
import re
import tomllib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

from demo_art.art import canvas, open_art
from demo_art.figures import Look, figure
from demo_art.places import place
from demo_art.styles import SOURCES, STYLES, Sheet, lettered
from PIL import Image, ImageEnhance, ImageOps

REPOSITORY = Path(__file__).resolve().parent.parent
COINS = Path(__file__).resolve().parent / "demo_art" / "coins"
NOW = 1_793_491_200  # 2026-11-01 00:00 UTC: every coin is older
DAY = 86_400
AGES = {"pending": (0, 21), "trash": (3, 30), "approved": (14, 60), "library": (45, 365)}  # days before NOW
WITHOUT_SETTING = {"vaporwave", "sticker", "minimal", "pop art", "banknote"}
LICENCES = {"openmoji": "CC-BY-SA-4.0", "twemoji": "CC-BY-4.0", "noto": "Apache-2.0", "fluent": "MIT"}

Coin = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the demo library.")
    parser.add_argument("art", type=Path, help="the folder that holds openmoji, @twemoji/svg …")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "res" / "demo")
    parser.add_argument("--only", default="", help="draw only coins whose slug or style holds this")
    chosen = parser.parse_args()
    open_art(chosen.art)
    chosen.out.mkdir(parents=True, exist_ok=True)
    taxonomy = json.loads((REPOSITORY / "res" / "taxonomy.json").read_text())
    coins = list(read_coins())
    for coin in coins:
        address = f"local-demo-{coin['slug']}"
        if chosen.only in coin["slug"] or chosen.only in coin.get("style", ""):
            (chosen.out / f"{address}.jpg").write_bytes(picture(coin, {c["slug"]: c for c in coins}))
        _write(chosen.out / f"{address}.json", sidecar(coin, address=address, taxonomy=taxonomy))
    manifest = [facts(coin, {c["slug"]: c for c in coins}) for coin in coins]
    _write(chosen.out / "manifest.json", {"coins": manifest})
    drafts = {f"local-demo-{coin['slug']}": coin["draft"] for coin in coins if "draft" in coin}
    _write(chosen.out / "drafts.json", drafts)
    expected = {f"{entry['token_address']}{ending}" for entry in manifest for ending in (".jpg", ".json")}
    for stray in chosen.out.glob("local-demo-*"):
        if stray.name not in expected:
            stray.unlink()


def read_coins() -> Iterator[Coin]:
    """Every coin of the tables, with slug, style, tier and date of creation."""
    coins: list[Coin] = []
    for table in sorted(COINS.glob("*.toml")):
        content = tomllib.loads(table.read_text())
        coins += [{"style": content.get("style", ""), "tier": "library", **coin} for coin in content["coin"]]
    for tier, (newest, oldest) in AGES.items():
        of_tier = [coin for coin in coins if coin["tier"] == tier]
        Random(tier).shuffle(of_tier)
        step = (oldest - newest) * DAY / (len(of_tier) + 1)
        for position, coin in enumerate(of_tier, start=1):
            coin["created_at"] = round(NOW - newest * DAY - position * step) // 60 * 60
    for coin in coins:
        coin.setdefault("slug", re.sub(r"[^a-z0-9]+", "-", coin["name"].lower()).strip("-"))
        yield coin


def picture(coin: Coin, coins: dict[str, Coin]) -> bytes:
    """The coin's picture as a 512×512 JPG."""
    if "copy_of" in coin:
        return _jpg(_copied(drawn(coins[coin["copy_of"]]), coin), quality=coin.get("quality", 82))
    return _jpg(drawn(coin), quality=87)


def drawn(coin: Coin) -> Image.Image:
    seed = crc32(coin["slug"].encode())
    source = SOURCES[coin["style"]]
    ground = place(coin.get("setting", "studio"), light=coin.get("light", "day"), seed=seed)
    sheet = Sheet(
        ground=canvas(ground).convert("RGB"),
        figure=figure(look(coin, ink=12 if source == "openmoji" else 0)),
        texts=tuple(coin.get("texts", ())),
        ticker=coin["ticker"],
        seed=seed,
        accent=coin.get("accent", "#22e3ee"),
    )
    return STYLES[coin["style"]](sheet)


def look(coin: Coin, *, ink: int) -> Look:
    asked = {key: tuple(value) if isinstance(value, list) else value for key, value in coin["look"].items()}
    return Look(source=SOURCES[coin["style"]], ink=ink, **asked)


def _copied(original: Image.Image, coin: Coin) -> Image.Image:
    """Changes that copycats make to a picture."""
    how = coin["how"]
    if how == "same":
        return original
    if how == "letters":
        return lettered(original, *coin["texts"])
    if how == "turn":
        wide = original.rotate(4, resample=Image.Resampling.BICUBIC).crop((24, 24, 488, 488))
        return wide.resize((512, 512), Image.Resampling.BICUBIC)
    if how == "window":
        screen = Image.new("RGB", (512, 512), "#20232b")
        screen.paste(original.resize((420, 420), Image.Resampling.LANCZOS), (46, 66))
        for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")):
            screen.paste(colour, (20 + place * 26, 18, 36 + place * 26, 34))
        return screen
    if how == "crop":
        return original.crop((34, 40, 484, 490)).resize((512, 512), Image.Resampling.BICUBIC)
    if how == "recolour":
        hue, saturation, value = original.convert("HSV").split()
        return Image.merge("HSV", (hue.point(lambda h: (h + 38) % 256), saturation, value)).convert("RGB")
    if how == "mirror":
        return ImageOps.mirror(original)
    if how == "shrink":
        return original.resize((150, 150), Image.Resampling.BICUBIC).resize(
            (512, 512), Image.Resampling.BICUBIC
        )
    if how == "frame":
        return ImageOps.expand(original.resize((472, 472), Image.Resampling.LANCZOS), 20, "#f5b81c")
    if how == "fade":
        return ImageEnhance.Color(ImageEnhance.Brightness(original).enhance(1.18)).enhance(0.45)
    raise KeyError(how)


def _jpg(picture: Image.Image, *, quality: int) -> bytes:
    content = BytesIO()
    picture.convert("RGB").save(content, "JPEG", quality=quality, optimize=True)
    return content.getvalue()


def sidecar(coin: Coin, *, address: str, taxonomy: dict[str, str]) -> dict[str, Any]:
    """The coin in the schema of the store's sidecars."""
    tags = _tags(coin)
    caption = {facet: coin[facet] for facet in ("entity", "context", "visual", "emotions") if facet in coin}
    if "visual" in coin or "emotions" in coin:  # else neither was thought of yet
        caption = {facet: coin.get(facet, "") for facet in ("entity", "context", "visual", "emotions")}
    return {
        "token_name": coin["name"],
        "ticker": coin["ticker"],
        "description": coin["description"],
        "token_address": address,
        "created_at": coin["created_at"],
        **({"caption": caption} if caption else {}),
        "tags": tags,
        "tags_categories": list(dict.fromkeys(taxonomy.get(tag, "other") for tag in tags)),
    }


def _tags(coin: Coin) -> list[str]:
    """Character, setting, style and mood first, then the additional tags of the table."""
    if "copy_of" in coin:
        return list(coin.get("tags", ()))
    shown = [] if coin["style"] in WITHOUT_SETTING else [coin.get("setting", "")]
    named = coin["look"]["character"]
    second = [coin["look"]["vehicle"]] if "vehicle" in coin["look"] else []
    mood = [coin["mood"]] if coin["mood"] != "neutral" else []
    everything = [named, *second, *shown, coin["style"], *mood, *coin.get("tags", ())]
    return list(dict.fromkeys(tag for tag in everything if tag))


def facts(coin: Coin, coins: dict[str, Coin]) -> dict[str, Any]:
    """The composition of the picture, which golden queries can refer to."""
    entry = {"token_address": f"local-demo-{coin['slug']}", "tier": coin["tier"]}
    entry |= {key: coin[key] for key in ("fault", "reason") if key in coin}
    if "copy_of" in coin:
        of = coins[coin["copy_of"]]
        source = SOURCES[of["style"]]
        return {
            **entry,
            "copy_of": f"local-demo-{of['slug']}",
            "how": coin["how"],
            "art": source,
            "licence": LICENCES[source],
        }
    worn = coin["look"]
    source = SOURCES[coin["style"]]
    shown = coin["style"] not in WITHOUT_SETTING
    return {
        **entry,
        "character": worn["character"],
        "with": worn.get("vehicle"),
        "shape": worn.get("shape", "bust"),
        "clothes": worn.get("body"),
        "hat": worn.get("hat"),
        "eyes": worn.get("eyes") or None,
        "holds": worn.get("hold", []),
        "setting": coin.get("setting") if shown else None,
        "light": coin.get("light", "day") if shown else None,
        "style": coin["style"],
        "mood": coin["mood"],
        "texts": coin.get("texts", []) if coin["style"] in ("comic", "meme caption", "sticker") else [],
        "art": source,
        "licence": LICENCES[source],
    }


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n")


if __name__ == "__main__":
    main()
