"""What copycats and screenshots do to a logo: five kinds of changes in several strengths, and others."""

from collections.abc import Callable
from functools import partial
from io import BytesIO
from math import cos, pi, sin

from PIL import Image, ImageDraw, ImageFont, ImageOps

Change = Callable[[Image.Image], Image.Image]
_SIDE = 512
DARK = "#2b2d31"


def font(name: str, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """A font of this machine by its file's name, or Pillow's own."""
    try:
        return ImageFont.truetype(name, size)
    except OSError:
        return ImageFont.load_default(size)


BOLD, SERIF, MONO = "DejaVuSans-Bold.ttf", "LiberationSerif-Bold.ttf", "DejaVuSansMono.ttf"


def caption(image: Image.Image, *, above: bool, face: str, size: int, paper: str, ink: str) -> Image.Image:
    """The picture with a strip of text added above or below."""
    strip = size * 2
    whole = Image.new("RGB", (_SIDE, _SIDE + strip), paper)
    whole.paste(image, (0, strip if above else 0))
    at = strip / 2 if above else _SIDE + strip / 2
    text = ("WHEN LAMBO SER", "Official V2 relaunch")[not above]
    ImageDraw.Draw(whole).text((_SIDE / 2, at), text, fill=ink, font=font(face, size), anchor="mm")
    return whole


def written(image: Image.Image, *lines: tuple[float, float, str, str, int, str]) -> Image.Image:
    """The picture with lines written over it: x and y of their middles, text, font, size and colour."""
    image = image.copy()
    pen = ImageDraw.Draw(image)
    for x, y, text, face, size, ink in lines:
        outline = "black" if ink != "black" else "white"
        pen.text(
            (x * _SIDE, y * _SIDE), text, fill=ink, font=font(face, size), anchor="mm",
            stroke_width=max(1, size // 14), stroke_fill=outline,
        )  # fmt: skip
    return image


def phone(image: Image.Image, *, width: float, frame: bool, paper: str, ink: str) -> Image.Image:
    """A phone's screen that shows the picture over this share of its width, with a status bar and texts."""
    screen = Image.new("RGB", (540, 1100), paper)
    pen = ImageDraw.Draw(screen)
    pen.text((30, 16), "12:30", fill=ink, font=font(BOLD, 24))
    pen.rectangle((470, 20, 510, 38), outline=ink, width=3)
    pen.rectangle((473, 23, 498, 35), fill=ink)
    pen.text((30, 80), "< Trending coins", fill=ink, font=font(BOLD, 30))
    side = round(width * 540)
    left, top = (540 - side) // 2, 150
    screen.paste(image.resize((side, side), Image.Resampling.LANCZOS), (left, top))
    for number, text in enumerate(("Buy now before it moons", "Price  $0.00042  +12 %", "Holders 1,204")):
        pen.text((30, top + side + 30 + 50 * number), text, fill=ink, font=font(SERIF, 30))
    pen.rounded_rectangle((30, 1000, 510, 1070), 30, fill="#2f6bff")
    pen.text((270, 1035), "Swap", fill="white", font=font(BOLD, 30), anchor="mm")
    if not frame:
        return screen
    whole = Image.new("RGB", (760, 1260), "#b9b2a8")
    ImageDraw.Draw(whole).rounded_rectangle((80, 40, 680, 1220), 70, fill="black")
    whole.paste(screen, (110, 80))
    return whole


def window(image: Image.Image, *, share: float, bar: str, paper: str, at: tuple[float, float]) -> Image.Image:
    """A browser's or program's window that shows the picture over this share of its height."""
    wide, high = 900, 660
    whole = Image.new("RGB", (wide, high), paper)
    pen = ImageDraw.Draw(whole)
    ink = "white" if paper == DARK else "black"
    side = min(round(share * high), high - 70)
    left, top = round(at[0] * (wide - side)), 62 + round(at[1] * (high - side - 66))
    for line in range(80, high - 20, 34):
        for column in (20, left + side + 20):
            if column + 100 < (left if column == 20 else wide):
                pen.text((column, line), f"row {line} of a list", fill=ink, font=font(SERIF, 18))
    whole.paste(image.resize((side, side), Image.Resampling.LANCZOS), (left, top))
    pen.rectangle((0, 0, wide, 56), fill=bar)
    for number, colour in enumerate(("#ff5f56", "#ffbd2e", "#27c93f")):
        pen.ellipse((16 + 26 * number, 20, 32 + 26 * number, 36), fill=colour)
    pen.rounded_rectangle((120, 12, 700, 44), 14, fill="white")
    pen.text((136, 16), "https://pump.example/coin", fill="#333333", font=font(MONO, 20))
    return whole


def centre(image: Image.Image, share: float) -> Image.Image:
    """What is left of the picture's middle, of each side."""
    rest = (1 - share) / 2 * _SIDE
    return image.crop((round(rest), round(rest), round(_SIDE - rest), round(_SIDE - rest)))


def sticker(image: Image.Image, share: float, *, shape: str, at: tuple[float, float]) -> Image.Image:
    """An object laid over this share of the picture's area."""
    image = image.copy()
    pen = ImageDraw.Draw(image)
    x, y = at[0] * _SIDE, at[1] * _SIDE
    if shape == "star":
        far = (share / 2.2) ** 0.5 * _SIDE
        points = [
            (x + r * cos(a), y + r * sin(a))
            for n in range(24)
            for r, a in [((far if n % 2 else far * 0.74), n * pi / 12)]
        ]
        pen.polygon(points, fill="#ffd400", outline="#c00000", width=6)
        pen.text((x, y), "NEW!", fill="#c00000", font=font(BOLD, round(far / 2.2)), anchor="mm")
    elif shape == "face":
        r = (share / pi) ** 0.5 * _SIDE
        pen.ellipse((x - r, y - r, x + r, y + r), fill="#ffcc33", outline="#7a4b00", width=5)
        for side in (-0.35, 0.35):
            pen.ellipse(
                (x + (side - 0.12) * r, y - 0.4 * r, x + (side + 0.12) * r, y - 0.1 * r), fill="#3b2500"
            )
        pen.chord((x - 0.6 * r, y - 0.3 * r, x + 0.6 * r, y + 0.7 * r), 10, 170, fill="#a01818")
    else:
        high = (share / 2) ** 0.5 * _SIDE
        pen.rectangle(
            (x - high, y - high / 2, x + high, y + high / 2), fill="#1e9e4a", outline="white", width=6
        )
        pen.text((x, y), "SOLD", fill="white", font=font(SERIF, round(high * 0.7)), anchor="mm")
    return image


def recompressed(image: Image.Image, quality: int = 25) -> Image.Image:
    file = BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(BytesIO(file.getvalue()))


def hue_turned(image: Image.Image, degrees: int) -> Image.Image:
    hue, *rest = image.convert("HSV").split()
    turned = hue.point(lambda value: (value + degrees * 256 // 360) % 256)
    return Image.merge("HSV", (turned, *rest)).convert("RGB")


GROUPS: dict[str, dict[str, Change]] = {
    "text added": {
        "caption above": partial(caption, above=True, face=BOLD, size=44, paper="white", ink="black"),
        "caption below": partial(caption, above=False, face=SERIF, size=36, paper="black", ink="white"),
        "two lines over it": lambda image: written(
            image,
            (0.5, 0.1, "TO THE MOON", BOLD, 56, "white"),
            (0.5, 0.9, "OFFICIAL 2.0", BOLD, 56, "yellow"),
        ),
        "a word across": lambda image: written(image, (0.5, 0.55, "PRESALE", SERIF, 110, "red")),
        "small letters": lambda image: written(
            image,
            (0.5, 0.94, "community takeover 2025", MONO, 26, "black"),
            (0.8, 0.08, "v2", BOLD, 34, "white"),
        ),
    },
    "on a phone": {
        "framed, 100 % wide": partial(phone, width=1.0, frame=True, paper="white", ink="black"),
        "framed, 60 % wide, dark": partial(phone, width=0.6, frame=True, paper="#14161c", ink="white"),
        "screenshot, 90 % wide": partial(phone, width=0.9, frame=False, paper="white", ink="black"),
        "screenshot, 60 % wide, dark": partial(phone, width=0.6, frame=False, paper="#14161c", ink="white"),
    },
    "in a window": {
        "80 %": partial(window, share=0.8, bar="#dee1e6", paper="white", at=(0.5, 0.5)),
        "60 %, dark": partial(window, share=0.6, bar="#202124", paper=DARK, at=(0.3, 0.4)),
        "45 %, grey": partial(window, share=0.45, bar="#282c34", paper="#eceef2", at=(0.7, 0.3)),
        "30 %": partial(window, share=0.3, bar="#dee1e6", paper="white", at=(0.2, 0.2)),
    },
    "cropped to the middle": {
        f"{share} %": partial(centre, share=share / 100) for share in (90, 80, 70, 60, 50)
    },
    "sticker": {
        "10 %, a star": partial(sticker, share=0.1, shape="star", at=(0.78, 0.78)),
        "20 %, a face": partial(sticker, share=0.2, shape="face", at=(0.3, 0.3)),
        "30 %, a sign": partial(sticker, share=0.3, shape="sign", at=(0.5, 0.75)),
        "40 %, a face": partial(sticker, share=0.4, shape="face", at=(0.65, 0.4)),
    },
    "mirrored parts": {
        "caption below": lambda image: caption(
            ImageOps.mirror(image), above=False, face=SERIF, size=36, paper="black", ink="white"
        ),
        "70 % of its middle": lambda image: centre(ImageOps.mirror(image), 0.7),
        "in a window, 60 %": lambda image: window(
            ImageOps.mirror(image), share=0.6, bar="#202124", paper=DARK, at=(0.3, 0.4)
        ),
    },
    "as before": {
        "mirrored": ImageOps.mirror,
        "hue turned 120°": partial(hue_turned, degrees=120),
        "recompressed, quality 25": recompressed,
        "resized to 150 px": lambda image: image.resize((150, 150)),
        "turned 4°": lambda image: image.rotate(4, Image.Resampling.BICUBIC, fillcolor="white"),
        "border of 12 % added": lambda image: ImageOps.expand(image, 60, fill="#1414c8"),
    },
}
