# ruff: noqa: E501 — a drawn shape stays on its line, however long
"""Clothes, hats, glasses and three heads of our own drawing, as SVG on the 1024 grid.

`ink` is the outline's width: 0 for the styles without outlines. Hats are drawn with their brim's centre at
(0, 0) and a skull half-width of 100; glasses with the point between the eyes at (0, 0) and the eyes at x = ±100.
"""

OUTLINE = "#1b1b22"


def _shade(colour: str, factor: float) -> str:
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = [p * factor if factor <= 1 else 255 - (255 - p) / factor for p in parts]
    return "#" + "".join(f"{min(255, max(0, round(p))):02x}" for p in mixed)


def _torso(colour: str, ink: int) -> str:
    return (
        f'<path d="M150 1060 C150 850 215 735 370 690 L512 668 L654 690 C809 735 874 850 874 1060 Z" fill="{colour}" '
        f'stroke="{OUTLINE}" stroke-width="{ink}" stroke-linejoin="round"/>'
    )


def _arms(colour: str, ink: int) -> str:
    dark = _shade(colour, 0.72)
    return "".join(
        f'<path d="M{x} 1060 C{x + s * 5} 960 {x + s * 22} 900 {x + s * 40} 868" fill="none" stroke="{dark}" '
        f'stroke-width="{max(ink, 9)}" stroke-linecap="round"/>'
        for x, s in ((280, -1), (744, 1))
    )


