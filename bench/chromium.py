"""Where the benchmarks find a Chromium, and when a dashboard can be opened in it."""

import shutil
import time
import urllib.request

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")


def chromium() -> str:
    """The path of a Chromium. Raises SystemExit without one."""
    for path in filter(None, map(shutil.which, _NAMES)):
        return path
    raise SystemExit("no Chromium was found (Debian: apt install chromium)")


def wait_for_dashboard(port: int) -> None:
    """Wait until a dashboard listens on this port. Raises SystemExit after a minute without one."""
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the dashboard did not start")
