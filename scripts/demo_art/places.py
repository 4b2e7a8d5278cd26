# ruff: noqa: E501 — a drawn shape stays on its line, however long
"""Where a coin's figure stands: settings drawn as SVG on the 1024 grid, the horizon near y = 660."""

from math import cos, pi, sin
from random import Random

LIGHTS = {  # time of day -> sky top, sky bottom, tint of the ground
    "day": ("#4aa8f0", "#d9f1ff", 1.0),
    "dusk": ("#5b2a86", "#ff9e6d", 0.72),
    "night": ("#0b1030", "#33407a", 0.42),
    "dawn": ("#6f9ceb", "#ffd6c9", 0.9),
}


def place(kind: str, *, light: str, seed: int) -> str:
    """The SVG elements of a setting, filling the grid."""
    return SETTINGS[kind](Random(seed), light)


def _tone(colour: str, factor: float) -> str:
    return "#" + "".join(f"{min(255, round(int(colour[i : i + 2], 16) * factor)):02x}" for i in (1, 3, 5))


def _sky(top: str, bottom: str) -> str:
    return (
        f'<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="{top}"/>'
        f'<stop offset="0.75" stop-color="{bottom}"/></linearGradient></defs><rect width="1024" height="1024" fill="url(#sky)"/>'
    )


def _stars(rng: Random, count: int, height: int = 1024) -> str:
    return "".join(
        f'<circle cx="{rng.randrange(1024)}" cy="{rng.randrange(height)}" r="{rng.choice((2, 2, 3, 3, 5))}" fill="#fff" opacity="{rng.uniform(0.5, 1):.2f}"/>'
        for _ in range(count)
    )


def _cloud(x: float, y: float, s: float, fill: str = "#ffffff", opacity: float = 0.9) -> str:
    return f'<g transform="translate({x} {y}) scale({s})" fill="{fill}" opacity="{opacity}"><ellipse rx="90" ry="42"/><ellipse cx="-60" cy="14" rx="60" ry="32"/><ellipse cx="65" cy="14" rx="66" ry="34"/><ellipse cx="10" cy="-28" rx="52" ry="42"/></g>'


def _sun(light: str, x: int = 800, y: int = 210) -> str:
    if light == "night":
        return f'<circle cx="{x}" cy="{y}" r="84" fill="#f6f1d5"/><circle cx="{x - 25}" cy="{y - 20}" r="16" fill="#ddd6b0"/><circle cx="{x + 28}" cy="{y + 22}" r="22" fill="#ddd6b0"/>'
    colour = "#ff6b4a" if light == "dusk" else "#fff3b0"
    return f'<circle cx="{x}" cy="{y}" r="150" fill="{colour}" opacity="0.25"/><circle cx="{x}" cy="{y}" r="95" fill="{colour}"/>'


def _outdoors(rng: Random, light: str) -> tuple[str, float]:
    top, bottom, tone = LIGHTS[light]
    extra = (
        _stars(rng, 90, 600)
        if light == "night"
        else "".join(
            _cloud(
                rng.randrange(1024),
                rng.randrange(60, 380),
                rng.uniform(0.6, 1.3),
                "#ffffff" if light != "dusk" else "#ffd0b5",
                0.75,
            )
            for _ in range(4)
        )
    )
    return _sky(top, bottom) + _sun(light) + extra, tone


def _ridge(rng: Random, y: int, height: int, steps: int, fill: str) -> str:
    points = [
        (i * 1024 / steps, y - rng.uniform(0.15, 1) * height * (1 if i % 2 else 0.35))
        for i in range(steps + 1)
    ]
    return (
        f'<path d="M0 1024 L{" L".join(f"{x:.0f} {v:.0f}" for x, v in points)} L1024 1024Z" fill="{fill}"/>'
    )


def _hill(y: float, amp: float, phase: float, fill: str) -> str:
    points = [(x, y - amp * sin(x / 1024 * 2 * pi + phase)) for x in range(0, 1025, 64)]
    return f'<path d="M0 1024 L{" L".join(f"{x} {v:.0f}" for x, v in points)} L1024 1024Z" fill="{fill}"/>'