def body(kind: str, colour: str, ink: int) -> str:
    """The upper part of a body below a head whose chin is at y = 700."""
    dark, light = _shade(colour, 0.72), _shade(colour, 1.5)
    line = f'stroke="{OUTLINE}" stroke-width="{ink}" stroke-linejoin="round"'
    base = _torso(colour, ink) + _arms(colour, ink)
    if kind == "hoodie":
        return (
            f'<path d="M290 800 C250 600 774 600 734 800 L512 900 Z" fill="{dark}" {line}/>'
            + base
            + f'<path d="M355 690 C400 790 624 790 669 690 C720 720 690 850 512 860 C334 850 304 720 355 690Z" fill="{dark}" {line}/>'
            f'<path d="M430 830 V935 M594 830 V915" stroke="#f4f1ea" stroke-width="14" stroke-linecap="round"/>'
            f'<path d="M340 1060 L370 965 H654 L684 1060" fill="none" stroke="{dark}" stroke-width="{max(ink, 9)}"/>'
        )
    if kind == "suit":
        return (
            base + f'<path d="M400 684 L512 940 L624 684 L512 668Z" fill="#f7f7f4" {line}/>'
            f'<path d="M480 730 H544 L530 780 L560 920 L512 980 L464 920 L494 780Z" fill="#d8344a" {line}/>'
            f'<path d="M395 684 L345 800 L410 815 L385 850 L512 1060 L512 960Z" fill="{dark}" {line}/>'
            f'<path d="M629 684 L679 800 L614 815 L639 850 L512 1060 L512 960Z" fill="{dark}" {line}/>'
        )
    if kind == "space":
        return (
            base + f'<ellipse cx="512" cy="715" rx="215" ry="70" fill="{_shade(colour, 0.8)}" {line}/>'
            f'<ellipse cx="512" cy="705" rx="170" ry="45" fill="#5d6b82"/>'
            f'<rect x="405" y="850" width="214" height="150" rx="26" fill="{dark}" {line}/>'
            '<circle cx="455" cy="900" r="20" fill="#ff5a5f"/><circle cx="512" cy="900" r="20" fill="#ffd23f"/>'
            '<circle cx="569" cy="900" r="20" fill="#3bceac"/><rect x="440" y="945" width="144" height="24" rx="12" fill="#e9eef5"/>'
            '<path d="M230 900 L300 870" stroke="#e4572e" stroke-width="34"/><path d="M794 900 L724 870" stroke="#e4572e" stroke-width="34"/>'
        )
    if kind == "tee":
        return (
            base + f'<path d="M390 688 C420 770 604 770 634 688" fill="{light}" {line}/>'
            f'<circle cx="512" cy="890" r="82" fill="#ffd23f" {line}/><path d="M512 838 L528 876 L568 880 L537 906 L547 945 L512 923 L477 945 L487 906 L456 880 L496 876Z" fill="#e08e0b"/>'
        )
    if kind == "jacket":
        ribs = "".join(
            f'<path d="M175 {y} C300 {y + 40} 724 {y + 40} 849 {y}" fill="none" stroke="{dark}" stroke-width="{max(ink, 10)}"/>'
            for y in (800, 880, 960)
        )
        return (
            base
            + ribs
            + f'<path d="M330 700 C380 640 644 640 694 700 L660 780 C600 740 424 740 364 780Z" fill="{dark}" {line}/>'
            f'<path d="M512 750 V1060" stroke="#e9e2c8" stroke-width="16"/>'
        )
    if kind == "cape":
        return (
            f'<path d="M300 690 C120 760 60 900 40 1060 H984 C964 900 904 760 724 690Z" fill="#c1272d" {line}/>'
            + base
            + f'<path d="M350 690 C430 760 594 760 674 690 L650 740 C590 800 434 800 374 740Z" fill="#e23b41" {line}/>'
            f'<path d="M512 830 L600 880 L570 990 L512 1030 L454 990 L424 880Z" fill="#ffd23f" {line}/>'
        )
    if kind == "robe":
        return (
            base + f'<path d="M400 684 L560 1060 H640 L480 672Z" fill="{light}" {line}/>'
            f'<path d="M624 684 L420 1060 H340 L545 672Z" fill="{light}" {line}/>'
        )
    if kind == "coat":
        return (
            base + f'<path d="M420 684 L512 860 L604 684 L512 668Z" fill="#7fb7d9" {line}/>'
            f'<path d="M410 686 L370 830 L512 1060 V880Z" fill="{_shade(colour, 0.88)}" {line}/><path d="M614 686 L654 830 L512 1060 V880Z" fill="{_shade(colour, 0.88)}" {line}/>'
            f'<rect x="610" y="900" width="100" height="90" fill="{_shade(colour, 0.9)}" stroke="{dark}" stroke-width="8"/><path d="M635 900 V860 M665 900 V850" stroke="#2b6cb0" stroke-width="12"/>'
        )
    if kind == "aloha":
        flowers = "".join(
            f'<g transform="translate({x} {y}) rotate({r})">'
            + "".join(
                f'<ellipse cx="0" cy="-24" rx="15" ry="24" fill="#fff4d6" transform="rotate({a})"/>'
                for a in range(0, 360, 72)
            )
            + '<circle r="11" fill="#ff7b54"/></g>'
            for x, y, r in (
                (300, 820, 0),
                (390, 960, 30),
                (620, 950, 10),
                (720, 820, 50),
                (560, 830, 20),
                (800, 960, 15),
                (225, 960, 40),
            )
        )
        return (
            base
            + flowers
            + f'<path d="M400 684 L512 850 L624 684 L512 668Z" fill="{_shade(colour, 0.6)}" {line}/>'
            f'<path d="M405 680 L360 770 L480 830Z" fill="{light}" {line}/><path d="M619 680 L664 770 L544 830Z" fill="{light}" {line}/>'
        )
    if kind == "chain":
        links = "".join(
            f'<ellipse cx="{x}" cy="{y}" rx="24" ry="17" fill="none" stroke="#f5b81c" stroke-width="13" transform="rotate({r} {x} {y})"/>'
            for x, y, r in (
                (345, 755, 60),
                (370, 800, 55),
                (403, 842, 45),
                (445, 876, 30),
                (579, 876, -30),
                (621, 842, -45),
                (654, 800, -55),
                (679, 755, -60),
            )
        )
        return (
            base
            + f'<path d="M400 686 C420 730 604 730 624 686" fill="{dark}" {line}/>'
            + links
            + '<circle cx="512" cy="925" r="62" fill="#ffcf33" stroke="#b97a05" stroke-width="12"/><path d="M512 885 L546 925 L512 965 L478 925Z" fill="#b97a05"/>'
        )
    if kind == "apron":
        return (
            base
            + f'<path d="M360 760 H664 L700 1060 H324Z" fill="#fbfaf5" {line}/><path d="M372 760 L410 690 M652 760 L614 690" stroke="#fbfaf5" stroke-width="24"/>'
            f'<rect x="420" y="890" width="184" height="110" rx="16" fill="none" stroke="#c9c3b4" stroke-width="9"/>'
        )
    if kind == "armour":
        return (
            base
            + f'<path d="M330 710 L512 760 L694 710 L720 960 L512 1060 L304 960Z" fill="{light}" {line}/><path d="M512 760 V1060" stroke="{dark}" stroke-width="10"/>'
            f'<ellipse cx="235" cy="815" rx="110" ry="95" fill="{light}" {line}/><ellipse cx="789" cy="815" rx="110" ry="95" fill="{light}" {line}/>'
            + "".join(
                f'<circle cx="{x}" cy="{y}" r="12" fill="{dark}"/>'
                for x, y in ((210, 790), (260, 790), (764, 790), (814, 790))
            )
        )
    raise KeyError(kind)


