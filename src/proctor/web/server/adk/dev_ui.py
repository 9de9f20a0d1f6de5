"""google-adk's own page: where its wheel has it, and what a browser is told about it.

It is off unless somebody asks for it (`proctor web --adk-ui`): the page is google-adk's, it needs styles in its markup,
and what an agent says is shown there as google-adk shows it. So it has rules of its own, looser than ours, and they
hold below /dev-ui/ only.
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
        # the one handler in its markup, which switches its style sheet on; and a picture of graphs is drawn by WebAssembly
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
"""Nothing runs that is not google-adk's own, and nothing is sent anywhere but here; its fonts are Google's."""


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
