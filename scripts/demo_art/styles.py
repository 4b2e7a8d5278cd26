# ruff: noqa: E501 — a drawn shape stays on its line, however long
"""The styles: each takes the setting and the figure (1024×1024) and gives the finished 512×512 picture."""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, sin
from random import Random

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps
from scipy import ndimage
from scipy.spatial import Delaunay

Floats = NDArray[np.float32]
FONTS = {
    "impact": "/usr/share/fonts/opentype/bebas-neue/BebasNeue-Bold.otf",
    "black": "/usr/share/fonts/opentype/league-spartan/LeagueSpartan-Black.otf",
    "manga": "/usr/share/fonts/truetype/reggae/ReggaeOne-Regular.ttf",
    "script": "/usr/share/fonts/opentype/lobster/lobster.otf",
}
END = 512


@dataclass(frozen=True)
class Sheet:
    """The input of a style."""

    ground: Image.Image  # the setting, RGB
    figure: Image.Image  # the figure, RGBA
    texts: tuple[str, ...]
    ticker: str
    seed: int
    accent: str


def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONTS[name], size)


def _array(picture: Image.Image) -> Floats:
    return np.asarray(picture, dtype=np.float32) / 255


def _picture(values: Floats) -> Image.Image:
    return Image.fromarray((np.clip(values, 0, 1) * 255).round().astype(np.uint8))


def _small(picture: Image.Image, size: int = END) -> Image.Image:
    return picture.resize((size, size), Image.Resampling.LANCZOS)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _flat(sheet: Sheet) -> Image.Image:
    """Setting and figure combined, RGB."""
    whole = sheet.ground.convert("RGBA")
    whole.alpha_composite(sheet.figure)
    return whole.convert("RGB")


def _outline(figure: Image.Image, width: int, colour: str) -> Image.Image:
    """A layer with the figure's silhouette grown by `width`, in one colour."""
    alpha = np.asarray(figure.getchannel("A")) > 90
    far = ndimage.distance_transform_edt(~alpha)
    grown = _picture(np.clip(width + 0.5 - far, 0, 1).astype(np.float32))
    layer = Image.new("RGBA", figure.size, _rgb(colour))
    layer.putalpha(grown)
    return layer


def _shadow(figure: Image.Image, *, dx: int, dy: int, blur: int, opacity: float) -> Image.Image:
    alpha = Image.new("L", figure.size)
    alpha.paste(figure.getchannel("A"), (dx, dy))
    alpha = alpha.filter(ImageFilter.GaussianBlur(blur))
    layer = Image.new("RGBA", figure.size, (0, 0, 0))
    layer.putalpha(alpha.point(lambda v: int(v * opacity)))
    return layer


def _noise(seed: int, size: int, scale: float) -> Floats:
    """Smooth noise with mean 0 and deviation 1."""
    raw = np.random.default_rng(seed).standard_normal((size, size)).astype(np.float32)
    smooth = ndimage.gaussian_filter(raw, scale, mode="wrap") if scale else raw
    return (smooth - smooth.mean()) / (smooth.std() + 1e-6)


def _text(
    picture: Image.Image,
    words: str,
    *,
    y: int,
    size: int,
    font: str,
    fill: str = "#ffffff",
    stroke: str = "#000000",
    width: int = 5,
    x: int = END // 2,
    anchor: str = "mm",
    room: int = 480,
) -> None:
    """One line, centred on y, shrunk until it fits."""
    draw = ImageDraw.Draw(picture)
    while draw.textlength(words, font=_font(font, size)) + 2 * width > room:
        size -= 2
    draw.text(
        (x, y),
        words,
        font=_font(font, size),
        fill=fill,
        stroke_fill=stroke,
        stroke_width=width,
        anchor=anchor,
    )


def pixel_art(sheet: Sheet) -> Image.Image:
    """64×64 blocks, 28 colours, a dark outline around the figure."""
    side = 64
    ground = (
        ImageEnhance.Color(_small(sheet.ground, side))
        .enhance(1.25)
        .quantize(12, dither=Image.Dither.NONE)
        .convert("RGB")
    )
    figure = sheet.figure.resize((side, side), Image.Resampling.BOX)
    solid = np.asarray(figure.getchannel("A")) > 110
    paint = np.asarray(
        ImageEnhance.Contrast(ImageEnhance.Color(figure.convert("RGB")).enhance(1.3))
        .enhance(1.12)
        .quantize(22, dither=Image.Dither.NONE)
        .convert("RGB")
    )
    out = np.asarray(ground).copy()
    ring = ndimage.binary_dilation(solid) & ~solid
    out[ring] = (20, 16, 32)
    # Colours of half-covered blocks come premultiplied; divide out what the empty part added.
    out[solid] = paint[solid]
    return Image.fromarray(out).resize((END, END), Image.Resampling.NEAREST)