def hat(kind: str, colour: str, ink: int) -> str:
    """A hat whose brim's centre is (0, 0), for a skull half-width of 100."""
    dark, light = _shade(colour, 0.65), _shade(colour, 1.6)
    line = f'stroke="{OUTLINE}" stroke-width="{ink * 0.45}" stroke-linejoin="round"'
    shapes = {
        "top": f'<path d="M-78 -8 L-86 -165 Q0 -185 86 -165 L78 -8Z" fill="{colour}" {line}/><path d="M-80 -48 Q0 -30 80 -48 L78 -8 H-78Z" fill="#d8344a"/><ellipse cx="0" cy="0" rx="132" ry="24" fill="{dark}" {line}/>',
        "crown": f'<path d="M-98 12 L-118 -105 L-58 -52 L0 -130 L58 -52 L118 -105 L98 12 Q0 36 -98 12Z" fill="#ffc928" {line}/><path d="M-100 0 Q0 26 100 0 L97 22 Q0 46 -97 22Z" fill="#d98e04"/><circle cx="0" cy="-8" r="17" fill="#e63946" {line}/><circle cx="-58" cy="-16" r="11" fill="#3a86ff"/><circle cx="58" cy="-16" r="11" fill="#3a86ff"/><circle cx="-118" cy="-107" r="13" fill="#ffe28a"/><circle cx="0" cy="-134" r="15" fill="#ffe28a"/><circle cx="118" cy="-107" r="13" fill="#ffe28a"/>',
        "beanie": f'<circle cx="0" cy="-120" r="32" fill="{light}" {line}/><path d="M-112 10 C-118 -140 118 -140 112 10Z" fill="{colour}" {line}/><rect x="-122" y="-28" width="244" height="52" rx="24" fill="{dark}" {line}/>'
        + "".join(
            f'<path d="M{x} -22 V18" stroke="{colour}" stroke-width="7"/>' for x in range(-96, 100, 32)
        ),
        "cowboy": f'<path d="M-80 -8 C-92 -130 -60 -150 0 -118 C60 -150 92 -130 80 -8Z" fill="{colour}" {line}/><path d="M-84 -42 Q0 -22 84 -42 L80 -4 H-80Z" fill="{dark}"/><path d="M-205 -58 C-150 10 -80 8 0 14 C80 8 150 10 205 -58 C200 30 110 44 0 44 C-110 44 -200 30 -205 -58Z" fill="{colour}" {line}/>',
        "wizard": f'<path d="M-92 0 C-50 -120 -30 -210 40 -250 C30 -190 60 -90 92 0Z" fill="{colour}" {line}/><ellipse cx="0" cy="4" rx="150" ry="30" fill="{dark}" {line}/><path d="M-20 -80 l8 18 20 2 -15 13 5 20 -18 -11 -18 11 5 -20 -15 -13 20 -2Z" fill="#ffd23f"/><path d="M22 -160 l6 13 14 2 -11 9 4 14 -13 -8 -13 8 4 -14 -11 -9 14 -2Z" fill="#ffd23f"/>',
        "chef": f'<path d="M-85 -40 C-165 -60 -140 -170 -70 -150 C-50 -210 50 -210 70 -150 C140 -170 165 -60 85 -40Z" fill="#fdfcf8" {line}/><path d="M-86 -60 H86 L82 14 Q0 34 -82 14Z" fill="#eceae2" {line}/>',
        "party": f'<path d="M-72 8 L0 -190 L72 8 Q0 32 -72 8Z" fill="{colour}" {line}/><path d="M-52 -46 L44 -68 L54 -40 L-64 -12Z M-30 -105 L22 -130 L32 -100 L-42 -75Z" fill="{light}"/><circle cx="0" cy="-190" r="27" fill="#ffd23f" {line}/>',
        "cap": f'<path d="M-106 8 C-112 -125 112 -125 106 8Z" fill="{colour}" {line}/><path d="M0 10 C80 -26 190 -10 208 30 C150 30 80 26 -10 34Z" fill="{dark}" {line}/><circle cx="0" cy="-92" r="11" fill="{dark}"/><circle cx="0" cy="-38" r="28" fill="#fff7df"/><path d="M-10 -52 h14 a9 9 0 0 1 0 16 a9 9 0 0 1 2 18 h-16Z" fill="{dark}"/>',
        "viking": f'<path d="M-96 -20 C-190 -40 -200 -140 -165 -170 C-160 -110 -130 -90 -80 -80Z" fill="#f3ead2" {line}/><path d="M96 -20 C190 -40 200 -140 165 -170 C160 -110 130 -90 80 -80Z" fill="#f3ead2" {line}/><path d="M-112 14 C-112 -140 112 -140 112 14Z" fill="#9aa3ad" {line}/><rect x="-118" y="-16" width="236" height="38" rx="14" fill="#c98b2b" {line}/><path d="M-12 -104 H12 V20 H-12Z" fill="#c98b2b"/>',
        "hardhat": f'<path d="M-112 4 C-112 -140 112 -140 112 4Z" fill="#ffc42e" {line}/><path d="M-26 -104 Q0 -116 26 -104 V4 H-26Z" fill="#f0a40a"/><rect x="-150" y="-10" width="300" height="34" rx="17" fill="#f0a40a" {line}/>',
        "halo": '<ellipse cx="0" cy="-85" rx="110" ry="30" fill="none" stroke="#ffe680" stroke-width="20"/><ellipse cx="0" cy="-85" rx="110" ry="30" fill="none" stroke="#fffbe0" stroke-width="7"/>',
        "headband": f'<path d="M-112 -6 Q0 34 112 -6 L108 38 Q0 76 -108 38Z" fill="{colour}" {line}/><path d="M104 10 L180 -20 L172 14 L196 44 L112 34Z" fill="{dark}" {line}/><circle cx="0" cy="44" r="17" fill="#fff"/>',
        "grad": f'<path d="M-88 6 V-46 H88 V6 Q0 36 -88 6Z" fill="{dark}" {line}/><path d="M0 -122 L165 -62 L0 -8 L-165 -62Z" fill="{colour}" {line}/><path d="M4 -64 L128 -46 V30" fill="none" stroke="#ffd23f" stroke-width="10"/><circle cx="128" cy="36" r="17" fill="#ffd23f"/>',
        "headphones": f'<path d="M-128 90 C-150 -150 150 -150 128 90" fill="none" stroke="{colour}" stroke-width="26"/><rect x="-158" y="60" width="56" height="112" rx="28" fill="{dark}" {line}/><rect x="102" y="60" width="56" height="112" rx="28" fill="{dark}" {line}/>',
        "propeller": f'<path d="M-108 10 C-112 -110 112 -110 108 10Z" fill="#3a86ff" {line}/><path d="M-45 -68 C-60 -40 -50 0 -48 14 H48 C50 0 60 -40 45 -68 Q0 -92 -45 -68Z" fill="#ffd23f"/><path d="M0 -84 V-128" stroke="#444" stroke-width="12"/><ellipse cx="-52" cy="-132" rx="55" ry="15" fill="#e63946" {line}/><ellipse cx="52" cy="-132" rx="55" ry="15" fill="#2a9d4a" {line}/><path d="M-108 10 Q0 40 108 10 L150 30 Q0 62 -100 30Z" fill="#e63946" {line}/>',
        "sombrero": f'<path d="M-70 -4 C-78 -150 78 -150 70 -4Z" fill="{colour}" {line}/><path d="M-74 -40 Q0 -18 74 -40 L70 0 H-70Z" fill="#2a9d8f"/><path d="M-230 -40 C-160 30 160 30 230 -40 C236 52 120 62 0 62 C-120 62 -236 52 -230 -40Z" fill="{colour}" {line}/><path d="M-205 4 C-120 46 120 46 205 4" fill="none" stroke="#e63946" stroke-width="12" stroke-dasharray="22 14"/>',
        "pirate": f'<path d="M-185 20 C-150 -60 -110 -140 0 -140 C110 -140 150 -60 185 20 C110 -14 -110 -14 -185 20Z" fill="{colour}" {line}/><circle cx="0" cy="-74" r="30" fill="#fff"/><rect x="-17" y="-56" width="34" height="26" rx="7" fill="#fff"/><circle cx="-11" cy="-76" r="8" fill="#222"/><circle cx="11" cy="-76" r="8" fill="#222"/><path d="M-165 4 C-100 -30 100 -30 165 4" fill="none" stroke="#f5b81c" stroke-width="10"/>',
        "sleep": f'<path d="M-105 14 C-100 -120 40 -190 170 -60 C110 -90 100 -60 105 14Z" fill="{colour}" {line}/><rect x="-120" y="-16" width="240" height="46" rx="23" fill="#fbf7ee" {line}/><circle cx="172" cy="-48" r="30" fill="#fbf7ee" {line}/>',
        "flower": "".join(
            f'<g transform="translate({x} {y}) scale({s})">'
            + "".join(
                f'<ellipse cx="0" cy="-26" rx="18" ry="26" fill="{c}" transform="rotate({a})"/>'
                for a in range(0, 360, 72)
            )
            + '<circle r="14" fill="#ffd23f"/></g>'
            for x, y, s, c in (
                (-90, 6, 0.9, "#ff8fab"),
                (-45, -12, 1.0, "#cdb4db"),
                (0, -18, 1.15, "#ffffff"),
                (45, -12, 1.0, "#ffb703"),
                (90, 6, 0.9, "#90e0ef"),
            )
        ),
    }
    return shapes[kind]


