"""Make res/models/clip-art.npz, by which the model `offline` understands drawings: docs/models.md.

    python -m scripts.make_clip_art FOLDER

FOLDER holds the files of SOURCES, as `npm pack NAME@VERSION` and `apt-get download openclipart-svg` get them
(their authors and licences: res/models/ATTRIBUTION.md). Their pictures and labels are not kept, only what
`fit` finds in them. It takes a quarter of an hour.
"""

import argparse
import io
import json
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import resvg_py
from numpy.typing import NDArray
from PIL import Image

from store.embedding import offline
from store.embedding.local_weights import file_digest
from store.embedding.offline import CLIP_ART, NETWORK, MiniLM, open_session
from store.embedding.protocol import unit

CLIP_ART_PACKAGE = "openclipart-svg_1%3a0.18+dfsg-19_all.deb"
EMOJI = "emojibase-data-17.0.0.tgz"
ICONS = [
    f"iconify-json-{name}.tgz"
    for name in ("noto-1.2.9", "fluent-emoji-flat-1.2.6", "twemoji-1.2.5", "game-icons-1.2.4")
]
_DIGESTS = (
    "989712d90d57dfa3230049f553bb43b76c30ee4d4b8c5f6e106e33f7db5cbdc5",
    "d01d0e2ca4e22cb402679532155342c71e2e871f25c32223c013b8b166ebdf5a",
    "3e918d88fc945c0bb3d468dbace6f88caef67f01c9f0e7bcae0915a042e8f1ad",
    "7d064769dee690815f823bc5bcc511d957198caf9f5edd8dd9c1aa48a6aeb175",
    "19046dff7d8707ce96212ec86468b36ac5f8e60409629dd13f809265c6d0ebb7",
    "f5758efb34d91c4f50b941f355f16ee73938625e5996fabc25171288404460a4",
)
SOURCES = dict(zip((CLIP_ART_PACKAGE, EMOJI, *ICONS), _DIGESTS, strict=True))  # files and their SHA-256
SIDE = 256  # pixels of a picture that is drawn
DPI = 96  # without it, lengths in points and millimetres have no size
EXAMPLES = 512  # directions of looks that stand for all clip art
RIDGE = 1.0

# Folders of openclipart without things that a person would look for, and labels that say nothing.
_SKIPPED = (
    "shapes/", "special/", "computer/buttons", "computer/icons", "transportation/roadsigns",
    "signs_and_symbols/map_symbols", "signs_and_symbols/led", "signs_and_symbols/flags",
)  # fmt: skip
_SAYS_NOTHING = {
    "clip art", "clipart", "svg", "image", "media", "public domain", "png", "unsorted", "externalsource",
    "icon", "icons", "color", "colour", "remix", "line art", "lineart", "contour", "outline", "silhouette",
    "cartoon", "drawing", "shadow", "symbol", "symbols", "vector", "signs and symbols", "black and white",
    "www.rusmat.ru",
}  # fmt: skip
_SKIN = re.compile("1f3f[b-f]")
_COMPONENTS, _FLAGS = 2, 9  # groups of emoji
_MOST_TAGS = 10
Drawing = tuple[str, str, str]  # name, tags, SVG


def clip_art(folder: Path) -> Iterator[Drawing]:
    """openclipart's drawings, by their title and by their tags and folders."""
    root = folder / "usr" / "share" / "openclipart" / "svg"
    for path in sorted(root.rglob("*.svg")):
        key = path.relative_to(root).as_posix()
        if path.is_symlink() or key.startswith(_SKIPPED):
            continue
        svg = path.read_text("utf-8", errors="replace")
        try:
            work = [each for each in ElementTree.fromstring(svg).iter() if str(each.tag).endswith("}Work")]
        except ElementTree.ParseError:
            continue
        parts = [part for each in work for part in each]
        titles = [_plain(part.text or "") for part in parts if part.tag.endswith("}title")]
        tags = [
            _plain(item.text or "").lower()
            for part in parts
            if part.tag.endswith("}subject")
            for item in part.iter()
            if item.tag.endswith("}li")
        ]
        tags = [tag for tag in tags if len(tag) > 2 and not tag.isdigit()]
        tags += [_plain(one) for one in key.split("/")[:-1]]
        kept = [tag for tag in dict.fromkeys(tags) if tag not in _SAYS_NOTHING][:_MOST_TAGS]
        title = next((one for one in titles if len(one) > 2), path.stem)
        name = _plain(re.sub("([a-z])([A-Z])", r"\1 \2", title)).lower()
        yield name, ", ".join(kept) or name, svg