def neon(sheet: Sheet) -> Image.Image:
    """Glowing tubes along the edges, on a dark ground."""
    hue = _rgb(sheet.accent)
    second = tuple(np.roll(hue, 1))
    figure = _small(sheet.figure, 768)
    alpha = _array(figure.getchannel("A"))
    backed = Image.new("RGBA", figure.size, (0, 0, 0, 255))
    backed.alpha_composite(figure)
    grey = _array(backed.convert("RGB"))

    def edges(values: Floats) -> Floats:
        soft = ndimage.gaussian_filter(values, (1.6, 1.6, 0) if values.ndim == 3 else 1.6)
        steep = np.hypot(ndimage.sobel(soft, 0), ndimage.sobel(soft, 1))
        return steep.max(axis=2) if steep.ndim == 3 else steep

    inner = np.clip(edges(grey) * 1.5 - 0.22, 0, 1) * alpha
    rim = np.clip(edges(alpha) * 0.9, 0, 1)
    back = np.clip(edges(_array(_small(sheet.ground, 768))) * 1.3 - 0.15, 0, 1) * (1 - alpha)
    own = grey / (grey.max(axis=2, keepdims=True) + 0.05)
    lines = (
        inner[..., None] * (0.45 * own + 0.55 * np.array(hue, np.float32) / 255)
        + rim[..., None] * np.array(hue, np.float32) / 255
    )
    rear = back[..., None] * np.array(second, np.float32) / 255 * 0.5
    glow = sum(ndimage.gaussian_filter(lines, (s, s, 0)) * w for s, w in ((4, 1.3), (14, 1.5), (40, 2.0)))
    rear_glow = ndimage.gaussian_filter(rear, (8, 8, 0)) * 1.1
    dark = np.array((10, 8, 24), np.float32) / 255
    yy = np.linspace(0, 1, 768, dtype=np.float32)[:, None, None]
    out = dark * (1.2 - 0.6 * yy) + rear * 0.8 + rear_glow + grey * alpha[..., None] * 0.16
    out = (
        out * (1 - 0.35 * alpha[..., None])
        + lines * 1.1
        + glow
        + np.clip(inner + rim - 0.55, 0, 1)[..., None] * 0.8
    )
    return _small(_picture(out))


def _warp(picture: Image.Image, *, seed: int, strength: float, scale: float) -> Image.Image:
    values = _array(picture)
    side = values.shape[0]
    yy, xx = np.mgrid[0:side, 0:side].astype(np.float32)
    at = [yy + _noise(seed, side, scale) * strength, xx + _noise(seed + 1, side, scale) * strength]
    return _picture(
        np.stack(
            [
                ndimage.map_coordinates(values[..., c], at, order=1, mode="nearest")
                for c in range(values.shape[2])
            ],
            axis=2,
        )
    )


def _paper(seed: int, tint: tuple[float, float, float]) -> Floats:
    grain = 0.018 * _noise(seed, END, 0.7) + 0.02 * _noise(seed + 5, END, 9)
    return np.array(tint, np.float32)[None, None] + grain[..., None]


def hand_drawn(sheet: Sheet) -> Image.Image:
    """Ink and crayon on paper, a little shaky."""
    ground = _array(
        _warp(_small(sheet.ground.filter(ImageFilter.GaussianBlur(5))), seed=sheet.seed, strength=4, scale=12)
    )
    grey = ground.mean(axis=2)
    pencil = np.clip(np.hypot(ndimage.sobel(grey, 0), ndimage.sobel(grey, 1)) * 2.2, 0, 0.75)
    hatch = 0.5 + 0.5 * np.sin(
        (np.add.outer(np.arange(END), np.arange(END)) + 3 * _noise(sheet.seed + 2, END, 6)) * 2 * pi / 7
    )
    paper = _paper(sheet.seed, (0.975, 0.955, 0.9))
    wash = 0.42 * (0.75 + 0.25 * hatch)[..., None]
    edge = np.minimum.reduce(
        np.meshgrid(
            np.minimum(np.arange(END), np.arange(END)[::-1]), np.minimum(np.arange(END), np.arange(END)[::-1])
        )
    ).astype(np.float32)
    fade = np.clip((edge - 16 + 9 * _noise(sheet.seed + 3, END, 7)) / 14, 0, 1)[..., None]
    out = paper * (1 - wash * fade) + ground * wash * fade
    out *= 1 - (pencil * fade[..., 0] * 0.6)[..., None]
    back = _outline(sheet.figure, 15, "#1d1b22")
    layered = Image.new("RGBA", sheet.figure.size)
    layered.alpha_composite(_outline(sheet.figure, 34, "#fbf6ea"))
    layered.alpha_composite(back)
    layered.alpha_composite(sheet.figure)
    drawn = _array(_warp(_small(layered), seed=sheet.seed + 7, strength=2.6, scale=9))
    crayon = drawn[..., :3] + (0.05 * _noise(sheet.seed + 9, END, 0.8) + 0.06 * (hatch - 0.5))[..., None] * (
        drawn[..., :3].mean(axis=2, keepdims=True) > 0.25
    )
    cover = drawn[..., 3:]
    return _picture(out * (1 - cover) + crayon * paper * cover)