def moon(rng: Random, light: str) -> str:
    craters = "".join(
        f'<g transform="translate({rng.randrange(1024)} {y})"><ellipse rx="{r}" ry="{r * 0.32:.0f}" fill="#8e93a3"/><ellipse cy="{r * 0.07:.0f}" rx="{r * 0.82:.0f}" ry="{r * 0.22:.0f}" fill="#6d7284"/></g>'
        for y, r in ((700, 40), (735, 70), (790, 55), (850, 110), (900, 80), (960, 140), (745, 34), (880, 60))
    )
    earth = '<g transform="translate(805 215)"><circle r="150" fill="#6ec6ff" opacity="0.18"/><circle r="118" fill="#2f7fd6"/><path d="M-70 -60 C-20 -110 40 -90 30 -40 C10 0 -50 -10 -70 -60Z M10 30 C60 10 90 50 60 85 C20 105 0 70 10 30Z M-100 20 C-70 10 -40 40 -60 75 C-85 75 -105 50 -100 20Z" fill="#58b368"/><path d="M-100 -30 C-40 -50 40 -20 105 -40" stroke="#fff" stroke-width="14" fill="none" opacity="0.7" stroke-linecap="round"/></g>'
    return (
        _sky("#05060f", "#1a2147")
        + _stars(rng, 170, 700)
        + earth
        + _hill(680, 34, rng.uniform(0, 6), "#b9bdca")
        + _hill(740, 22, rng.uniform(0, 6), "#a5a9b8")
        + craters
    )


def space(rng: Random, light: str) -> str:
    a, b, c = rng.choice(
        (
            ("#2b0a4f", "#7b2ff7", "#f107a3"),
            ("#02143a", "#0e61d8", "#19e3d0"),
            ("#1a0630", "#c2347a", "#ff9e5e"),
            ("#031b1b", "#0f7a68", "#c5f277"),
        )
    )
    clouds = "".join(
        f'<ellipse cx="{rng.randrange(1024)}" cy="{rng.randrange(1024)}" rx="{rng.randrange(180, 380)}" ry="{rng.randrange(90, 240)}" fill="{rng.choice((b, c))}" opacity="0.33" transform="rotate({rng.randrange(-40, 40)} 512 512)" filter="url(#fog)"/>'
        for _ in range(8)
    )
    x, y = rng.choice(((180, 240), (840, 220), (850, 300)))
    ring = f'<g transform="translate({x} {y}) rotate(-22)"><circle r="92" fill="#f2b277"/><path d="M-90 -20 Q0 4 90 -20 M-86 30 Q0 54 86 30" stroke="#cf8548" stroke-width="16" fill="none"/><ellipse rx="168" ry="34" fill="none" stroke="#ffe0b8" stroke-width="16" stroke-dasharray="420 130" stroke-dashoffset="470"/></g>'
    return (
        f'<defs><filter id="fog" x="-60%" y="-60%" width="220%" height="220%"><feGaussianBlur stdDeviation="70"/></filter></defs><rect width="1024" height="1024" fill="{a}"/>'
        + clouds
        + _stars(rng, 220)
        + ring
    )