def eyewear(kind: str, ink: int) -> str:
    """Glasses whose middle is (0, 0), for eyes at x = ±100."""
    line = f'stroke="{OUTLINE}" stroke-width="{ink * 0.6}" stroke-linejoin="round"'
    px = 26  # one "pixel" of the blocky shades
    block = [
        "####################",
        ".#########.#########",
        ".#w#w#####.#w#w#####",
        "..#w#w####..#w#w###.",
        "...#######...#####..",
    ]
    blocks = "".join(
        f'<rect x="{(c - 10) * px * 0.82:.1f}" y="{(r - 1.5) * px:.1f}" width="{px * 0.84:.1f}" height="{px * 1.03:.1f}" fill="{"#fff" if s == "w" else "#0b0b0f"}"/>'
        for r, row in enumerate(block)
        for c, s in enumerate(row)
        if s != "."
    )
    shapes = {
        "pixelshades": blocks,
        "shades": f'<path d="M-215 -52 H215 V-30 H-215Z" fill="#14141a"/><path d="M-200 -44 H-16 Q-14 64 -105 68 Q-192 64 -200 -44Z" fill="#17171f" {line}/><path d="M200 -44 H16 Q14 64 105 68 Q192 64 200 -44Z" fill="#17171f" {line}/><path d="M-170 -22 L-130 -22 L-165 26Z M46 -22 L86 -22 L51 26Z" fill="#8aa4c8" opacity="0.85"/>',
        "aviator": '<path d="M-30 -40 H30 M-18 -22 H18" stroke="#d9a520" stroke-width="11"/><path d="M-190 -40 Q-105 -62 -28 -38 Q-10 60 -90 78 Q-180 80 -190 -40Z" fill="#35524a" stroke="#d9a520" stroke-width="13"/><path d="M190 -40 Q105 -62 28 -38 Q10 60 90 78 Q180 80 190 -40Z" fill="#35524a" stroke="#d9a520" stroke-width="13"/><path d="M-165 -20 L-110 -28 L-150 40Z M60 -20 L115 -28 L75 40Z" fill="#9fd0bf" opacity="0.6"/>',
        "threed": f'<path d="M-220 -62 H220 V-40 H205 V66 H22 L0 20 L-22 66 H-205 V-40 H-220Z" fill="#f7f7f2" {line}/><rect x="-180" y="-36" width="145" height="78" rx="8" fill="#e63946"/><rect x="35" y="-36" width="145" height="78" rx="8" fill="#1fa2e0"/>',
        "round": '<circle cx="-100" cy="0" r="78" fill="#dff3ff" fill-opacity="0.35" stroke="#2b2b33" stroke-width="17"/><circle cx="100" cy="0" r="78" fill="#dff3ff" fill-opacity="0.35" stroke="#2b2b33" stroke-width="17"/><path d="M-24 -8 Q0 -26 24 -8" fill="none" stroke="#2b2b33" stroke-width="15"/>',
        "monocle": '<circle cx="100" cy="0" r="82" fill="#eaf7ff" fill-opacity="0.35" stroke="#e0a100" stroke-width="19"/><path d="M150 70 C190 180 150 260 120 330" fill="none" stroke="#e0a100" stroke-width="8" stroke-dasharray="14 7"/>',
        "vr": f'<path d="M-300 -24 H300 V34 H-300Z" fill="#30343d"/><rect x="-222" y="-92" width="444" height="176" rx="58" fill="#eef1f6" {line}/><rect x="-188" y="-62" width="376" height="116" rx="42" fill="#1c2433"/><path d="M-160 -34 Q-60 -60 20 -40" fill="none" stroke="#5ce1e6" stroke-width="13" stroke-linecap="round"/><circle cx="138" cy="18" r="13" fill="#ff5ca8"/>',
        "hearts": "".join(
            f'<path d="M{x} 76 C{x - 150} -10 {x - 80} -110 {x} -42 C{x + 80} -110 {x + 150} -10 {x} 76Z" fill="#ff3d7f" stroke="#ffc2d8" stroke-width="13"/><path d="M{x - 50} -30 q18 -26 40 -14" stroke="#fff" stroke-width="12" fill="none" stroke-linecap="round"/>'
            for x in (-102, 102)
        )
        + '<path d="M-30 -12 H30" stroke="#ffc2d8" stroke-width="13"/>',
        "goggles": '<path d="M-290 -22 H290 V26 H-290Z" fill="#2d3142"/><path d="M-215 -78 Q0 -104 215 -78 Q240 70 120 82 Q50 82 0 40 Q-50 82 -120 82 Q-240 70 -215 -78Z" fill="#ff8c42" stroke="#f4f4f2" stroke-width="20"/><path d="M-165 -38 Q-60 -62 40 -50" stroke="#ffe0b8" stroke-width="20" fill="none" stroke-linecap="round"/>',
        "patch": f'<path d="M-260 -96 L260 -30" stroke="#15151b" stroke-width="16"/><path d="M28 -62 H172 Q178 66 100 82 Q22 66 28 -62Z" fill="#15151b" {line}/>',
        "steam": '<path d="M-270 -16 H270 V18 H-270Z" fill="#5a3a22"/>'
        + "".join(
            f'<circle cx="{x}" cy="0" r="88" fill="#c8862b"/><circle cx="{x}" cy="0" r="62" fill="#1d4a4f"/><path d="M{x - 34} -18 q16 -28 46 -22" stroke="#bfeee7" stroke-width="13" fill="none" stroke-linecap="round"/>'
            for x in (-102, 102)
        )
        + '<path d="M-22 0 H22" stroke="#8a5a1b" stroke-width="24"/>',
    }
    return shapes[kind]


