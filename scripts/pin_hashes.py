"""Write the hash of every file that pip may take for each pin of requirements*.txt, for --require-hashes.

Run after a pin is changed: `.venv/bin/python scripts/pin_hashes.py`. A wheel runs no code when it is
installed, so a source archive is pinned only for a package without wheels. Hashes that a pin has already are
kept: PyTorch's CPU build for Linux comes from an index of its own. The format of the index:
https://packaging.python.org/en/latest/specifications/simple-repository-api/
"""

import re
import sys
from pathlib import Path

import httpx
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

SIMPLE = "application/vnd.pypi.simple.v1+json"
PIN = re.compile(r'(?P<name>[\w.-]+)==(?P<version>[\w.+]+)(?P<marker> *; \S+ \S+ "\w+")?')
# What Memedex runs on: Python 3.11 or newer on Linux, macOS and Windows with 64 bits.
INTERPRETER = re.compile(r"py3\d*|cp31[1-9]")
STABLE_INTERPRETER = re.compile(r"cp3\d*")
PLATFORM = re.compile(r"any|manylinux.*_(x86_64|aarch64)|linux_(x86_64|aarch64)|macosx_.*|win_(amd64|arm64)")


def is_usable(filename: str) -> bool:
    """Whether pip may take this wheel on a machine that Memedex supports."""
    return any(
        PLATFORM.fullmatch(tag.platform)
        and (STABLE_INTERPRETER if tag.abi == "abi3" else INTERPRETER).fullmatch(tag.interpreter)
        for tag in parse_wheel_filename(filename)[3]
    )


def hashes(client: httpx.Client, name: str, version: str) -> set[str]:
    """The SHA-256 of the usable wheels of this release, or of its source archive if it has none."""
    response = client.get(f"/simple/{canonicalize_name(name)}/", headers={"Accept": SIMPLE})
    wheels, sources = set(), set()
    for file in response.raise_for_status().json()["files"]:
        found: str = file["hashes"]["sha256"]
        try:
            if str(parse_wheel_filename(file["filename"])[1]) == version and is_usable(file["filename"]):
                wheels.add(found)
        except InvalidWheelFilename:
            if file["filename"].endswith(f"-{version}.tar.gz"):
                sources.add(found)
    return wheels or sources


def main(files: list[Path]) -> None:
    with httpx.Client(base_url="https://pypi.org", timeout=60) as client:
        for path in files:
            written = []
            for line in re.sub(r"\\\n\s*", " ", path.read_text(encoding="utf-8")).splitlines():
                pin = PIN.match(line)
                if pin:
                    known = set(re.findall(r"--hash=sha256:(\w+)", line))
                    found = known | hashes(client, pin["name"], pin["version"])
                    if not found:
                        raise SystemExit(f"{line}: the index has no file of this release")
                    line = " \\\n".join(
                        [pin[0].strip(), *(f"    --hash=sha256:{digest}" for digest in sorted(found))]
                    )
                written.append(line)
            path.write_text("\n".join(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(Path().glob("requirements*.txt")))
