# ruff: noqa: E501 — a drawn shape stays on its line, however long
"""A coin's figure on a transparent ground: a portrait with clothes, a whole animal, a rider, a thing with a face."""

from dataclasses import dataclass
from functools import cache

from PIL import Image, ImageFilter

from demo_art.anchors import ANCHORS, CODES, NECKS, OWN
from demo_art.art import SIZE, canvas, emoji
from demo_art.wardrobe import body, eyewear, face, hat, limbs, own_head

FUR = {
    "dog": "#e8c9a0", "cat": "#f5b73a", "frog": "#74b843", "bear": "#96613f", "panda": "#2f2f38", "robot": "#8fa3b5",
    "alien": "#9fb7c9", "skull": "#e8ecef", "clown": "#fff", "hamster": "#f0b070", "dragon": "#37a85a", "fox": "#ef6c2f",
    "tiger": "#f5a02c", "lion": "#f2b63c", "monkey": "#a9713f", "pig": "#f7a8b8", "koala": "#93a1ab", "wolf": "#8796a3",
    "raccoon": "#7d8893", "gorilla": "#3b3b42", "shiba": "#e99a3c", "capybara": "#a8754a", "bull": "#8a4b2f",
    "unicorn": "#d8c8ff", "rabbit": "#e6e6ee", "cathappy": "#f5b73a", "cow": "#d9b08c",
}  # fmt: skip

FUR_OF_SET = {
    ("fluent", "alien"): "#7fd97b", ("fluent", "frog"): "#35b58e", ("fluent", "robot"): "#dcd9ee",
    ("fluent", "clown"): "#efe6fb", ("noto", "alien"): "#9aaab4", ("twemoji", "alien"): "#ccd6dd",
    ("openmoji", "monkey"): "#3f3f45", ("openmoji", "rabbit"): "#3f3f45", ("openmoji", "alien"): "#d0cfce",
    ("openmoji", "frog"): "#b1cc33", ("openmoji", "pig"): "#ea5a8a", ("openmoji", "wolf"): "#6f6f72",
    ("twemoji", "robot"): "#55acee", ("twemoji", "frog"): "#77b255", ("twemoji", "monkey"): "#bf6952",
}  # fmt: skip


@dataclass(frozen=True)
class Look:
    """The parts of a figure; the coin's composition uses the same words."""

    character: str
    source: str  # which set of emoji
    shape: str = "bust"
    body: str = ""
    colour: str = "#3a86ff"
    hat: str = ""
    hat_colour: str = "#2b2d42"
    eyes: str = ""
    hold: tuple[str, ...] = ()
    mood: str = "happy"
    vehicle: str = ""
    pose: str = "cheer"
    helmet: str = ""
    ink: int = 0


def figure(look: Look) -> Image.Image:
    """The figure as a 1024×1024 RGBA layer."""
    return SHAPES[look.shape](look)


def _blank() -> Image.Image:
    return Image.new("RGBA", (SIZE, SIZE), (0, 0, 0, 0))


@cache
def _head(character: str, source: str, size: int, ink: int) -> Image.Image:
    if character in OWN:
        return canvas(own_head(character, ink), size=size)
    return emoji(source, CODES[character], size)


def _anchor(look: Look) -> tuple[float, float, float, float, float, float]:
    if look.character in OWN:
        return OWN[look.character]
    known = ANCHORS[look.source].get(look.character)
    return known or (0.5, 0.45, 0.15, 0.15, 0.2, NECKS.get(look.character, 0.9))


def _put(layer: Image.Image, part: Image.Image, x: float, y: float) -> None:
    layer.alpha_composite(_clipped(part, x, y))


def _clipped(part: Image.Image, x: float, y: float) -> Image.Image:
    room = _blank()
    room.paste(part, (round(x), round(y)))
    return room


def _dressed_head(look: Look, *, size: int, x: float, y: float) -> Image.Image:
    """Head with eyewear, hat and helmet; (x, y) is the head square's upper left corner."""
    layer = _blank()
    cx, ey, ed, crown, half, _ = _anchor(look)
    at_x = x + cx * size
    if look.hat == "headphones":
        layer.alpha_composite(
            _worn(
                hat("headphones", look.hat_colour, look.ink),
                at_x,
                y + (crown + 0.07) * size,
                half * size * 1.25 / 100,
            )
        )
    _put(layer, _head(look.character, look.source, size, look.ink), x, y)
    if look.eyes and look.eyes != "laser":
        layer.alpha_composite(_worn(eyewear(look.eyes, look.ink), at_x, y + ey * size, ed * size / 100))
    if look.hat and look.hat != "headphones":
        layer.alpha_composite(
            _worn(
                hat(look.hat, look.hat_colour, look.ink), at_x, y + (crown + 0.015) * size, half * size / 100
            )
        )
    if look.helmet:
        glass = (
            f'<circle cx="{at_x}" cy="{y + 0.52 * size}" r="{0.56 * size}" fill="#bfe6ff" fill-opacity="0.20" stroke="#f1f6fb" stroke-width="22"/>'
            f'<path d="M{at_x - 0.42 * size} {y + 0.4 * size} A{0.46 * size} {0.46 * size} 0 0 1 {at_x - 0.12 * size} {y + 0.1 * size}" fill="none" stroke="#fff" stroke-width="24" stroke-linecap="round" opacity="0.9"/>'
        )
        layer.alpha_composite(canvas(glass))
    return layer