def _inflate(figure: Image.Image, *, strength: float) -> Image.Image:
    """Light from above left on a figure made round at its edges."""
    values = _array(figure)
    alpha = values[..., 3]
    depth = np.sqrt(np.clip(ndimage.gaussian_filter(alpha, 26) * 2 - 0.95, 0, 1)) * alpha
    depth = ndimage.gaussian_filter(depth, 6)
    gy, gx = ndimage.sobel(depth, 0), ndimage.sobel(depth, 1)
    light = np.clip(1 - (gx * 0.55 + gy * 0.85) * -strength, 0.45, 1.55)
    rgb = (
        values[..., :3] * np.minimum(light, 1)[..., None]
        + np.clip(light - 1, 0, 1)[..., None] * 0.6 * values[..., 3:]
    )
    return _picture(np.dstack([np.clip(rgb, 0, 1), alpha]))


def three_d(sheet: Sheet) -> Image.Image:
    """Rounded, softly lit shapes before a blurred set."""
    ground = ImageEnhance.Color(sheet.ground.filter(ImageFilter.GaussianBlur(9))).enhance(1.1).convert("RGBA")
    ground.alpha_composite(_shadow(sheet.figure, dx=26, dy=34, blur=34, opacity=0.5))
    ground.alpha_composite(_inflate(sheet.figure, strength=4.0))
    out = _array(_small(ground.convert("RGB")))
    yy, xx = np.mgrid[0:END, 0:END].astype(np.float32) / END
    out *= (1.08 - 0.42 * np.clip(np.hypot(xx - 0.45, yy - 0.4) - 0.2, 0, 1))[..., None]
    bloom = ndimage.gaussian_filter(np.clip(out - 0.72, 0, 1), (9, 9, 0))
    return _picture(out + bloom * 0.9)


def photo_like(sheet: Sheet) -> Image.Image:
    """A shallow-focus shot: bokeh, warm grading, grain. Not a photograph."""
    rng = Random(sheet.seed)
    ground = _small(sheet.ground).filter(ImageFilter.GaussianBlur(11))
    base = _array(ground)
    disks = np.zeros_like(base)
    for _ in range(46):
        x, y, r = rng.randrange(END), rng.randrange(END), rng.randrange(9, 32)
        tone = (
            base[min(y, END - 1), min(x, END - 1)] * 0.6
            + np.array((1.0, rng.uniform(0.7, 0.95), rng.uniform(0.45, 0.85)), np.float32) * 0.4
        )
        layer = Image.new("L", (END, END))
        ImageDraw.Draw(layer).ellipse((x - r, y - r, x + r, y + r), fill=130, outline=235, width=2)
        disks += (
            _array(layer.filter(ImageFilter.GaussianBlur(1.2)))[..., None] * tone * rng.uniform(0.2, 0.75)
        )
    base = 1 - (1 - base) * (1 - np.clip(disks, 0, 0.8))
    lit = _inflate(sheet.figure, strength=5.5)
    figure = _array(_small(lit))
    alpha = figure[..., 3:]
    wrap = (
        ndimage.gaussian_filter(base, (18, 18, 0))
        * (ndimage.gaussian_filter(1 - alpha[..., 0], 7) * alpha[..., 0])[..., None]
    )
    rgb = figure[..., :3] * 0.9
    fuzz = 1 + 0.035 * _noise(sheet.seed + 4, END, 0.8) + 0.04 * _noise(sheet.seed + 6, END, 5)
    rgb = rgb * fuzz[..., None] + wrap * 0.75
    shadow = ndimage.gaussian_filter(np.roll(alpha[..., 0], (16, 10), (0, 1)), 16)[..., None] * 0.4
    out = base * (1 - shadow * (1 - alpha)) * (1 - alpha) + rgb * alpha
    yy, xx = np.mgrid[0:END, 0:END].astype(np.float32) / END
    out = out * np.array((1.06, 1.0, 0.92), np.float32) + np.array((0.03, 0.02, 0.035), np.float32)
    out *= (1.1 - 0.75 * np.clip(np.hypot(xx - 0.5, yy - 0.48) - 0.28, 0, 1))[..., None]
    out = np.clip(out, 0, 1)
    out = out * out * (3 - 2 * out) * 0.5 + out * 0.5
    return _picture(out + 0.016 * _noise(sheet.seed + 8, END, 0.6)[..., None])


# sky above, sky at the horizon, sun above, sun below, floor, lines across, lines away
EVENINGS = {
    "pink": ("#200846", "#ff60b2", "#ffe15a", "#ff4bb4", "#1a0638", "#ff4fd8", "#b14dff"),
    "teal": ("#06283d", "#47d7c4", "#fff3b0", "#ff8fab", "#04202c", "#7df9ff", "#2fb8ac"),
    "blue": ("#050a30", "#5b7cff", "#ffd6f5", "#b14dff", "#050822", "#7df9ff", "#4361ee"),
    "red": ("#2b0a1f", "#ff6b4a", "#ffd23f", "#e5383b", "#1f0716", "#ffb703", "#ff4d6d"),
    "mint": ("#2d1b4e", "#b8f2d0", "#fff9c4", "#ff9ecf", "#1c1236", "#b8f2d0", "#ff9ecf"),
}


