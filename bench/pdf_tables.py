"""How many cells of the tables in five papers are read right, and how long a page takes.

    python -m bench.pdf_tables        # needs pdflatex with booktabs and multirow

The papers are set by LaTeX as papers are: one and two columns, booktabs, grids, headers over several columns,
wrapped cells, rows with one label, numbers with signs and units. A cell is right if it is in its row and
column and has its text, spaces apart; a header over several columns is expected in each of them.
"""

import random
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pypdfium2

from store.memory.documents.tables import tables

Rows = list[list[str]]
_WORDS = ["vault", "oracle", "pool", "fee", "curve", "slippage", "liquidity", "epoch", "bridge", "relay",
          "keeper", "auction", "reserve", "stake", "swap", "router", "ledger", "proof"]  # fmt: skip
_PROSE = (
    "The mechanism settles each trade against the reserve and charges a fee that depends on the volatility "
    "of the pair. A keeper who submits a late proof loses part of the stake, and the rest goes to the pool. "
)


def _number(rng: random.Random) -> str:
    return rng.choice(
        (
            f"{rng.uniform(0, 100):.1f}", f"{rng.randint(1, 9_999):,}", f"{rng.uniform(0, 1):.3f}",
            f"-{rng.uniform(0, 9):.2f}", f"{rng.randint(1, 99)}%", f"${rng.randint(1, 900)}M", "-",
        )
    )  # fmt: skip


def _names(rng: random.Random, n: int) -> list[str]:
    return [" ".join(rng.sample(_WORDS, rng.randint(1, 2))).capitalize() for _ in range(n)]


def _tex(cell: str) -> str:
    return cell.replace("%", r"\%").replace("$", r"\$").replace("&", r"\&").replace("#", r"\#")


def _line(row: list[str]) -> str:
    return " & ".join(map(_tex, row)) + r" \\"


def _plain(rng: random.Random, rows: int, columns: int) -> Rows:
    head = ["Scheme", *(name.split()[0] for name in _names(rng, columns - 1))]
    return [head, *([name, *(_number(rng) for _ in range(columns - 1))] for name in _names(rng, rows))]


def booktabs(rng: random.Random, rows: int, columns: int, spec: str = "") -> tuple[str, Rows]:
    grid = _plain(rng, rows, columns)
    body = "\n".join(map(_line, grid[1:]))
    spec = spec or "l" + "r" * (columns - 1)
    tex = rf"\begin{{tabular}}{{{spec}}}\toprule {_line(grid[0])}\midrule {body}\bottomrule\end{{tabular}}"
    return tex, grid


def lined(rng: random.Random, rows: int, columns: int) -> tuple[str, Rows]:
    grid = _plain(rng, rows, columns)
    body = "\n".join(f"{_line(row)}\\hline" for row in grid)
    return rf"\begin{{tabular}}{{|{'c|' * columns}}}\hline {body}\end{{tabular}}", grid


def spanned(rng: random.Random, rows: int, groups: int) -> tuple[str, Rows]:
    """A header of two rows, each upper cell over two columns."""
    above, below = _names(rng, groups), [name.split()[0] for name in _names(rng, 2 * groups)]
    grid = [["Method", *(f"{above[n // 2]} {below[n]}" for n in range(2 * groups))]]
    grid += [[name, *(_number(rng) for _ in range(2 * groups))] for name in _names(rng, rows)]
    upper = "".join(rf" & \multicolumn{{2}}{{c}}{{{one}}}" for one in above)
    rules = "".join(rf"\cmidrule(lr){{{2 * n + 2}-{2 * n + 3}}}" for n in range(groups))
    body = "\n".join(map(_line, grid[1:]))
    tex = (
        rf"\begin{{tabular}}{{l{'cc' * groups}}}\toprule {upper} \\ {rules} Method & {' & '.join(below)} \\"
        rf"\midrule {body}\bottomrule\end{{tabular}}"
    )
    return tex, grid