def city(rng: Random, light: str) -> str:
    top, bottom, tone = LIGHTS[light]
    out = _sky(top, bottom) + _sun(light, 770, 230) + (_stars(rng, 70, 420) if light == "night" else "")
    for depth, (y, colour) in enumerate(((640, "#6f7fb0"), (760, "#4a5687"), (900, "#2d3560"))):
        x = -rng.randrange(80)
        while x < 1024:
            w, h = rng.randrange(80, 160), rng.randrange(200, 520) - depth * 60
            fill = _tone(colour, 0.45 + tone * 0.6)
            out += f'<rect x="{x}" y="{y - h}" width="{w}" height="{1024 - y + h}" fill="{fill}"/>'
            if rng.random() < 0.3:
                out += f'<rect x="{x + w // 2 - 5}" y="{y - h - 70}" width="10" height="70" fill="{fill}"/>'
            lit = (
                ("#ffd76a", "#ffe9a8", "#7ee8fa", "#ff8fd0")
                if light in ("night", "dusk")
                else ("#dbe9ff", "#b7cdf5", "#ffffff")
            )
            for wy in range(y - h + 24, 1010, 46):
                out += "".join(
                    f'<rect x="{wx}" y="{wy}" width="17" height="25" fill="{rng.choice(lit)}" opacity="{rng.choice((0.9, 0.6, 0.1, 0.1))}"/>'
                    for wx in range(x + 14, x + w - 20, 32)
                )
            x += w + rng.randrange(-6, 22)
    return out


def beach(rng: Random, light: str) -> str:
    sky, tone = _outdoors(rng, light)
    palm = (
        '<g transform="translate(150 800)"><path d="M0 60 C20 -120 40 -260 110 -400" stroke="#8a5a33" stroke-width="38" fill="none" stroke-linecap="round"/>'
        + "".join(
            f'<path d="M110 -400 C{110 + 120 * cos(a):.0f} {-400 + 120 * sin(a) - 70:.0f} {110 + 210 * cos(a):.0f} {-400 + 210 * sin(a) - 20:.0f} {110 + 240 * cos(a):.0f} {-400 + 240 * sin(a) + 50:.0f} C{110 + 160 * cos(a):.0f} {-400 + 160 * sin(a):.0f} {110 + 100 * cos(a):.0f} {-400 + 100 * sin(a) - 10:.0f} 110 -400Z" fill="{_tone("#2f9e58", 0.5 + tone / 2)}"/>'
            for a in (-2.9, -2.3, -1.5, -0.8, -0.2, 0.4, 2.8)
        )
        + "</g>"
    )
    waves = "".join(
        f'<path d="M{x} {y} q30 -12 60 0" stroke="#fff" stroke-width="6" fill="none" opacity="0.6"/>'
        for x, y in ((rng.randrange(1024), rng.randrange(560, 720)) for _ in range(26))
    )
    return (
        sky
        + f'<rect y="540" width="1024" height="240" fill="{_tone("#1c9bd1", 0.4 + tone * 0.6)}"/><rect y="650" width="1024" height="130" fill="{_tone("#35c4d7", 0.4 + tone * 0.6)}"/>'
        + waves
        + f'<path d="M0 770 Q300 720 560 765 T1024 745 V1024 H0Z" fill="{_tone("#f6dba4", 0.45 + tone * 0.55)}"/><path d="M0 770 Q300 720 560 765 T1024 745" stroke="#fff" stroke-width="16" fill="none" opacity="0.8"/>'
        + palm
    )


def desk(rng: Random, light: str) -> str:
    out = '<rect width="1024" height="1024" fill="#131a2b"/><rect width="1024" height="1024" fill="#1b2540" opacity="0.6"/>'
    for x, y, w, h in ((30, 60, 460, 300), (534, 60, 460, 300), (30, 390, 300, 250), (694, 390, 300, 250)):
        out += f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="14" fill="#05080f" stroke="#3a455f" stroke-width="10"/>'
        out += "".join(
            f'<path d="M{x + 14} {y + k * h / 5:.0f} H{x + w - 14}" stroke="#1d2a44" stroke-width="3"/>'
            for k in range(1, 5)
        )
        price = y + h * (0.75 if light != "night" else 0.25)
        for cx in range(x + 28, x + w - 24, 26):
            move = rng.uniform(-46, 30) if light != "night" else rng.uniform(-30, 44)
            new = min(max(price + move, y + 40), y + h - 40)
            colour = "#21d07a" if new < price else "#ff4d5e"
            low, high = min(price, new), max(price, new)
            out += f'<path d="M{cx} {low - 16:.0f} V{high + 16:.0f}" stroke="{colour}" stroke-width="4"/><rect x="{cx - 8}" y="{low:.0f}" width="16" height="{max(high - low, 6):.0f}" fill="{colour}"/>'
            price = new
    return (
        out
        + '<rect y="790" width="1024" height="234" fill="#5b3b28"/><rect y="790" width="1024" height="18" fill="#7a5238"/>'
    )