def vaporwave(sheet: Sheet) -> Image.Image:
    """Striped sun, grid floor, pink and cyan, a little chromatic error."""
    evening = EVENINGS[sheet.texts[0] if sheet.texts else "pink"]
    above, horizon_tone, sun_top, sun_foot = (np.array(_rgb(c), np.float32) for c in evening[:4])
    floor, across, away = evening[4:]
    draw_size = 1024
    yy = np.linspace(0, 1, draw_size, dtype=np.float32)[:, None, None]
    top, mid = above / 255, horizon_tone / 255
    out = (
        top + (mid - top) * np.clip(yy / 0.64, 0, 1) ** 1.5 + np.zeros((draw_size, draw_size, 3), np.float32)
    )
    ground = _picture(out)
    draw = ImageDraw.Draw(ground)
    rng = Random(sheet.seed)
    for _ in range(120):
        x, y = rng.randrange(draw_size), rng.randrange(460)
        draw.ellipse((x, y, x + 3, y + 3), fill="#ffe6ff")
    sun = Image.new("RGB", (draw_size, draw_size))
    for y in range(20, 700):
        t = (y - 20) / 680
        tone = tuple(int(c) for c in sun_top * (1 - t) + sun_foot * t)
        ImageDraw.Draw(sun).line((0, y, draw_size, y), fill=tone)
    mask = Image.new("L", (draw_size, draw_size))
    ImageDraw.Draw(mask).ellipse((172, 20, 852, 700), fill=255)
    for k in range(9):
        y = 380 + k * 32
        ImageDraw.Draw(mask).rectangle((0, y, draw_size, y + 5 + k * 2), fill=0)
    ground.paste(sun, (0, 0), mask)
    horizon = 660
    draw.rectangle((0, horizon, draw_size, draw_size), fill=floor)
    for k in range(15):
        y = horizon + (draw_size - horizon) * (k / 14) ** 2.0
        draw.line((0, y, draw_size, y), fill=across if k else "#7df9ff", width=4)
    for k in range(-16, 17):
        draw.line((512 + k * 36, horizon, 512 + k * 190, draw_size), fill=away, width=4)
    whole = ground.convert("RGBA")
    glow = _outline(sheet.figure, 8, "#7df9ff")
    whole.alpha_composite(glow.filter(ImageFilter.GaussianBlur(22)))
    whole.alpha_composite(glow)
    tinted = _array(sheet.figure)
    tone = tinted[..., :3].mean(axis=2, keepdims=True)
    duo = (
        np.array((0.28, 0.1, 0.62), np.float32) * (1 - tone) + np.array((1.0, 0.86, 0.95), np.float32) * tone
    )
    tinted[..., :3] = tinted[..., :3] * 0.8 + duo * 0.22
    whole.alpha_composite(_picture(tinted))
    end = np.array(_small(whole.convert("RGB")))
    end[..., 0] = np.roll(end[..., 0], -3, axis=1)
    end[..., 2] = np.roll(end[..., 2], 3, axis=1)
    lines = end.astype(np.float32) / 255
    lines[::3] *= 0.86
    return _picture(lines)


def sticker(sheet: Sheet) -> Image.Image:
    """A die-cut sticker with a white border on a patterned sheet."""
    rng = Random(sheet.seed)
    a, b = rng.choice(
        (
            ("#ffe08a", "#ffd05c"),
            ("#a8e6ff", "#83d6fa"),
            ("#ffc2d9", "#ffa8c8"),
            ("#c9f2c7", "#abe6a8"),
            ("#d9ccff", "#c5b3ff"),
            ("#ffd3b6", "#ffbf96"),
        )
    )
    ground = Image.new("RGB", (1024, 1024), a)
    draw = ImageDraw.Draw(ground)
    pattern = rng.choice(("dots", "stripes", "checks", "plus"))
    for i in range(-2, 18):
        for j in range(-2, 18):
            x, y = i * 72 + (36 if j % 2 else 0), j * 72
            if pattern == "dots":
                draw.ellipse((x - 17, y - 17, x + 17, y + 17), fill=b)
            elif pattern == "checks" and (i + j) % 2:
                draw.rectangle((i * 72, y, i * 72 + 72, y + 72), fill=b)
            elif pattern == "plus":
                draw.rectangle((x - 20, y - 6, x + 20, y + 6), fill=b)
                draw.rectangle((x - 6, y - 20, x + 6, y + 20), fill=b)
        if pattern == "stripes":
            draw.polygon(
                [(i * 130 - 600, 1024), (i * 130 - 535, 1024), (i * 130 + 65, 0), (i * 130, 0)], fill=b
            )
    small = Image.new("RGBA", (1024, 1024))
    small.paste(sheet.figure.resize((880, 880), Image.Resampling.LANCZOS), (72, 80))
    small = small.rotate(rng.choice((-6, -4, 4, 6)), resample=Image.Resampling.BICUBIC)
    border = _outline(small, 30, "#ffffff")
    whole = ground.convert("RGBA")
    whole.alpha_composite(_shadow(border, dx=12, dy=18, blur=14, opacity=0.42))
    whole.alpha_composite(border)
    whole.alpha_composite(small)
    gloss = Image.new("L", (1024, 1024))
    ImageDraw.Draw(gloss).polygon([(0, 420), (0, 180), (700, 0), (1024, 0)], fill=34)
    shine = Image.new("RGBA", (1024, 1024), (255, 255, 255))
    shine.putalpha(ImageChops.multiply(gloss, border.getchannel("A")))
    whole.alpha_composite(shine)
    if sheet.texts:
        out = _small(whole.convert("RGB"))
        _text(
            out, sheet.texts[0], y=466, size=58, font="script", fill=sheet.accent, stroke="#ffffff", width=7
        )
        return out
    return _small(whole.convert("RGB"))


