"""The figures of `bench.load` over time as SVG: four lines, each from 0 to its largest value."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.load import Figures

_WIDTH, _HEIGHT, _LEFT, _TOP = 860, 90, 110, 30
_LINES = (
    ("memory", "MiB", "#3366cc"),
    ("handles", "", "#cc7722"),
    ("threads", "", "#228855"),
    ("tabs", "", "#777777"),
)


def plot(figures: "Figures") -> str:
    """One picture of all samples, with a line where each phase begins."""
    last = max(one.seconds for one in figures.samples)
    parts = []
    for row, (name, unit, colour) in enumerate(_LINES):
        values = [(one.seconds, float(getattr(one, name))) for one in figures.samples]
        most = max(value for _, value in values) or 1.0
        top = _TOP + row * (_HEIGHT + 20)
        points = " ".join(
            f"{_LEFT + _WIDTH * at / last:.1f},{top + _HEIGHT * (1 - value / most):.1f}"
            for at, value in values
        )
        below, middle, side = top + _HEIGHT, top + _HEIGHT / 2 + 5, _LEFT - 8
        parts += [
            f'<line x1="{_LEFT}" y1="{below}" x2="{_LEFT + _WIDTH}" y2="{below}" stroke="#999"/>',
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
            f'<text x="{side}" y="{top + 12}" text-anchor="end">{most:,.0f} {unit}</text>',
            f'<text x="{side}" y="{middle}" text-anchor="end" fill="{colour}">{name}</text>',
            f'<text x="{side}" y="{below}" text-anchor="end">0</text>',
        ]
    bottom = _TOP + len(_LINES) * (_HEIGHT + 20)
    for number, (phase, seconds) in enumerate(
        figures.marks.items()
    ):  # on several lines: some begin close together
        at = _LEFT + _WIDTH * seconds / last
        line = f'x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{bottom}"'
        parts += [
            f'<line {line} stroke="#bbb" stroke-dasharray="3 3"/>',
            f'<text x="{at + 3:.1f}" y="{bottom + 14 * (number % 3)}">{phase} ({seconds:.0f} s)</text>',
        ]
    size = f'width="{_LEFT + _WIDTH + 80}" height="{bottom + 40}"'
    style = 'font-family="sans-serif" font-size="11" style="background: white"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n' + "\n".join(parts) + "\n</svg>\n"