def own_head(kind: str, ink: int) -> str:
    """Heads that no emoji set has, drawn for Memedex, filling the 1024 grid; anchors are in figures.py."""
    line = f'stroke="{OUTLINE}" stroke-width="{ink * 1.5}" stroke-linejoin="round" stroke-linecap="round"'
    if kind == "shiba":
        return (
            f'<path d="M190 470 L175 95 Q180 60 215 80 L440 250Z" fill="#e08a2e" {line}/><path d="M834 470 L849 95 Q844 60 809 80 L584 250Z" fill="#e08a2e" {line}/>'
            '<path d="M235 330 L225 165 L345 265Z" fill="#5b3420"/><path d="M789 330 L799 165 L679 265Z" fill="#5b3420"/>'
            f'<path d="M512 205 C760 205 880 380 905 600 C930 800 760 930 512 930 C264 930 94 800 119 600 C144 380 264 205 512 205Z" fill="#e99a3c" {line}/>'
            '<path d="M119 640 C200 560 330 600 380 660 C420 560 460 520 512 520 C564 520 604 560 644 660 C694 600 824 560 905 640 C915 810 760 922 512 922 C264 922 109 810 119 640Z" fill="#fff3df"/>'
            '<ellipse cx="335" cy="425" rx="48" ry="27" fill="#fff3df" transform="rotate(-14 335 425)"/><ellipse cx="689" cy="425" rx="48" ry="27" fill="#fff3df" transform="rotate(14 689 425)"/>'
            '<ellipse cx="340" cy="530" rx="46" ry="52" fill="#2a1a12"/><ellipse cx="684" cy="530" rx="46" ry="52" fill="#2a1a12"/><circle cx="356" cy="511" r="16" fill="#fff"/><circle cx="700" cy="511" r="16" fill="#fff"/>'
            '<path d="M445 640 Q512 610 579 640 Q575 710 512 722 Q449 710 445 640Z" fill="#2a1a12"/><ellipse cx="495" cy="645" rx="22" ry="9" fill="#6b5145"/>'
            '<path d="M512 722 V760 C490 815 400 815 375 770 M512 760 C534 815 624 815 649 770" fill="none" stroke="#2a1a12" stroke-width="18" stroke-linecap="round"/>'
            '<path d="M470 800 Q512 830 554 800 Q560 880 512 890 Q464 880 470 800Z" fill="#f2738c"/>'
        )
    if kind == "capybara":
        return (
            f'<ellipse cx="270" cy="240" rx="72" ry="82" fill="#7d5534" {line}/><ellipse cx="754" cy="240" rx="72" ry="82" fill="#7d5534" {line}/><ellipse cx="270" cy="252" rx="36" ry="44" fill="#593a22"/><ellipse cx="754" cy="252" rx="36" ry="44" fill="#593a22"/>'
            f'<path d="M512 170 C720 170 790 270 800 450 C810 560 840 640 830 760 C815 900 680 945 512 945 C344 945 209 900 194 760 C184 640 214 560 224 450 C234 270 304 170 512 170Z" fill="#a8754a" {line}/>'
            '<path d="M285 640 C285 500 739 500 739 640 L752 760 C745 870 640 905 512 905 C384 905 279 870 272 760Z" fill="#8c5d38"/>'
            ""
            '<ellipse cx="338" cy="462" rx="34" ry="27" fill="#2a1a12"/><ellipse cx="686" cy="462" rx="34" ry="27" fill="#2a1a12"/><circle cx="348" cy="466" r="9" fill="#fff"/><circle cx="696" cy="466" r="9" fill="#fff"/><path d="M284 470 Q298 398 338 398 Q380 398 394 446Z M740 470 Q726 398 686 398 Q644 398 630 446Z" fill="#a8754a"/><path d="M284 472 L394 446 M740 472 L630 446" stroke="#2a1a12" stroke-width="15" stroke-linecap="round"/>'
            '<ellipse cx="425" cy="640" rx="40" ry="26" fill="#2f1d13" transform="rotate(24 425 640)"/><ellipse cx="599" cy="640" rx="40" ry="26" fill="#2f1d13" transform="rotate(-24 599 640)"/>'
            '<path d="M512 690 V770 M405 778 Q455 828 512 775 Q569 828 619 778" fill="none" stroke="#2f1d13" stroke-width="17" stroke-linecap="round"/>'
            + "".join(
                f'<circle cx="{x}" cy="{y}" r="8" fill="#5d3c24"/>'
                for x, y in ((350, 730), (330, 780), (380, 770), (674, 730), (694, 780), (644, 770))
            )
        )
    if kind == "bull":
        return (
            f'<path d="M300 330 C120 330 60 200 95 70 C150 170 230 190 350 205Z" fill="#f5ead0" {line}/><path d="M724 330 C904 330 964 200 929 70 C874 170 794 190 674 205Z" fill="#f5ead0" {line}/>'
            f'<path d="M285 400 C190 370 120 390 80 440 C140 520 230 520 300 480Z" fill="#6d3b26" {line}/><path d="M739 400 C834 370 904 390 944 440 C884 520 794 520 724 480Z" fill="#6d3b26" {line}/>'
            f'<path d="M512 175 C690 175 760 270 755 430 C750 560 715 640 700 700 L324 700 C309 640 274 560 269 430 C264 270 334 175 512 175Z" fill="#8a4b2f" {line}/>'
            '<path d="M400 190 C430 290 470 250 512 330 C554 250 594 290 624 190 C570 150 454 150 400 190Z" fill="#55291a"/>'
            f'<path d="M512 620 C660 620 730 690 730 780 C730 890 640 945 512 945 C384 945 294 890 294 780 C294 690 364 620 512 620Z" fill="#e8b98f" {line}/>'
            '<path d="M300 400 L440 440" stroke="#2a130b" stroke-width="26" stroke-linecap="round"/><path d="M724 400 L584 440" stroke="#2a130b" stroke-width="26" stroke-linecap="round"/>'
            '<ellipse cx="375" cy="485" rx="46" ry="44" fill="#fff"/><ellipse cx="649" cy="485" rx="46" ry="44" fill="#fff"/><circle cx="387" cy="490" r="26" fill="#1d0f0a"/><circle cx="637" cy="490" r="26" fill="#1d0f0a"/>'
            '<ellipse cx="425" cy="740" rx="40" ry="30" fill="#5b2f1e"/><ellipse cx="599" cy="740" rx="40" ry="30" fill="#5b2f1e"/>'
            '<path d="M440 765 C430 880 594 880 584 765" fill="none" stroke="#f5b81c" stroke-width="26" stroke-linecap="round"/>'
            '<path d="M400 895 Q512 925 624 895" fill="none" stroke="#5b2f1e" stroke-width="15" stroke-linecap="round"/>'
        )
    raise KeyError(kind)