def medal(sheet: Sheet) -> Image.Image:
    """A struck coin: the figure in relief, a ridged rim, the ticker around it."""
    side = 1024
    yy, xx = np.mgrid[0:side, 0:side].astype(np.float32)
    r, t = np.hypot(xx - 512, yy - 512), np.arctan2(yy - 512, xx - 512)
    scaled = Image.new("RGBA", (side, side))
    scaled.paste(sheet.figure.resize((690, 690), Image.Resampling.LANCZOS), (167, 172))
    values = _array(scaled)
    tone = values[..., :3].mean(axis=2)
    alpha = values[..., 3] * np.clip((352 - r) / 6, 0, 1)
    height = ndimage.gaussian_filter(alpha, 2) * 20 + ndimage.gaussian_filter(tone * alpha, 1.8) * 34
    height += ndimage.gaussian_filter(alpha, 16) * 40
    rim = np.clip(1 - np.abs(r - 448) / 20, 0, 1) * 26 + np.clip(1 - np.abs(r - 368) / 6, 0, 1) * 10
    ridges = np.where((r > 462) & (r < 486), 7 * np.sin(t * 120), 0)
    lettering = Image.new("L", (side, side))
    words = f"{sheet.ticker} * " * max(2, round(30 / (len(sheet.ticker) + 3)))
    font = _font("black", 56)
    for k, letter in enumerate(words):
        angle = -pi / 2 + 2 * pi * k / len(words)
        tile = Image.new("L", (120, 120))
        ImageDraw.Draw(tile).text((60, 60), letter, font=font, fill=255, anchor="mm")
        tile = tile.rotate(-(angle + pi / 2) * 180 / pi, resample=Image.Resampling.BICUBIC)
        x, y = 512 + 408 * cos(angle), 512 + 408 * sin(angle)
        lettering.paste(255, (round(x) - 60, round(y) - 60), tile)
    height = (
        height
        + ndimage.gaussian_filter(_array(lettering), 1.4) * 15
        + ndimage.gaussian_filter(rim, 3)
        + ridges
    )
    gy, gx = np.gradient(height)
    light = 0.6 + 0.17 * (gx * 0.6 + gy * 0.8) + 0.1 * (tone - 0.5) * alpha
    sweep = 0.09 * np.sin(t * 2 + 0.8) + 0.05 * np.cos(r / 90)
    light = np.clip(light + sweep + 0.012 * _noise(sheet.seed, side, 1.2), 0, 1.25)[..., None]
    metals = {
        "gold": ((0.28, 0.14, 0.0), (0.88, 0.62, 0.14), (1.0, 0.95, 0.66)),
        "silver": ((0.12, 0.14, 0.18), (0.62, 0.67, 0.74), (0.98, 0.99, 1.0)),
        "copper": ((0.2, 0.06, 0.02), (0.75, 0.42, 0.24), (1.0, 0.86, 0.72)),
    }
    low, middle, high = (np.array(v, np.float32) for v in metals[sheet.texts[0] if sheet.texts else "gold"])
    coin = np.where(
        light < 0.6, low + (middle - low) * (light / 0.6), middle + (high - middle) * ((light - 0.6) / 0.6)
    )
    ground = _array(ImageEnhance.Brightness(sheet.ground.filter(ImageFilter.GaussianBlur(16))).enhance(0.55))
    shadow = np.clip((520 - np.hypot(xx - 530, yy - 540)) / 60, 0, 1)[..., None] * 0.6
    cover = np.clip(486 - r, 0, 1)[..., None]
    return _small(_picture(ground * (1 - shadow) * (1 - cover) + coin * cover))


def comic(sheet: Sheet) -> Image.Image:
    """Ink outlines, halftone dots, a shout in a balloon."""
    ground = ImageOps.posterize(ImageEnhance.Color(sheet.ground).enhance(1.5), 3)
    base = _array(_small(ground))
    grey = base.mean(axis=2)
    yy, xx = np.mgrid[0:END, 0:END].astype(np.float32)
    u, v = (xx + yy) / 1.414, (xx - yy) / 1.414
    cell = 9
    dots = np.hypot((u % cell) - cell / 2, (v % cell) - cell / 2) / (cell / 2)
    screen = np.clip((np.sqrt(np.clip(0.95 - grey, 0, 1)) * 1.05 - dots) * 3, 0, 1)[..., None]
    out = (
        _picture(np.clip(base * 1.25 + 0.08, 0, 1) * (1 - screen * 0.35))
        .convert("RGBA")
        .resize((1024, 1024), Image.Resampling.BICUBIC)
    )
    drawn = Image.new("RGBA", (1024, 1024))
    drawn.paste(sheet.figure.resize((900, 900), Image.Resampling.LANCZOS), (62, 130))
    out.alpha_composite(_outline(drawn, 26, "#ffffff"))
    out.alpha_composite(_outline(drawn, 13, "#111116"))
    figure = _array(drawn)
    flat = np.floor(figure[..., :3] * 5 + 0.5) / 5
    shade = np.clip(ndimage.gaussian_filter(1 - figure[..., 3], 40)[..., None] * 2.2, 0, 1)
    yy, xx = np.mgrid[0:1024, 0:1024].astype(np.float32)
    spots = (np.hypot((xx + yy) / 1.414 % 16 - 8, (xx - yy) / 1.414 % 16 - 8) < 8.5 * shade[..., 0])[
        ..., None
    ]
    figure[..., :3] = np.clip(flat * np.where(spots, 0.76, 1.06), 0, 1)
    out.alpha_composite(_picture(figure))
    end = _small(out.convert("RGB"))
    if sheet.texts:
        _balloon(end, sheet.texts[0], sheet.seed)
    draw = ImageDraw.Draw(end)
    draw.rectangle((0, 0, END - 1, END - 1), outline="#ffffff", width=12)
    draw.rectangle((10, 10, END - 11, END - 11), outline="#111116", width=5)
    return end


