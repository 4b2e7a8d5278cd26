"""Coins that a person, and the offline model, can tell from each other."""

from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageDraw

from store.importing.candidate import Candidate


def picture(color: str, *, mark: str = "circle") -> bytes:
    """A picture that a person can tell from others, as PNG."""
    image = Image.new("RGB", (128, 128), "white")
    draw = ImageDraw.Draw(image)
    {"circle": draw.ellipse, "square": draw.rectangle}[mark]((20, 20, 108, 108), fill=color)
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@dataclass(frozen=True)
class Coin:
    """A record for a test; with captions it can stand in the library."""

    address: str
    name: str
    color: str
    entity: str = ""
    context: str = ""
    visual: str = ""
    tags: tuple[str, ...] = ()
    mark: str = "circle"

    def candidate(self) -> Candidate:
        facets = {"entity": self.entity, "context": self.context, "visual": self.visual}
        sidecar = {
            "token_address": self.address,
            "token_name": self.name,
            "ticker": self.name.split()[-1].upper()[:8],
            "description": "",
            "created_at": 1_700_000_000,
            "tags": list(self.tags),
            "caption": {facet: text for facet, text in facets.items() if text},
        }
        return Candidate(self.address, sidecar, picture(self.color, mark=self.mark))


FROG = Coin(
    "local-frog",
    "Rainy Frog",
    "green",
    "A green frog under an umbrella in the rain",
    "Buying the dip",
    tags=("frog",),
)
DOG = Coin("local-dog", "Moon Dog", "orange", "A dog in a space suit", "To the moon", "Pixel art", ("dog",))
CAT = Coin(
    "local-cat", "Sad Cat", "gray", "A crying cat at a computer", "Losing money at night",
    tags=("cat",), mark="square",
)  # fmt: skip
PIZZA = Coin(
    "local-pizza", "Pizza Slice", "red", "A slice of pizza with cheese", "Two pizzas for 10,000 coins"
)
COINS = (FROG, DOG, CAT, PIZZA)
UNCAPTIONED = Coin("local-ape", "Quiet Ape", "brown")
PENDING = Coin("local-fish", "New Fish", "blue")
