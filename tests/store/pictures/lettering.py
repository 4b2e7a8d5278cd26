"""Pictures with lettering, for tests of what reads it."""

from functools import cache
from io import BytesIO

from PIL import Image, ImageDraw

from store.disk.images import normalise


@cache
def lettered(*lines: str, turned: str = "") -> bytes:
    """A JPG of the library with these lines; `turned`: "mirrored" or "upside down"."""
    image = Image.new("RGB", (512, 512), (40, 90, 160))
    pen = ImageDraw.Draw(image)
    pen.ellipse((60, 60, 450, 450), fill=(240, 190, 60))
    for number, line in enumerate(lines):
        pen.text(
            (256, 120 + 110 * number),
            line,
            font_size=56,
            anchor="mm",
            fill="white",
            stroke_width=4,
            stroke_fill="black",
        )
    if turned == "mirrored":
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    elif turned == "upside down":
        image = image.rotate(180)
    file = BytesIO()
    image.save(file, "PNG")
    return normalise(file.getvalue())