def _balloon(picture: Image.Image, words: str, seed: int) -> None:
    big = Image.new("RGBA", (1024, 1024))
    draw = ImageDraw.Draw(big)
    size = 92
    while draw.textlength(words, font=_font("manga", size)) > 380:
        size -= 4
    half = draw.textlength(words, font=_font("manga", size)) / 2 + 80
    right = seed % 2 == 0
    x, y = (1024 - half - 30, 130) if right else (half + 30, 130)
    rng = Random(seed)
    points = []
    for k in range(28):
        a = 2 * pi * k / 28
        reach = 1.0 if k % 2 else rng.uniform(1.22, 1.45)
        points.append((x + cos(a) * (half - 40) * reach * 0.9, y + sin(a) * 74 * reach))
    draw.polygon(points, fill="#ffe14d", outline="#111116", width=10)
    draw.text(
        (x, y),
        words,
        font=_font("manga", size),
        fill="#e3122a",
        stroke_fill="#111116",
        stroke_width=6,
        anchor="mm",
    )
    small = big.resize((END, END), Image.Resampling.LANCZOS)
    picture.paste(small, (0, 0), small)


def minimal(sheet: Sheet) -> Image.Image:
    """One disc, two colours, a long shadow."""
    rng = Random(sheet.seed)
    base, disc, deep = rng.choice(
        (
            ("#f4efe6", "#f2a65a", "#d98b3f"),
            ("#e7f0ee", "#5fa8a0", "#478c85"),
            ("#fbeaea", "#e2727f", "#c75a68"),
            ("#e9ecf5", "#6f86d6", "#566dbf"),
            ("#f6f3d9", "#e3c23c", "#c9a726"),
            ("#20242e", "#3a86a8", "#2b6c8a"),
            ("#2b2135", "#9b5fc0", "#8049a6"),
        )
    )
    whole = Image.new("RGBA", (1024, 1024), base)
    ImageDraw.Draw(whole).ellipse((92, 92, 932, 932), fill=disc)
    small = Image.new("RGBA", (1024, 1024))
    small.paste(sheet.figure.resize((840, 840), Image.Resampling.LANCZOS), (92, 100))
    alpha = np.asarray(small.getchannel("A"))
    long = np.zeros_like(alpha)
    for k in range(0, 620, 6):
        moved = np.zeros_like(alpha)
        moved[k:, k:] = alpha[: 1024 - k, : 1024 - k]
        np.maximum(long, moved, out=long)
    circle = Image.new("L", (1024, 1024))
    ImageDraw.Draw(circle).ellipse((92, 92, 932, 932), fill=255)
    shadow = Image.new("RGBA", (1024, 1024), deep)
    shadow.putalpha(ImageChops.multiply(Image.fromarray(long), circle))
    whole.alpha_composite(shadow)
    inside = small.copy()
    yy, xx = np.mgrid[0:1024, 0:1024]
    cut = np.where((yy > 560) & (np.hypot(xx - 512, yy - 512) > 420), 0, alpha)
    inside.putalpha(Image.fromarray(cut.astype(np.uint8)))
    whole.alpha_composite(inside)
    return _small(whole.convert("RGB"))


def meme_caption(sheet: Sheet) -> Image.Image:
    """White capitals with a black edge above and below."""
    moved = Image.new("RGBA", (1024, 1024))
    moved.paste(sheet.figure.resize((900, 900), Image.Resampling.LANCZOS), (62, 124))
    whole = sheet.ground.filter(ImageFilter.GaussianBlur(2)).convert("RGBA")
    whole.alpha_composite(_shadow(moved, dx=12, dy=14, blur=16, opacity=0.4))
    whole.alpha_composite(moved)
    out = _small(whole.convert("RGB"))
    return lettered(out, *sheet.texts)


def lettered(picture: Image.Image, above: str, below: str = "") -> Image.Image:
    """The picture with capitals above and below."""
    _text(picture, above, y=52, size=92, font="impact", width=6)
    if below:
        _text(picture, below, y=462, size=92, font="impact", width=6)
    return picture