def forest(rng: Random, light: str) -> str:
    sky, tone = _outdoors(rng, light)
    out = sky
    for y, colour, scale in ((600, "#9cc9a4", 0.8), (700, "#5fa070", 1.1), (860, "#2f6b45", 1.5)):
        fill = _tone(colour, 0.35 + tone * 0.65)
        out += f'<rect y="{y}" width="1024" height="500" fill="{fill}"/>'
        x = -30
        while x < 1060:
            h = rng.uniform(200, 340) * scale
            w = h * 0.42
            out += "".join(
                f'<path d="M{x} {y + 30 - h + k * h * 0.24:.0f} L{x + w * (0.5 + k * 0.17):.0f} {y + 30 - h * 0.5 + k * h * 0.26:.0f} H{x - w * (0.5 + k * 0.17):.0f}Z" fill="{fill}"/>'
                for k in range(3)
            )
            x += rng.randrange(70, 150) * scale
    return out + _hill(920, 14, 1, _tone("#3f8a4f", 0.4 + tone * 0.6))


def underwater(rng: Random, light: str) -> str:
    rays = "".join(
        f'<path d="M{x} -20 L{x + 90} -20 L{x + 320} 1024 L{x + 60} 1024Z" fill="#d8fbff" opacity="0.10"/>'
        for x in (-120, 90, 260, 470, 700)
    )
    bubbles = "".join(
        f'<circle cx="{rng.randrange(1024)}" cy="{rng.randrange(850)}" r="{rng.randrange(6, 26)}" fill="#eaffff" fill-opacity="0.14" stroke="#eaffff" stroke-width="4" opacity="0.8"/>'
        for _ in range(34)
    )
    weed = "".join(
        f'<path d="M{x} 1024 C{x - 50} 930 {x + 50} 860 {x} {y}" stroke="{rng.choice(("#1f9d6b", "#2fbf71", "#157a5a"))}" stroke-width="26" fill="none" stroke-linecap="round"/>'
        for x, y in ((40, 700), (90, 780), (150, 730), (880, 760), (940, 690), (990, 780))
    )
    coral = "".join(
        f'<g transform="translate({x} 960)" fill="none" stroke="{c}" stroke-width="30" stroke-linecap="round"><path d="M0 60 V-90 M0 0 C-60 -20 -60 -60 -56 -100 M0 -30 C60 -40 60 -80 58 -130"/></g>'
        for x, c in ((230, "#ff7f6a"), (800, "#ff5c8a"), (700, "#ffb14a"))
    )
    return (
        _sky("#27c4e0" if light == "day" else "#0f5f9e", "#04325f")
        + rays
        + weed
        + '<path d="M0 950 Q260 900 520 945 T1024 930 V1024 H0Z" fill="#e0c48a"/>'
        + coral
        + bubbles
    )


def mountain(rng: Random, light: str) -> str:
    sky, tone = _outdoors(rng, light)
    f = 0.35 + tone * 0.65
    peak = f'<g transform="translate(-270 0)"><path d="M180 780 L512 190 L860 780Z" fill="{_tone("#6d7fa3", f)}"/><path d="M512 190 L860 780 H600 L560 560 L520 420Z" fill="{_tone("#56668a", f)}"/><path d="M512 190 L402 386 L455 420 L490 378 L530 430 L570 380 L620 396Z" fill="{_tone("#ffffff", 0.5 + tone / 2)}"/></g>'
    return (
        sky
        + _ridge(rng, 700, 330, 9, _tone("#a9b8d3", f))
        + peak
        + _ridge(rng, 820, 170, 8, _tone("#5e7a6b", f))
        + _hill(880, 30, rng.uniform(0, 6), _tone("#6fae5c", f))
    )


