"""Where the benchmarks find a Chromium."""

import shutil

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")


def chromium() -> str:
    """The path of a Chromium. Raises SystemExit without one."""
    for path in filter(None, map(shutil.which, _NAMES)):
        return path
    raise SystemExit("no Chromium was found (Debian: apt install chromium)")
