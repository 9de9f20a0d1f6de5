"""A small page as the build leaves it, and what a browser would find in a file that uses one."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

INDEX = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Proctor</title>
    <script type="module" crossorigin src="/assets/app-1.js"></script>
    <link rel="stylesheet" crossorigin href="/assets/app-2.css">
  </head>
  <body>
    <div id="root"></div>
  </body>
</html>
"""
SCRIPT = 'document.title = "</script><!-- ünïcode";'


def make_page(folder: Path) -> Path:
    """Make a page as the build leaves it, but small."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX, "utf-8")
    (folder / "assets" / "app-1.js").write_text(SCRIPT, "utf-8")
    (folder / "licenses.md").write_text("One --> two", "utf-8")
    (folder / "assets" / "app-2.css").write_text("body{margin:0}", "utf-8")
    return folder


@dataclass
class Read:
    """What a browser would find in the file."""

    text: str
    head: dict[str, Any] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.head = json.loads(self.element("proctor-file"))
        self.first = json.loads(self.chunk(0))

    def element(self, name: str) -> str:
        found = re.findall(rf'<script type="[^"]+" id="{name}">([^<]*)</script>', self.text)
        assert len(found) == 1, name
        return str(found[0])

    def chunk(self, number: int) -> bytes:
        return gzip.decompress(base64.b64decode(self.element(f"proctor-chunk-{number}"), validate=True))

    def get(self, path: str) -> Any:
        """Answer as the page's own `FileSource` does."""
        if path in self.first["documents"]:
            return self.first["documents"][path]
        return json.loads(self.chunk(self.first["where"][path]))[path]