def low_poly(sheet: Sheet) -> Image.Image:
    """Flat triangles, finer where there is detail."""
    picture = _array(_small(_flat(sheet)))
    alpha = _array(_small(sheet.figure.getchannel("A").convert("L")))
    soft = ndimage.gaussian_filter(picture, (2, 2, 0))
    steep = np.hypot(ndimage.sobel(soft, 0), ndimage.sobel(soft, 1)).max(axis=2)
    chance = (steep**1.1 + 0.015) * (0.35 + alpha * 1.3)
    rng = np.random.default_rng(sheet.seed)
    spots = rng.choice(END * END, size=2600, replace=False, p=(chance / chance.sum()).ravel())
    points = np.column_stack([spots % END, spots // END]).astype(float)
    frame = [(x, y) for x in range(0, END + 1, 64) for y in (0, END)] + [
        (x, y) for y in range(64, END, 64) for x in (0, END)
    ]
    points = np.vstack([points, frame])
    out = Image.new("RGB", (1024, 1024))
    draw = ImageDraw.Draw(out)
    source = (soft * 255).astype(np.uint8)
    for corners in Delaunay(points).simplices:
        middle = points[corners].mean(axis=0)
        x, y = (min(int(v), END - 1) for v in middle)
        tone = 1 + 0.1 * sin(middle[0] * 0.09 + middle[1] * 0.13)
        colour = tuple(int(min(255, c * tone)) for c in source[y, x])
        draw.polygon([tuple(p * 2) for p in points[corners]], fill=colour, outline=colour)
    return _small(out)


def painted(sheet: Sheet) -> Image.Image:
    """Thick strokes that follow the shapes, coarse first, fine last."""
    picture = _small(_flat(sheet))
    values = np.asarray(ImageEnhance.Color(picture).enhance(1.25))
    grey = ndimage.gaussian_filter(_array(picture.convert("L")), 3)
    gy, gx = ndimage.sobel(grey, 0), ndimage.sobel(grey, 1)
    angle = np.arctan2(gy, gx) + pi / 2 + 0.5 * _noise(sheet.seed, END, 20) * (np.hypot(gx, gy) < 0.04)
    inside = np.asarray(_small(sheet.figure.getchannel("A"))) > 100
    detail = np.hypot(gx, gy)
    rng = np.random.default_rng(sheet.seed)
    out = picture.filter(ImageFilter.GaussianBlur(6)).resize((1024, 1024))
    draw = ImageDraw.Draw(out)
    for count, length, width, only in (
        (3200, 44, 20, False),
        (4800, 26, 11, False),
        (8000, 13, 6, True),
        (6000, 8, 4, True),
    ):
        for x, y in rng.integers(0, END, (count, 2)):
            if only and not (inside[y, x] or detail[y, x] > 0.12):
                continue
            a, shade = angle[y, x], rng.uniform(0.9, 1.12)
            colour = tuple(int(min(255, c * shade)) for c in values[y, x])
            dx, dy = cos(a) * length, sin(a) * length
            draw.line((2 * x - dx, 2 * y - dy, 2 * x + dx, 2 * y + dy), fill=colour, width=width)
    end = _array(_small(out))
    bump = ndimage.gaussian_filter(end.mean(axis=2), 0.8)
    emboss = ndimage.sobel(bump, 0) + ndimage.sobel(bump, 1)
    weave = 0.012 * (np.sin(np.arange(END) * 2.1)[:, None] + np.sin(np.arange(END) * 2.1)[None, :])
    return _picture(
        end + np.clip(emboss * 0.16, -0.12, 0.12)[..., None] + weave[..., None].astype(np.float32)
    )


def pop_art(sheet: Sheet) -> Image.Image:
    """The figure four times, each in other poster colours."""
    sets = (
        ("#ff2e88", "#ffe14d", "#1b1464", "#7ef0ff"),
        ("#00b8d9", "#ff5630", "#fff3b0", "#172b4d"),
        ("#ffc400", "#6554c0", "#ff8fb1", "#20124d"),
        ("#36b37e", "#ff7452", "#fff0b3", "#0b3d2e"),
    )
    rng = Random(sheet.seed)
    order = rng.sample(sets, 4)
    figure = sheet.figure.resize((256, 256), Image.Resampling.LANCZOS)
    tone = np.asarray(ImageOps.autocontrast(figure.convert("L")), dtype=np.float32) / 255
    alpha = _array(figure.getchannel("A"))[..., None]
    out = Image.new("RGB", (END, END))
    for k, (ground, light, middle, dark) in enumerate(order):
        ramp = sorted((light, middle, dark), key=lambda c: sum(_rgb(c)))
        palette = np.array([_rgb(c) for c in ramp], np.float32) / 255
        level = np.digitize(tone, (0.36, 0.66))
        tile = palette[level] * alpha + np.array(_rgb(ground), np.float32) / 255 * (1 - alpha)
        yy, xx = np.mgrid[0:256, 0:256]
        dots = (np.hypot(xx % 10 - 5, yy % 10 - 5) < 2.6)[..., None] * (1 - alpha) * 0.16
        out.paste(_picture(tile * (1 - dots)), ((k % 2) * 256, (k // 2) * 256))
    draw = ImageDraw.Draw(out)
    draw.line((256, 0, 256, END), fill="#fff", width=6)
    draw.line((0, 256, END, 256), fill="#fff", width=6)
    return out


def banknote(sheet: Sheet) -> Image.Image:
    """Engraved lines in one ink, an oval portrait, a numbered frame."""
    side = 1024
    figure = Image.new("RGBA", (side, side), "#e9efdf")
    figure.alpha_composite(_outline(sheet.figure, 7, "#30343a"))
    figure.alpha_composite(sheet.figure)
    grey = _array(ImageOps.autocontrast(figure.convert("L")))
    yy, xx = np.mgrid[0:side, 0:side].astype(np.float32)
    bend = ndimage.gaussian_filter(grey, 9) * 26
    wave = 0.5 + 0.5 * np.sin((yy + bend) * 2 * pi / 9)
    cross = 0.5 + 0.5 * np.sin((xx * 0.7 + yy * 0.7 - bend) * 2 * pi / 11)
    ink = np.clip((wave - grey * 1.12 + 0.26) * 4, 0, 1)
    ink = np.maximum(ink, np.clip((cross - grey * 1.7 + 0.1) * 4, 0, 1) * (grey < 0.55))
    oval = np.clip((1 - np.hypot((xx - 512) / 385, (yy - 500) / 430)) * 60, 0, 1)
    ring = np.clip(1 - np.abs(np.hypot((xx - 512) / 385, (yy - 500) / 430) - 1.0) * 60, 0, 1)
    guilloche = sum(
        np.clip(
            1 - np.abs(np.sin(xx / 38 + k) * 40 + np.cos(yy / 27 - k * 0.7) * 40 + 18 * sin(k)) / 3.2, 0, 1
        )
        for k in range(3)
    )
    colour = {
        "green": (0.09, 0.33, 0.22),
        "blue": (0.1, 0.22, 0.45),
        "red": (0.5, 0.13, 0.16),
        "violet": (0.3, 0.14, 0.44),
    }[sheet.texts[0] if sheet.texts else "green"]
    paper = np.array((0.93, 0.94, 0.86), np.float32) + 0.01 * _noise(sheet.seed, side, 1.0)[..., None]
    amount = np.clip(ink * oval + ring + np.clip(guilloche, 0, 1) * (1 - oval) * 0.45, 0, 1)[..., None]
    picture = _picture(paper * (1 - amount) + np.array(colour, np.float32) * amount)
    draw = ImageDraw.Draw(picture)
    tint = tuple(int(c * 255) for c in colour)
    for inset, width in ((14, 10), (34, 4)):
        draw.rectangle((inset, inset, side - inset, side - inset), outline=tint, width=width)
    for x, y in ((120, 110), (904, 110), (120, 914), (904, 914)):
        draw.ellipse((x - 82, y - 72, x + 82, y + 72), fill="#e9efdf", outline=tint, width=8)
        draw.text(
            (x, y),
            sheet.texts[1] if len(sheet.texts) > 1 else "100",
            font=_font("script", 66),
            fill=tint,
            anchor="mm",
        )
    draw.rectangle((260, 890, 764, 968), fill="#e9efdf", outline=tint, width=6)
    draw.text((512, 930), f"ONE {sheet.ticker}", font=_font("black", 46), fill=tint, anchor="mm")
    return _small(picture)


def glitch(sheet: Sheet) -> Image.Image:
    """Torn scan lines and split colours on a dark screen."""
    rng = Random(sheet.seed)
    base = np.asarray(_small(ImageEnhance.Contrast(_flat(sheet)).enhance(1.15))).astype(np.float32) / 255
    base = base * np.array((0.95, 1.0, 1.1), np.float32)
    out = np.dstack([np.roll(base[..., 0], -9, 1), base[..., 1], np.roll(base[..., 2], 9, 1)])
    for _ in range(11):
        y, h, d = rng.randrange(END - 20), rng.randrange(4, 20), rng.randrange(-38, 38)
        if 130 < y < 340:
            d //= 3  # the face stays readable
        out[y : y + h] = np.roll(out[y : y + h], d, axis=1)
    for _ in range(16):
        x, y, w, h = rng.randrange(END), rng.randrange(END), rng.randrange(20, 110), rng.randrange(3, 12)
        out[y : y + h, x : x + w] = np.array(
            rng.choice(((0, 1, 0.9), (1, 0, 0.6), (0.9, 1, 0), (0, 0, 0))), np.float32
        )
    out[::4] *= 0.7
    return _picture(out + 0.02 * _noise(sheet.seed, END, 0)[..., None])


STYLES: dict[str, Callable[[Sheet], Image.Image]] = {
    "pixel art": pixel_art, "neon": neon, "hand-drawn": hand_drawn, "3-D": three_d, "photo-like": photo_like,
    "vaporwave": vaporwave, "sticker": sticker, "coin medal": medal, "comic": comic, "minimal": minimal,
    "meme caption": meme_caption, "low poly": low_poly, "painted": painted, "pop art": pop_art,
    "banknote": banknote, "glitch": glitch,
}  # fmt: skip
SOURCES = {
    "pixel art": "noto", "neon": "noto", "hand-drawn": "openmoji", "3-D": "fluent", "photo-like": "fluent",
    "vaporwave": "fluent", "sticker": "noto", "coin medal": "fluent", "comic": "openmoji", "minimal": "twemoji",
    "meme caption": "noto", "low poly": "twemoji", "painted": "noto", "pop art": "twemoji", "banknote": "fluent",
    "glitch": "fluent",
}  # fmt: skip