def desert(rng: Random, light: str) -> str:
    sky, tone = _outdoors(rng, light)
    f = 0.4 + tone * 0.6
    cactus = "".join(
        f'<g transform="translate({x} {y}) scale({s})" fill="none" stroke="{_tone("#3f8f4f", f)}" stroke-width="54" stroke-linecap="round" stroke-linejoin="round"><path d="M0 0 V-230 M0 -70 H-80 V-140 M0 -110 H80 V-190"/></g>'
        for x, y, s in ((120, 780, 1.0), (910, 730, 0.75))
    )
    mesa = f'<path d="M560 680 L600 470 H780 L820 680Z M250 680 L280 540 H420 L450 680Z" fill="{_tone("#c46a45", f)}"/>'
    return (
        sky
        + mesa
        + _hill(680, 24, 0.6, _tone("#e5a25c", f))
        + _hill(780, 36, 2.5, _tone("#f0bd76", f))
        + cactus
        + _hill(900, 26, 5, _tone("#f7d08f", f))
    )


def snow(rng: Random, light: str) -> str:
    sky, tone = _outdoors(rng, light)
    f = 0.5 + tone * 0.5
    igloo = f'<g transform="translate(800 730)"><path d="M-170 60 A170 160 0 0 1 170 60Z" fill="{_tone("#e6f3ff", f)}" stroke="{_tone("#b4d2ea", f)}" stroke-width="8"/><path d="M-150 -10 H150 M-110 -60 H110 M-60 60 V-10 M60 60 V-10 M0 -10 V-60 M-90 -10 V-50 M90 -10 V-50" stroke="{_tone("#b4d2ea", f)}" stroke-width="7"/><path d="M-50 60 A50 60 0 0 1 50 60Z" fill="#31506e"/></g>'
    flakes = "".join(
        f'<circle cx="{rng.randrange(1024)}" cy="{rng.randrange(1024)}" r="{rng.randrange(4, 11)}" fill="#fff" opacity="0.9"/>'
        for _ in range(90)
    )
    return (
        sky
        + _ridge(rng, 720, 260, 8, _tone("#c3dbf2", f))
        + _hill(770, 20, 1, _tone("#eef7ff", f))
        + igloo
        + _hill(880, 18, 3, _tone("#ffffff", f))
        + flakes
    )


def volcano(rng: Random, light: str) -> str:
    lava = "".join(
        f'<circle cx="{512 + rng.randrange(-260, 260)}" cy="{rng.randrange(60, 330)}" r="{rng.randrange(6, 24)}" fill="{rng.choice(("#ff7b00", "#ffcf33", "#ff3c1f"))}"/>'
        for _ in range(46)
    )
    return (
        _sky("#1c0714", "#a12a2a")
        + "".join(
            _cloud(x, y, s, "#3b1a22", 0.9) for x, y, s in ((180, 130, 1.8), (512, 70, 2.4), (850, 150, 1.9))
        )
        + lava
        + '<path d="M60 900 L420 330 Q512 380 604 330 L964 900Z" fill="#3a2230"/><path d="M420 330 Q512 380 604 330 L640 420 C600 470 570 400 540 560 C520 680 480 520 460 450 C440 410 400 440 384 396Z" fill="#ff6a1a"/><path d="M470 365 Q512 385 560 362 C560 430 530 420 520 520 C500 470 480 430 470 365Z" fill="#ffd23f"/><rect y="880" width="1024" height="144" fill="#20121b"/><path d="M0 930 Q250 890 512 925 T1024 905 V1024 H0Z" fill="#e2481d"/>'
    )