def labelled(rng: random.Random, bands: int, columns: int) -> tuple[str, Rows]:
    """Bands of rows, each with one label that stands in their middle."""
    grid, tex = [["Kind", *(name.split()[0] for name in _names(rng, columns - 1))]], ""
    for label in _names(rng, bands):
        size = rng.randint(2, 4)
        part = [["", rng.choice(_WORDS), *(_number(rng) for _ in range(columns - 2))] for _ in range(size)]
        part[0][0] = label
        tex += r"\midrule " + "\n".join(
            _line(row) if number else rf"\multirow{{{size}}}{{*}}{{{label}}} & " + _line(row[1:])
            for number, row in enumerate(part)
        )
        grid += part
    spec = "ll" + "r" * (columns - 2)
    return rf"\begin{{tabular}}{{{spec}}}\toprule {_line(grid[0])}{tex}\bottomrule\end{{tabular}}", grid


def wrapped(rng: random.Random, rows: int) -> tuple[str, Rows]:
    """A column of sentences that take several lines."""
    grid = [["Parameter", "Meaning", "Default"]]
    for name in _names(rng, rows):
        words = _PROSE.split()[rng.randint(0, 40) :][: rng.randint(9, 16)]
        grid.append([name, " ".join(words), _number(rng)])
    body = "\n".join(map(_line, grid[1:]))
    start, end = r"\begin{tabular}{lp{4.2cm}r}\toprule", r"\bottomrule\end{tabular}"
    return rf"{start} {_line(grid[0])}\midrule {body}{end}", grid


def papers() -> Iterator[tuple[str, str, list[Rows]]]:
    """Each paper's name, its LaTeX and its tables."""
    rng = random.Random(7)
    kinds = {
        "article": [booktabs(rng, 8, 5), lined(rng, 6, 4), spanned(rng, 7, 2), labelled(rng, 3, 5)],
        "twocolumn": [booktabs(rng, 9, 3), spanned(rng, 6, 1), lined(rng, 5, 3), wrapped(rng, 5)],
        "wide": [booktabs(rng, 14, 8), spanned(rng, 9, 3), labelled(rng, 4, 4), lined(rng, 12, 5)],
        "text": [wrapped(rng, 7), booktabs(rng, 5, 4, "llcc"), wrapped(rng, 4), booktabs(rng, 20, 3)],
        "small": [booktabs(rng, 11, 6), labelled(rng, 5, 6), spanned(rng, 12, 3), lined(rng, 8, 6)],
    }
    for name, found in kinds.items():
        options = "twocolumn" if name == "twocolumn" else "11pt"
        size = r"\footnotesize" if name in ("small", "twocolumn") else ""
        floats = "\n\n".join(
            rf"{_PROSE * 3}\begin{{table}}[h]\centering{size}\caption{{{_PROSE[:70]}}}{tex}\end{{table}}"
            for tex, _ in found
        )
        yield (
            name,
            (
                rf"\documentclass[{options}]{{article}}\usepackage{{booktabs,multirow}}\begin{{document}}"
                rf"\section{{Results}}{floats}{_PROSE * 12}\end{{document}}"
            ),
            [grid for _, grid in found],
        )


def right(expected: Rows, found: Rows) -> int:
    """How many cells of a table are right."""
    return sum(
        "".join(cell.split()) == "".join(other.split())
        for row, others in zip(expected, found, strict=False)
        for cell, other in zip(row, others, strict=False)
    )


def main() -> None:
    """Print the share of right cells for each paper and for all."""
    cells = good = pages = 0
    seconds = 0.0
    for name, tex, expected in papers():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "paper.tex").write_text(tex)
            command = ["pdflatex", "-interaction=batchmode", "paper.tex"]
            subprocess.run(
                command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            document = pypdfium2.PdfDocument((Path(folder) / "paper.pdf").read_bytes())
        begun = time.perf_counter()
        found = [one.rows for page in document for one in tables(page, page.get_textpage())]
        seconds += time.perf_counter() - begun
        pages += len(document)
        mine = sum(len(row) for grid in expected for row in grid)
        best = [max((right(grid, other) for other in found), default=0) for grid in expected]
        each = ", ".join(f"{one / sum(map(len, grid)):.2f}" for one, grid in zip(best, expected, strict=True))
        print(f"{name}: {len(found)} tables for {len(expected)}, cells right {sum(best) / mine:.3f} ({each})")
        cells, good = cells + mine, good + sum(best)
    print(f"all: {good / cells:.3f} of {cells:,} cells, {1000 * seconds / pages:.0f} ms a page of {pages}")


if __name__ == "__main__":
    main()
