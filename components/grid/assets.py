"""The grid's script and style, the latter joined from its files."""

from pathlib import Path

from components.shell import format, javascript

_HERE = Path(__file__).resolve().parent
_STYLES = ("grid", "tags", "panel", "comparison", "ranking", "views")

HTML = '<div class="memedex-grid"></div>\n'


def script(name: str = "main.js") -> str:
    """The grid's JavaScript, or another component's of this folder."""
    return javascript.component(_HERE / "js" / name)


def style(*names: str) -> str:
    """These parts of the style, or all of it."""
    tiers = " ".join(f"--{tier}: var(--st-{color}-text-color);" for tier, color in format.TIER_COLORS.items())
    files = ((_HERE / f"{name}.css").read_text("utf-8") for name in names or _STYLES)
    return "\n".join([f".memedex-grid {{ {tiers} }}", *files])
