"""Write the golden queries of the demo library: res/golden/demo.json.

The relevant coins follow from the composition of the pictures (res/demo/manifest.json), never from the
captions: a query names a character, something worn or held, a setting, a light, a style or a mood, and every
coin of the library with this composition is relevant. Copies count like their originals.

    python scripts/make_golden.py
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
Coin = dict[str, Any]
Rule = Callable[[Coin], bool]


def drawn(**facts: Any) -> Rule:
    """Coins of which all these facts hold; several values for one: any of them."""

    def holds(coin: Coin) -> bool:
        return all(
            bool({_plain(coin.get(fact))} & set(wanted if isinstance(wanted, tuple) else (wanted,)))
            for fact, wanted in facts.items()
        )

    return holds


def holding(*things: str) -> Rule:
    return lambda coin: bool(set(things) & set(coin.get("holds", [])))


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


QUERIES: dict[str, Rule] = {
    # one character
    "a cat": drawn(character="cat"),
    "frog": drawn(character="frog"),
    "a shiba inu dog": drawn(character="shiba"),
    "a skull": drawn(character="skull"),
    "a bear": drawn(character=("bear",)),
    "an alien": drawn(character="alien"),
    "hamster": drawn(character="hamster"),
    "a fox": drawn(character="fox"),
    "penguin": drawn(character="penguin"),
    "a capybara": drawn(character="capybara"),
    "a bull": drawn(character="bull"),
    "koala": drawn(character="koala"),
    "a pig": drawn(character="pig"),
    "dragon": drawn(character="dragon"),
    "a ghost": drawn(character="ghost"),
    "robot": drawn(character="robot"),
    "a wolf": drawn(character="wolf"),
    "tiger": drawn(character="tiger"),
    "a panda": drawn(character="panda"),
    "a banana": drawn(character="banana"),
    "clown": drawn(character="clown"),
    "a whale": drawn(character="whale"),
    "owl": drawn(character="owl"),
    "octopus": drawn(character="octopus"),
    "a parrot": drawn(character="parrot"),
    "a crab": drawn(character="crab"),
    "a turtle": drawn(character="turtle"),
    "elephant": drawn(character="elephant"),
    "a goat": drawn(character="goat"),
    "a stone head": drawn(character="moai"),
    "a monkey or an ape": drawn(character=("monkey", "gorilla", "orangutan")),
    # appearance
    "pixel art": drawn(style="pixel art"),
    "neon lights": drawn(style="neon"),
    "vaporwave": drawn(style="vaporwave"),
    "comic book": drawn(style="comic"),
    "a sticker with a white border": drawn(style="sticker"),
    "low poly": drawn(style="low poly"),
    "an oil painting": drawn(style="painted"),
    "hand-drawn with a pen": drawn(style="hand-drawn"),
    "a gold coin or medal": drawn(style="coin medal"),
    "a banknote": drawn(style="banknote"),
    "pop art": drawn(style="pop art"),
    "glitched picture": drawn(style="glitch"),
    "a minimal flat logo": drawn(style="minimal"),
    "meme with capital letters above and below": drawn(style="meme caption"),
    "a glossy 3-D render": drawn(style="3-D"),
    # setting
    "on a farm": drawn(setting="farm"),
    "in front of a castle": drawn(setting="castle"),
    "under water": drawn(setting="underwater"),
    "at the beach": drawn(setting="beach"),
    "in the snow": drawn(setting="snow"),
    "in a storm": drawn(setting="storm"),
    "in a kitchen": drawn(setting="kitchen"),
    "in the office": drawn(setting="office"),
    "at a trading desk with charts": drawn(setting="trading desk"),
    "in the forest": drawn(setting="forest"),
    "on the moon or in space": drawn(setting=("moon", "space")),
    "on a stage": drawn(setting="stage"),
    "at night": drawn(light="night"),
    # clothes and mood
    "wearing a business suit": drawn(clothes="suit"),
    "wearing a hoodie": drawn(clothes="hoodie"),
    "wearing a crown": drawn(hat="crown"),
    "wearing sunglasses": drawn(eyes=("shades", "aviator", "pixelshades")),
    "with a top hat": drawn(hat="top"),
    "cool": drawn(mood="cool"),
    "playful": drawn(mood="playful"),
    "calm and relaxed": drawn(mood=("calm", "chill", "zen")),
    "royal and majestic": drawn(mood="regal"),
}


def main() -> None:
    coins = json.loads((REPOSITORY / "res" / "demo" / "manifest.json").read_text())["coins"]
    originals = {coin["token_address"]: coin for coin in coins}
    library = [
        {**originals.get(coin.get("copy_of", ""), {}), **coin} for coin in coins if coin["tier"] == "library"
    ]
    rows = []
    for line, holds in QUERIES.items():
        answers = [coin["token_address"] for coin in library if holds(coin)]
        if not answers:
            raise SystemExit(f"nothing was drawn for {line!r}")
        rows.append(json.dumps({"line": line, "answers": answers}, ensure_ascii=False))
    target = REPOSITORY / "res" / "golden" / "demo.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text('{"queries": [\n' + ",\n".join(rows) + "\n]}\n", encoding="utf-8")
    print(f"{len(rows)} golden queries")


if __name__ == "__main__":
    main()