def farm(rng: Random, light: str) -> str:
    sky, tone = _outdoors(rng, light)
    f = 0.4 + tone * 0.6
    barn = f'<g transform="translate(190 600)"><path d="M-130 120 V-20 L-80 -100 L0 -140 L80 -100 L130 -20 V120Z" fill="{_tone("#c8383a", f)}"/><path d="M-130 -20 L-80 -100 L0 -140 L80 -100 L130 -20" stroke="#fff" stroke-width="14" fill="none"/><path d="M-50 120 V20 H50 V120 M-50 20 L50 120 M50 20 L-50 120" stroke="#fff" stroke-width="9" fill="none"/></g>'
    fence = (
        "".join(
            f'<rect x="{x}" y="730" width="20" height="110" fill="{_tone("#f3ead7", f)}"/>'
            for x in range(10, 1024, 84)
        )
        + f'<rect y="752" width="1024" height="16" fill="{_tone("#f3ead7", f)}"/><rect y="795" width="1024" height="16" fill="{_tone("#f3ead7", f)}"/>'
    )
    flowers = "".join(
        f'<circle cx="{rng.randrange(1024)}" cy="{rng.randrange(850, 1010)}" r="9" fill="{rng.choice(("#fff", "#ffd23f", "#ff7aa8"))}"/>'
        for _ in range(70)
    )
    return (
        sky
        + _hill(660, 40, 0, _tone("#8fcf6b", f))
        + barn
        + _hill(720, 30, 2.2, _tone("#74bd55", f))
        + fence
        + _hill(840, 14, 4, _tone("#5fa845", f))
        + flowers
    )


def stage(rng: Random, light: str) -> str:
    beams = "".join(
        f'<path d="M{x} -10 L{x - d - 110} 900 H{x - d + 110}Z" fill="{c}" opacity="0.30"/>'
        for x, d, c in (
            (150, -250, "#ff4fa3"),
            (380, 120, "#5ce1e6"),
            (640, -120, "#ffe14d"),
            (880, 260, "#9b6bff"),
        )
    )
    crowd = "".join(
        f'<circle cx="{x}" cy="{1010 - rng.randrange(50)}" r="46" fill="#0a0612"/><path d="M{x + 30} 1000 L{x + 48} {890 - rng.randrange(40)}" stroke="#0a0612" stroke-width="24" stroke-linecap="round"/>'
        for x in range(20, 1024, 96)
    )
    return (
        _sky("#12061f", "#3a1152")
        + beams
        + '<ellipse cx="512" cy="900" rx="620" ry="110" fill="#27103a"/><ellipse cx="512" cy="880" rx="520" ry="70" fill="#4b1d6b"/>'
        + crowd
    )


def casino(rng: Random, light: str) -> str:
    reels = "".join(
        f'<g transform="translate({x} 300)"><rect x="-105" y="-150" width="210" height="300" rx="18" fill="#fffaf0" stroke="#d9a520" stroke-width="14"/><text y="75" font-family="Bebas Neue" font-size="230" text-anchor="middle" fill="#e63946">7</text></g>'
        for x in (240, 512, 784)
    )
    bulbs = "".join(
        f'<circle cx="{x}" cy="{y}" r="16" fill="{"#fff3b0" if i % 2 else "#ffb703"}"/>'
        for i, (x, y) in enumerate(
            [(x, 60) for x in range(40, 1024, 78)] + [(x, 550) for x in range(40, 1024, 78)]
        )
    )
    return (
        '<rect width="1024" height="1024" fill="#7a0f2b"/><rect y="20" width="1024" height="570" fill="#a3153a"/>'
        + reels
        + bulbs
        + '<rect y="590" width="1024" height="434" fill="#0f6b47"/><path d="M0 640 H1024" stroke="#d9a520" stroke-width="14"/>'
    )