def face(mood: str) -> str:
    """Eyes and mouth for a thing that has none, centred on (0, 0), about 240 wide."""
    eye = '<ellipse cx="{x}" cy="-20" rx="30" ry="40" fill="#fff"/><circle cx="{p}" cy="-12" r="19" fill="#16161c"/><circle cx="{h}" cy="-22" r="7" fill="#fff"/>'
    eyes = "".join(eye.format(x=x, p=x + 5, h=x + 11) for x in (-62, 62))
    closed = '<path d="M-96 -14 Q-62 -52 -30 -14 M30 -14 Q62 -52 96 -14" fill="none" stroke="#16161c" stroke-width="15" stroke-linecap="round"/>'
    sleepy = '<path d="M-96 -20 Q-62 14 -30 -20 M30 -20 Q62 14 96 -20" fill="none" stroke="#16161c" stroke-width="15" stroke-linecap="round"/>'
    angry = '<path d="M-100 -78 L-30 -48 M100 -78 L30 -48" stroke="#16161c" stroke-width="17" stroke-linecap="round"/>'
    blush = '<ellipse cx="-112" cy="38" rx="26" ry="15" fill="#ff6f91" opacity="0.7"/><ellipse cx="112" cy="38" rx="26" ry="15" fill="#ff6f91" opacity="0.7"/>'
    grin = '<path d="M-52 40 Q0 118 52 40Z" fill="#7d1128" stroke="#16161c" stroke-width="11" stroke-linejoin="round"/><path d="M-24 78 Q0 62 24 78 Q0 98 -24 78Z" fill="#ff8fa3"/>'
    flat = '<path d="M-42 56 H42" stroke="#16161c" stroke-width="14" stroke-linecap="round"/>'
    smirk = '<path d="M-40 54 Q20 72 50 34" fill="none" stroke="#16161c" stroke-width="14" stroke-linecap="round"/>'
    shock = '<ellipse cx="0" cy="66" rx="26" ry="34" fill="#7d1128" stroke="#16161c" stroke-width="10"/>'
    sad = '<path d="M-40 72 Q0 34 40 72" fill="none" stroke="#16161c" stroke-width="14" stroke-linecap="round"/><path d="M62 26 q-20 36 0 50 q20 -14 0 -50Z" fill="#6ec6ff"/>'
    faces = {
        "happy": eyes + grin + blush,
        "calm": closed
        + '<path d="M-34 44 Q0 72 34 44" fill="none" stroke="#16161c" stroke-width="13" stroke-linecap="round"/>'
        + blush,
        "sleepy": sleepy + flat,
        "angry": eyes + angry + sad.split('<path d="M62')[0],
        "cool": eyes + smirk,
        "shocked": eyes + shock,
        "sad": eyes + sad,
        "deadpan": eyes + flat,
    }
    return faces[mood]