def _worn(svg: str, x: float, y: float, scale: float) -> Image.Image:
    return canvas(f'<g transform="translate({x:.1f} {y:.1f}) scale({scale:.3f})">{svg}</g>')


def laser_eyes(
    look: Look, *, size: int, x: float, y: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the beams start: both eyes on the 1024 grid."""
    cx, ey, ed, *_ = _anchor(look)
    return (x + (cx - ed) * size, y + ey * size), (x + (cx + ed) * size, y + ey * size)


def _beams(look: Look, *, size: int, x: float, y: float) -> Image.Image:
    glow = ""
    for (ex, eye_y), side in zip(laser_eyes(look, size=size, x=x, y=y), (-1, 1), strict=True):
        ends = (ex + side * 620, eye_y + 260)
        glow += f'<path d="M{ex} {eye_y} L{ends[0]} {ends[1]}" stroke="#ff1e2d" stroke-width="58" stroke-linecap="round" opacity="0.55"/>'
        glow += f'<circle cx="{ex}" cy="{eye_y}" r="78" fill="#ff1e2d" opacity="0.75"/>'
    soft = canvas(glow).filter(ImageFilter.GaussianBlur(22))
    core = ""
    for (ex, eye_y), side in zip(laser_eyes(look, size=size, x=x, y=y), (-1, 1), strict=True):
        core += f'<path d="M{ex} {eye_y} L{ex + side * 620} {eye_y + 260}" stroke="#ff5a4f" stroke-width="24"/><path d="M{ex} {eye_y} L{ex + side * 620} {eye_y + 260}" stroke="#fff1e8" stroke-width="9"/><circle cx="{ex}" cy="{eye_y}" r="32" fill="#ff4b3e"/><circle cx="{ex}" cy="{eye_y}" r="17" fill="#fff"/>'
    soft.alpha_composite(canvas(core))
    return soft


def _held(look: Look, layer: Image.Image) -> None:
    """Up to two things in hand at the lower corners, with a paw over each."""
    spots = ((770, 815), (254, 815))
    fur = FUR_OF_SET.get((look.source, look.character)) or FUR.get(look.character, "#f0c090")
    for name, (x, y) in zip(look.hold, spots, strict=False):
        thing = emoji(look.source, CODES[name], 300)
        _put(layer, thing, x - 150, y - 190)
        paw = (
            f'<ellipse cx="{x}" cy="{y + 62}" rx="74" ry="60" fill="{fur}" stroke="#1b1b22" stroke-opacity="{0.9 if look.ink else 0.25}" stroke-width="{max(look.ink, 6)}"/>'
            + "".join(
                f'<path d="M{x + d} {y + 22} v38" stroke="#1b1b22" stroke-opacity="0.5" stroke-width="8" stroke-linecap="round"/>'
                for d in (-24, 4, 32)
            )
        )
        layer.alpha_composite(canvas(paw))


def _bust(look: Look) -> Image.Image:
    chin = _anchor(look)[5]
    size = 590
    y = 725 - chin * size
    if look.hat in ("top", "wizard", "chef", "party", "cowboy"):
        y += 30
    layer = _blank()
    if look.body:
        layer.alpha_composite(canvas(body(look.body, look.colour, look.ink)))
    x = 512 - _anchor(look)[0] * size
    if look.character in NECKS:
        y += 40
    layer.alpha_composite(_dressed_head(look, size=size, x=x, y=y))
    _held(look, layer)
    if look.eyes == "laser":
        layer.alpha_composite(_beams(look, size=size, x=x, y=y))
    return layer


def _close(look: Look) -> Image.Image:
    """The head alone, nearly filling the frame."""
    layer = _blank()
    size = 860
    y = 120 if look.hat else 85
    x = 512 - _anchor(look)[0] * size
    layer.alpha_composite(_dressed_head(look, size=size, x=x, y=y))
    if look.eyes == "laser":
        layer.alpha_composite(_beams(look, size=size, x=x, y=y))
    return layer


def _whole(look: Look) -> Image.Image:
    """A whole animal standing on the ground, with things beside it."""
    layer = _blank()
    size = 660
    layer.alpha_composite(_ground_shadow(512, 905, 250))
    layer.alpha_composite(_dressed_head(look, size=size, x=512 - size / 2, y=920 - size * 0.97))
    for name, (x, y, side) in zip(look.hold, ((690, 640, 270), (60, 660, 250)), strict=False):
        _put(layer, emoji(look.source, CODES[name], side), x, y)
    return layer


def _ground_shadow(x: int, y: int, width: int) -> Image.Image:
    return canvas(f'<ellipse cx="{x}" cy="{y}" rx="{width}" ry="36" fill="#000" opacity="0.35"/>').filter(
        ImageFilter.GaussianBlur(14)
    )


def _rider(look: Look) -> Image.Image:
    """A head looking out over something big that it rides."""
    layer = _blank()
    ride = emoji(look.source, CODES[look.vehicle], 760)
    if look.vehicle == "rocket":
        ride = ride.rotate(-8, resample=Image.Resampling.BICUBIC)
    _put(layer, ride, 120, 230)
    size = 400
    spot = {
        "rocket": (392, 190),
        "whale": (330, 75),
        "saucer": (312, 60),
        "car": (330, 165),
        "trex": (330, -20),
        "boat": (330, 270),
        "duck": (430, 230),
    }.get(look.vehicle, (312, 120))
    layer.alpha_composite(_dressed_head(look, size=size, x=spot[0], y=spot[1]))
    return layer


def _mascot(look: Look) -> Image.Image:
    """A thing with eyes, a mouth, gloves and shoes."""
    layer = canvas(limbs(look.pose, look.colour))
    size = 600
    thing = emoji(look.source, CODES[look.character], size)
    _put(layer, thing, 212, 175)
    dx, dy, scale = FACES.get(look.character, (512, 480, 1.0))
    layer.alpha_composite(_worn(face(look.mood), dx, dy, scale))
    if look.eyes:
        layer.alpha_composite(_worn(eyewear(look.eyes, 6), dx, dy - 18 * scale, 0.66 * scale))
    if look.hat:
        layer.alpha_composite(
            _worn(hat(look.hat, look.hat_colour, 10), *HATS.get(look.character, (512, 235)), 1.2)
        )
    for name, (x, y) in zip(look.hold, ((745, 400), (95, 560)), strict=False):
        _put(layer, emoji(look.source, CODES[name], 230), x, y)
    lowered = _blank()  # a hat needs room above
    if not look.hat:
        _put(lowered, layer.resize((1090, 1090), Image.Resampling.LANCZOS), -33, -55)
        return lowered
    _put(lowered, layer.resize((920, 920), Image.Resampling.LANCZOS), 52, 96)
    return lowered


FACES = {
    "banana": (560, 520, 0.8),
    "pizza": (500, 410, 0.9),
    "avocado": (520, 400, 0.75),
    "taco": (520, 500, 1.0),
    "coffee": (480, 520, 0.85),
    "rocket": (560, 420, 0.7),
    "diamond": (512, 440, 1.0),
    "donut": (512, 440, 0.85),
    "cactus": (512, 470, 0.75),
    "icecream": (512, 370, 0.8),
    "sock": (540, 420, 0.8),
    "toast": (425, 470, 0.85),
}
HATS: dict[str, tuple[float, float]] = {"moneybag": (512, 300), "egg": (512, 240), "banana": (560, 300)}


def _duel(look: Look) -> Image.Image:
    """Two heads facing each other; the second one's name stands in `vehicle`."""
    layer = _blank()
    for name, x in ((look.character, -50), (look.vehicle, 474)):
        head = _head(name, look.source, 600, look.ink)
        if x > 400:
            head = head.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        _put(layer, head.rotate(8 if x > 400 else -8, resample=Image.Resampling.BICUBIC), x, 230)
    return layer


def _crowd(look: Look) -> Image.Image:
    """Five of the same, one in front."""
    layer = _blank()
    for x, y, size in ((40, 260, 300), (684, 260, 300), (350, 180, 320), (120, 470, 380), (540, 470, 380)):
        _put(layer, _head(look.character, look.source, size, look.ink), x, y)
    layer.alpha_composite(_dressed_head(look, size=460, x=282, y=500))
    return layer


def _float(look: Look) -> Image.Image:
    """A whole thing or animal drifting in the middle, tilted, with things around it."""
    layer = _blank()
    _put(
        layer,
        _head(look.character, look.source, 620, look.ink).rotate(-10, resample=Image.Resampling.BICUBIC),
        202,
        200,
    )
    for name, (x, y, side, turn) in zip(
        look.hold, ((700, 120, 220, -18), (90, 640, 230, 20), (720, 690, 200, 12)), strict=False
    ):
        _put(
            layer, emoji(look.source, CODES[name], side).rotate(turn, resample=Image.Resampling.BICUBIC), x, y
        )
    return layer


SHAPES = {
    "bust": _bust,
    "close": _close,
    "whole": _whole,
    "rider": _rider,
    "mascot": _mascot,
    "duel": _duel,
    "crowd": _crowd,
    "float": _float,
}
