"""google-adk's own page: its folder in the wheel, and its Content-Security-Policy.

It is off by default (`proctor web --adk-ui` enables it): the page needs inline styles, and it renders an agent's output in
google-adk's way. It therefore has a looser policy than Proctor's page, which applies only below /dev-ui/.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.util import find_spec
from pathlib import Path

from proctor.errors import MissingExtraError

AT = "/dev-ui"


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


PAGE_CSP = "; ".join(
    (
        "default-src 'none'",
        # the one handler in its markup, which enables its style sheet; and WebAssembly, which draws graphs
        f"script-src 'self' 'wasm-unsafe-eval' 'unsafe-hashes' {_hash(chr(39).join(('this.media=', 'all', '')))}",
        "style-src 'self' 'unsafe-inline' https://fonts.googleapis.com",
        "font-src 'self' data: https://fonts.gstatic.com",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "base-uri 'self'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Only google-adk's own scripts run, requests go only to this server, and fonts come from Google."""


def find_adk_page() -> Path:
    """Return the folder of google-adk's page.

    Raises:
        MissingExtraError: google-adk is not installed, or its wheel has no page.
    """
    try:
        spec = find_spec("google.adk")
    except ModuleNotFoundError:
        spec = None
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(place, "cli", "browser")
        if (folder / "index.html").is_file():
            return folder
    raise MissingExtraError(
        "--adk-ui serves the page that comes with google-adk, and google-adk is not installed: pip install 'proctor[adk]'"
    )