def limbs(pose: str, colour: str) -> str:
    """Rubber-hose arms and legs behind a thing at (512, 480), feet at y = 940."""
    legs = (
        '<path d="M440 680 C430 780 430 840 425 905 M584 680 C594 780 594 840 599 905" fill="none" stroke="#1b1b22" stroke-width="26" stroke-linecap="round"/>'
        f'<path d="M330 945 C325 890 400 880 440 895 L452 945Z" fill="{colour}" stroke="#1b1b22" stroke-width="10"/><path d="M694 945 C699 890 624 880 584 895 L572 945Z" fill="{colour}" stroke="#1b1b22" stroke-width="10"/>'
        '<path d="M326 948 H456 M568 948 H698" stroke="#fff" stroke-width="14" stroke-linecap="round"/>'
    )
    arms = {
        "cheer": (
            "M440 540 C250 520 180 430 165 300",
            "M584 540 C774 520 844 430 859 300",
            (162, 270),
            (862, 270),
        ),
        "hips": (
            "M440 520 C190 530 150 640 300 680",
            "M584 520 C834 530 874 640 724 680",
            (318, 682),
            (706, 682),
        ),
        "wave": (
            "M440 540 C250 560 190 640 200 700",
            "M584 540 C774 520 844 430 859 300",
            (204, 728),
            (862, 270),
        ),
        "hold": (
            "M440 540 C230 580 200 640 240 700",
            "M584 560 C700 570 790 580 850 570",
            (250, 722),
            (868, 570),
        ),
    }[pose]
    return (
        legs
        + "".join(
            f'<path d="{d}" fill="none" stroke="#1b1b22" stroke-width="24" stroke-linecap="round"/>'
            for d in arms[:2]
        )
        + "".join(
            f'<circle cx="{x}" cy="{y}" r="40" fill="#fff" stroke="#1b1b22" stroke-width="10"/>'
            for x, y in arms[2:]
        )
    )
