"""What copycats do to pictures, and screenshots of them: seventeen ways to make a copy."""

from collections.abc import Callable
from functools import partial
from io import BytesIO

from PIL import Image, ImageDraw, ImageOps


def hue_turned(image: Image.Image, degrees: int) -> Image.Image:
    hue, *rest = image.convert("HSV").split()
    turned = hue.point(lambda value: (value + degrees * 256 // 360) % 256)
    return Image.merge("HSV", (turned, *rest)).convert("RGB")


def with_text(image: Image.Image) -> Image.Image:
    image, side = image.copy(), image.width
    pen = ImageDraw.Draw(image)
    write = partial(pen.text, font_size=side // 9, stroke_width=4, stroke_fill="black")
    write((side / 2, side * 0.08), "TO THE MOON", anchor="mt", fill="white")
    write((side / 2, side * 0.92), "OFFICIAL 2.0", anchor="mb", fill="yellow")
    return image


def recompressed(image: Image.Image) -> Image.Image:
    return Image.open(BytesIO(jpg(image, quality=25)))


def cropped(image: Image.Image, *edges: float) -> Image.Image:
    left, upper, right, lower = (round(edge * image.width) for edge in edges)
    return image.crop((left, upper, right, lower))


def in_a_window(image: Image.Image) -> Image.Image:
    window = Image.new("RGB", (800, 640), (236, 238, 242))
    pen = ImageDraw.Draw(window)
    pen.rectangle((0, 0, 800, 60), fill=(40, 44, 52))
    pen.text((20, 18), "pump.site - new coin", font_size=24, fill="white")
    window.paste(image.resize((480, 480)), (160, 110))
    return window


def on_a_phone(image: Image.Image) -> Image.Image:
    phone = Image.new("RGB", (600, 1000), (250, 250, 250))
    pen = ImageDraw.Draw(phone)
    pen.rounded_rectangle((40, 20, 560, 980), 60, fill="black")
    pen.rectangle((60, 90, 540, 910), fill=(245, 245, 245))
    pen.text((80, 110), "12:30", font_size=30, fill="black")
    phone.paste(image.resize((480, 480)), (60, 240))
    pen.text((80, 740), "Buy now before it moons", font_size=34, fill="black")
    return phone


COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "resized to 150 px": lambda image: image.resize((150, 150)),
    "recompressed, quality 25": recompressed,
    "cropped 5 % in all": lambda image: cropped(image, 0.025, 0.025, 0.975, 0.975),
    "cropped 5 % on each side": lambda image: cropped(image, 0.05, 0.05, 0.95, 0.95),
    "cropped 5 % at a corner": lambda image: cropped(image, 0, 0, 0.95, 0.95),
    "cropped 5 % below": lambda image: cropped(image, 0, 0, 1, 0.95),
    "mirrored": ImageOps.mirror,
    "text added, two lines": with_text,
    "hue turned 60°": lambda image: hue_turned(image, 60),
    "hue turned 180°": lambda image: hue_turned(image, 180),
    "border of 5 % added": lambda image: ImageOps.expand(image, image.width // 20, fill=(20, 20, 200)),
    "border of 12 % added": lambda image: ImageOps.expand(image, image.width // 8, fill="white"),
    "cropped 15 % at a corner": lambda image: cropped(image, 0, 0, 0.85, 0.85),
    "turned 4°": lambda image: image.rotate(4, Image.Resampling.BICUBIC, fillcolor="white"),
    "in a window": in_a_window,
    "on a phone": on_a_phone,
    "mirrored, border, recompressed": lambda image: recompressed(
        ImageOps.expand(ImageOps.mirror(image), 40, fill="black")
    ),
}


def jpg(image: Image.Image, *, quality: int) -> bytes:
    file = BytesIO()
    image.convert("RGB").save(file, "JPEG", quality=quality)
    return file.getvalue()
