"""The evidence sheet of a rejected coin: one HTML file that stands by itself, for an appeal."""

from base64 import b64encode
from html import escape
from io import BytesIO

from PIL import Image, ImageChops, ImageOps

from store.catalog import confusables
from store.disk.images import QUALITY
from store.errors import MemedexError
from store.reading.reader import Reader
from store.records import Record
from store.rules.families import Member, Told, day

_SIDE = 320  # px
_VISIBLE = 40  # of 255: less is what JPEG changes
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:1060px;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}figure{display:inline-block;margin:0 1rem 1rem 0;vertical-align:top}"
    "img{width:320px;max-width:100%;border-radius:8px}figcaption{max-width:320px}"
    "mark{background:#ffd54d;color:#000}table{border-spacing:1rem .2rem;margin-left:-1rem}"
    "th{text-align:left;vertical-align:top}code{overflow-wrap:anywhere}"
)
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
{body}
</html>
"""


def page(title: str, body: str) -> bytes:
    """An HTML file that loads nothing; `body` is HTML already."""
    return _PAGE.format(policy=_POLICY, title=escape(title), style=_STYLE, body=body).encode()


def sheet(reader: Reader, told: Told, original: Record | None, *, actor: str) -> bytes:
    """The sheet of a rejected coin, beside the coin that it is a copy of, if it is one.

    `actor` rejected it.
    """
    one = told.member
    figures = [_figure(_picture(reader, one.address), "The rejected coin")]
    rows = [("Address", f"<code>{escape(one.address)}</code>")]
    name, ticker = escape(one.name), escape(one.ticker)
    if original is not None:
        own, other = _picture(reader, one.address), _picture(reader, original.address)
        figures.append(_figure(other, f"{original.name}, of which it is a copy"))
        if own and other:
            figures.append(_figure(_difference(own, other, one), "Where both differ, in red"))
        name, ticker = _marked(one.name, original.name), _marked(one.ticker, original.ticker)
    rows += [("Name", name), ("Ticker", ticker), ("Created", day(one.created_at))]
    if original is not None:
        rows += [
            (
                "Copy of",
                f"{escape(original.name)} ({escape(original.ticker)}), created {day(original.created_at)}",
            ),
            ("", f"<code>{escape(original.address)}</code>"),
            ("By", f"{escape(', '.join(one.done))}; {one.sure:.0%} sure"),
        ]
    rows += [
        ("Rejected", f"{day(one.rejected_at)} by {escape(actor)}"),
        ("Reason", escape(one.reason) or "none was given"),
    ]
    table = "".join(f"<tr><th>{head}</th><td>{text}</td></tr>" for head, text in rows)
    body = f"<h1>{escape(one.name)}: rejected</h1><p>{escape(told.sentence)}</p>"
    return page(f"{one.name}: rejected", f"{body}<div>{''.join(figures)}</div><table>{table}</table>")


def _picture(reader: Reader, address: str) -> Image.Image | None:
    try:
        with Image.open(reader.picture(address)) as image:
            return image.convert("RGB").resize((_SIDE, _SIDE))
    except (OSError, MemedexError):
        return None


def _difference(own: Image.Image, other: Image.Image, one: Member) -> Image.Image:
    """The rejected picture in grey, red where the other one, turned as it was, differs."""
    turned = ImageOps.mirror(other) if "mirrored" in one.done else other
    differs = ImageChops.difference(own, turned).convert("L").point(lambda value: 255 * (value > _VISIBLE))
    grey = ImageOps.colorize(own.convert("L"), "#777777", "#ffffff")
    return Image.composite(Image.new("RGB", own.size, "#d32f2f"), grey, differs)


def _figure(image: Image.Image | None, caption: str) -> str:
    if image is None:
        return f"<figure><figcaption>{escape(caption)}: its picture is missing.</figcaption></figure>"
    file = BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    data = b64encode(file.getvalue()).decode()
    text = escape(caption)
    shown = f'<img alt="{text}" src="data:image/jpeg;base64,{data}">'
    return f"<figure>{shown}<figcaption>{text}</figcaption></figure>"


def _marked(own: str, other: str) -> str:
    """The name with what differs from the other's marked, and letters in disguise named."""
    pieces, _ = confusables.compared_names(own, other)
    return "".join(
        f"<mark>{escape(one.text)}</mark>" + (f" <small>({escape(one.note)})</small>" if one.note else "")
        if one.differs
        else escape(one.text)
        for one in pieces
    )