def icons(package: Path, emoji: dict[str, dict[str, object]]) -> Iterator[Drawing]:
    """The pictures of an icon package: emoji by their CLDR name and keywords, others by their own name."""
    collection = json.loads((package / "icons.json").read_text("utf-8"))
    characters = json.loads((package / "chars.json").read_text("utf-8"))
    codes = {name: code for code, name in reversed(characters.items()) if code in emoji}
    for key, icon in collection["icons"].items():
        name, tags = key.replace("-", " "), ""
        if codes:
            code = codes.get(key, "")
            about = emoji.get(code, {})
            if _SKIN.search(code) or about.get("group") in (None, _COMPONENTS, _FLAGS):
                continue
            keywords = about.get("tags")
            name = str(about["label"]).lower()
            tags = ", ".join(keywords[:_MOST_TAGS]) if isinstance(keywords, list) else ""
        if icon.get("hidden"):
            continue
        width, height = (icon.get(side, collection.get(side, 16)) for side in ("width", "height"))
        box = f"{icon.get('left', 0)} {icon.get('top', 0)} {width} {height}"
        spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        head = f'<svg {spaces} viewBox="{box}" width="{width}" height="{height}" color="black">'
        yield name, tags or name, f"{head}{icon['body']}</svg>"


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[_\-]+", " ", text).split())


def drawn(svg: str) -> Image.Image | None:
    """The drawing on white, without its margins; None if it cannot be drawn or shows nothing."""
    try:
        png = bytes(resvg_py.svg_to_bytes(svg_string=svg, width=SIDE, dpi=DPI))
        with Image.open(io.BytesIO(png)) as image:
            picture = offline.without_frame(image)
    except (ValueError, OSError):
        return None
    picture.thumbnail((SIDE, SIDE))
    return picture if min(picture.size) >= 8 and np.asarray(picture.convert("L")).std() >= 3 else None


def features_of(pictures: Iterable[Path]) -> NDArray[np.float32]:
    """One unit row of 1,280 for each picture: the square roots of the pooled features, over both views."""
    session = open_session(NETWORK)
    rows = []
    for path in pictures:
        with Image.open(path) as image:
            views = offline.views(offline.without_frame(image))[:2]
        _, pooled = session.run(None, {"pictures": np.stack(views)})
        rows.append(offline.rooted(pooled[:1], pooled[1:]))
    return np.concatenate(rows)


def fit(
    features: NDArray[np.float32], labels: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Examples (512, 384), mean (1280,) and labels (1280, 384) of pictures with these features and labels.

    The examples are the centres of spherical k-means over the looks; the labels are those that ridge
    regression predicts from a picture's features less their mean.
    """
    centre, projection = offline.looks_head()
    looks = unit((features - centre) @ projection)
    examples = looks[np.random.default_rng(0).choice(len(looks), EXAMPLES, replace=False)]
    for _ in range(6):
        sums = np.zeros_like(examples)
        np.add.at(sums, (looks @ examples.T).argmax(axis=1), looks)
        examples = unit(sums)
    mean = features.mean(axis=0)
    own = (features - mean).astype(np.float64)
    square = own.T @ own + RIDGE * np.eye(own.shape[1])
    predicted = np.linalg.solve(square, own.T @ (labels - labels.mean(axis=0)))
    return examples, mean, predicted.astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the files of SOURCES lie")
    folder = parser.parse_args().folder
    for name, digest in SOURCES.items():
        if file_digest(folder / name) != digest:
            raise SystemExit(f"{name} is another file than the one that was learned from")
    with tempfile.TemporaryDirectory() as place:
        opened = {name: Path(place) / str(number) for number, name in enumerate(SOURCES)}
        for name, at in opened.items():
            if name == CLIP_ART_PACKAGE:
                subprocess.run(["dpkg-deb", "-x", folder / name, at], check=True)
            else:
                with tarfile.open(folder / name) as archive:
                    archive.extractall(at, filter="data")
        listed = json.loads((opened[EMOJI] / "package" / "en" / "data.json").read_text("utf-8"))
        emoji = {each["hexcode"].lower(): each for each in listed}
        drawings = [
            *clip_art(opened[CLIP_ART_PACKAGE]),
            *(each for name in ICONS for each in icons(opened[name] / "package", emoji)),
        ]
        pictures, names, tags = [], [], []
        for name, keywords, svg in drawings:
            if picture := drawn(svg):
                pictures.append(Path(place) / f"{len(pictures)}.png")
                picture.save(pictures[-1])
                names.append(name)
                tags.append(keywords)
        features = features_of(pictures)
    model = MiniLM()
    examples, mean, labels = fit(features, unit(model.embed(names) + model.embed(tags)))
    half = np.float16
    np.savez_compressed(
        CLIP_ART, examples=examples.astype(half), mean=mean.astype(half), labels=labels.astype(half)
    )
    print(f"{CLIP_ART}  {CLIP_ART.stat().st_size:,} bytes of {len(features):,} pictures")


if __name__ == "__main__":
    main()
