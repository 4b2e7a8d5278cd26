"""The content security policy: what a page may load, run and contact.

No script is run that does not come from this server, and nothing is sent anywhere else, even if a name or a
text should once be shown as markup. What Streamlit needs beyond its own files: docs/sharing.md.
"""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from streamlit import file_util

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@cache
def content_policy() -> str:
    """The policy of every response that does not bring a stricter one."""
    inline = " ".join(f"'sha256-{digest}'" for digest in _inline_scripts())
    return "; ".join(
        [
            "default-src 'self'",
            # Streamlit runs the script of each component from a blob, and its protobuf library
            # multiplies long integers in WebAssembly.
            f"script-src 'self' blob: 'wasm-unsafe-eval' {inline}".rstrip(),
            # Streamlit and its components write style elements.
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            "worker-src 'self' blob:",
            "frame-src 'none'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def _inline_scripts() -> list[str]:
    """The SHA-256 digests of the scripts in Streamlit's page, in base64."""
    page = Path(file_util.get_static_dir()) / "index.html"
    scripts = _INLINE.findall(page.read_text("utf-8")) if page.is_file() else []
    return [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