def kitchen(rng: Random, light: str) -> str:
    tiles = "".join(
        f'<rect x="{x}" y="{y}" width="94" height="94" fill="{rng.choice(("#fdf3e1", "#f9e9cf", "#fbeeda"))}"/>'
        for x in range(0, 1024, 100)
        for y in range(0, 700, 100)
    )
    shelf = '<rect x="60" y="250" width="904" height="26" fill="#9a6a43"/>' + "".join(
        f'<rect x="{x}" y="{250 - h}" width="80" height="{h}" rx="14" fill="{c}"/>'
        for x, h, c in (
            (100, 130, "#e76f51"),
            (210, 100, "#2a9d8f"),
            (320, 150, "#e9c46a"),
            (650, 120, "#457b9d"),
            (760, 150, "#e63946"),
            (870, 100, "#8ab17d"),
        )
    )
    return (
        '<rect width="1024" height="1024" fill="#e7d3b1"/>'
        + tiles
        + shelf
        + '<rect y="740" width="1024" height="284" fill="#c98f5e"/><rect y="740" width="1024" height="30" fill="#e3b283"/>'
    )


def office(rng: Random, light: str) -> str:
    window = (
        '<rect x="90" y="80" width="420" height="420" fill="#bfe3ff" stroke="#fff" stroke-width="18"/><path d="M300 80 V500 M90 290 H510" stroke="#fff" stroke-width="14"/>'
        + "".join(
            f'<rect x="{x}" y="{500 - h}" width="60" height="{h - 8}" fill="#8fb2cf"/>'
            for x, h in ((110, 180), (180, 240), (330, 200), (410, 280))
        )
    )
    books = "".join(
        f'<rect x="{620 + i * 34}" y="{y - h}" width="28" height="{h}" fill="{c}"/>'
        for y in (260, 430, 600)
        for i, (h, c) in enumerate(
            (rng.randrange(90, 130), rng.choice(("#b5485d", "#3d6b8c", "#5a8a5a", "#d9a54a", "#6b5b95")))
            for _ in range(10)
        )
    )
    return (
        '<rect width="1024" height="1024" fill="#e9dcc9"/>'
        + window
        + "".join(f'<rect x="600" y="{y}" width="380" height="18" fill="#8a5f3d"/>' for y in (260, 430, 600))
        + books
        + '<rect y="760" width="1024" height="264" fill="#8a5f3d"/><rect y="760" width="1024" height="22" fill="#a87850"/>'
    )


def castle(rng: Random, light: str) -> str:
    sky, tone = _outdoors(rng, light)
    f = 0.4 + tone * 0.6
    stone, roof = _tone("#b8b3c8", f), _tone("#7a4fa3", f)
    towers = "".join(
        f'<rect x="{x - w / 2}" y="{y}" width="{w}" height="{760 - y}" fill="{stone}"/><path d="M{x - w / 2 - 18} {y} L{x} {y - w * 1.3:.0f} L{x + w / 2 + 18} {y}Z" fill="{roof}"/><rect x="{x - 13}" y="{y + 50}" width="26" height="56" rx="13" fill="#ffd76a"/>'
        for x, y, w in ((180, 380, 120), (330, 300, 110), (700, 290, 120), (860, 390, 130))
    )
    wall = f'<rect x="200" y="500" width="640" height="270" fill="{_tone("#a39dba", f)}"/>' + "".join(
        f'<rect x="{x}" y="470" width="40" height="40" fill="{_tone("#a39dba", f)}"/>'
        for x in range(205, 840, 70)
    )
    return (
        sky + _hill(700, 50, 0, _tone("#7fae7a", f)) + towers + wall + _hill(790, 24, 2, _tone("#5f9a58", f))
    )


def storm(rng: Random, light: str) -> str:
    rain = "".join(
        f'<path d="M{x} {y} l-16 52" stroke="#b9d2ee" stroke-width="5" opacity="0.6"/>'
        for x, y in ((rng.randrange(1060), rng.randrange(1000)) for _ in range(120))
    )
    return (
        _sky("#1b2233", "#5c6b85")
        + "".join(
            _cloud(x, y, s, c, 1)
            for x, y, s, c in (
                (150, 130, 2.6, "#39445c"),
                (520, 90, 3.0, "#2f394e"),
                (880, 150, 2.6, "#39445c"),
                (350, 210, 2.0, "#465370"),
                (720, 230, 2.0, "#465370"),
            )
        )
        + '<path d="M800 240 L720 420 H790 L730 600 L880 380 H805 L860 240Z" fill="#ffe14d"/><path d="M180 250 L130 390 H180 L140 520 L240 350 H190 L230 250Z" fill="#fff3b0"/>'
        + _hill(800, 26, 1, "#39465a")
        + _hill(880, 18, 4, "#2c3648")
        + rain
    )


