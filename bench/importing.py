"""How fast pictures of 500 pixels are imported, as a Markdown table.

    python -m bench.importing                       # 600 coins of each kind, three runs, some two minutes

Each run imports a folder of pictures with their sidecars into a new library, in a process of its own that has
imported one picture before.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from bench.dashboard import PROJECT
from bench.measuring import machine, print_head, print_row

_RUN = """
import json, resource, sys, tempfile, time
from pathlib import Path
from store.importing import candidates
from store.runtime import open_library

def processor():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

with tempfile.TemporaryDirectory() as root:
    with open_library(Path(root)) as library:
        library.add(candidates([next(Path(sys.argv[1]).glob("*f.json")).with_suffix(sys.argv[2])]))
        start, used = time.perf_counter(), processor()
        report = library.add(candidates([Path(sys.argv[1])]))
        print(json.dumps([len(report.done), time.perf_counter() - start, processor() - used]))
"""


def make_coins(folder: Path, count: int, *, kind: str, side: int = 500) -> None:
    """Write pictures of this kind (JPEG or PNG): shading, shapes, a name and noise; each with its sidecar."""
    folder.mkdir()
    random = np.random.default_rng(0)
    across, down = np.meshgrid(np.arange(side), np.arange(side))
    for number in range(count):
        first, second = random.integers(0, 256, (2, 3))
        shade = ((across + down) / (2 * side))[..., None]
        noise = random.integers(-3, 4, (side, side, 3))
        pixels = (first * shade + second * (1 - shade) + noise).clip(0, 255).astype(np.uint8)
        image = Image.fromarray(pixels)
        draw = ImageDraw.Draw(image)
        for _ in range(6):
            x, y, size = (int(value) for value in random.integers(20, side - 120, 3))
            colour = tuple(int(value) for value in random.integers(0, 256, 3))
            draw.ellipse((x, y, x + size // 3, y + size // 3), fill=colour)
        draw.text((side // 4, side // 2), f"COIN {number}", fill="white", font_size=48)
        address = f"0x{number:040x}"
        if kind == "JPEG":
            image.save(folder / f"{address}.jpg", quality=88)
        else:
            image.save(folder / f"{address}.png")
        sidecar = {
            "token_name": f"Coin {number}",
            "ticker": f"C{number}",
            "description": f"the coin with the number {number}, told of at some length as launch pages do",
            "token_address": address,
            "created_at": 1_700_000_000 + number,
        }
        (folder / f"{address}.json").write_text(json.dumps(sidecar))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--coins", type=int, default=600)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(f"{machine()}; {options.coins} coins of 500 px each, medians of {options.runs}\n")
    print_head("pictures", "coins a second", "processor, ms a coin")
    with tempfile.TemporaryDirectory() as folder:
        for kind, suffix in (("JPEG", ".jpg"), ("PNG", ".png")):
            coins = Path(folder, kind)
            make_coins(coins, options.coins, kind=kind)
            command = [sys.executable, "-c", _RUN, str(coins), suffix]
            answers = [
                json.loads(subprocess.run(command, cwd=PROJECT, capture_output=True, check=True).stdout)
                for _ in range(options.runs)
            ]
            count, seconds, processor = np.median(answers, axis=0)
            print_row(kind, f"{count / seconds:.0f}", f"{1_000 * processor / count:.1f}")


if __name__ == "__main__":
    main()