def arcade(rng: Random, light: str) -> str:
    out = '<rect width="1024" height="1024" fill="#1a0b2e"/>'
    for i, x in enumerate((-40, 190, 640, 870)):
        c = ("#ff2fa0", "#22d3ee", "#a3ff3c", "#ffb703")[i]
        out += f'<path d="M{x} 860 V260 L{x + 30} 180 H{x + 170} L{x + 200} 260 V860Z" fill="#2b1650" stroke="{c}" stroke-width="10"/><rect x="{x + 24}" y="290" width="152" height="150" fill="#06040d" stroke="{c}" stroke-width="6"/>'
        out += "".join(
            f'<rect x="{x + 40 + rng.randrange(110)}" y="{305 + rng.randrange(110)}" width="14" height="14" fill="{rng.choice((c, "#fff"))}"/>'
            for _ in range(14)
        )
        out += f'<rect x="{x + 30}" y="205" width="140" height="46" fill="{c}"/><path d="M{x - 6} 480 H{x + 206} L{x + 226} 560 H{x - 26}Z" fill="#3d2170"/><circle cx="{x + 60}" cy="515" r="16" fill="#ff4d5e"/><circle cx="{x + 130}" cy="515" r="16" fill="#ffe14d"/>'
    floor = "".join(
        f'<rect x="{x}" y="{y}" width="64" height="41" fill="{"#33195c" if (x // 64 + y // 41) % 2 else "#231042"}"/>'
        for x in range(0, 1024, 64)
        for y in range(820, 1024, 41)
    )
    return out + floor


def _studio(rng: Random, light: str) -> str:
    a, b = rng.choice(
        (
            ("#ffd1dc", "#ff8fab"),
            ("#cdeffd", "#5fb3f0"),
            ("#fff1b8", "#ffb938"),
            ("#d7f9e2", "#4cc38a"),
            ("#e6dbff", "#9b7bea"),
            ("#ffe0cc", "#ff8552"),
            ("#d9dee8", "#77839b"),
        )
    )
    return f'<defs><radialGradient id="st" cx="0.5" cy="0.4" r="0.75"><stop offset="0" stop-color="{a}"/><stop offset="1" stop-color="{b}"/></radialGradient></defs><rect width="1024" height="1024" fill="url(#st)"/>'


def _burst(rng: Random, light: str) -> str:
    a, b = rng.choice(
        (
            ("#ffd23f", "#ff9f1c"),
            ("#5ce1e6", "#1f9fd0"),
            ("#ff8fab", "#e63973"),
            ("#b8f2a0", "#4cae4f"),
            ("#c9b6ff", "#7a5be0"),
        )
    )
    rays = "".join(
        f'<path d="M512 520 L{512 + 900 * cos(t):.0f} {520 + 900 * sin(t):.0f} L{512 + 900 * cos(t + 0.13):.0f} {520 + 900 * sin(t + 0.13):.0f}Z" fill="{b}"/>'
        for t in (k * 2 * pi / 24 for k in range(24))
    )
    return f'<rect width="1024" height="1024" fill="{a}"/>' + rays


SETTINGS = {
    "moon": moon,
    "space": space,
    "city": city,
    "beach": beach,
    "trading desk": desk,
    "forest": forest,
    "underwater": underwater,
    "mountain": mountain,
    "desert": desert,
    "snow": snow,
    "volcano": volcano,
    "farm": farm,
    "stage": stage,
    "casino": casino,
    "kitchen": kitchen,
    "office": office,
    "castle": castle,
    "storm": storm,
    "arcade": arcade,
    "studio": _studio,
    "sunburst": _burst,
}
