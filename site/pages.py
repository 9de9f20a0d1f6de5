"""What mkdocs asks for each page: the words after a fence's language are removed, and the samples get pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "examples" / "README.md"
RETAIL = ROOT / "examples" / "retail" / "README.md"
_SOURCE = re.compile(r"\[[^\]]*\]\(([\w/.]+\.(?:py|sql|yaml|json|toml))\)")
_FENCE = re.compile(r"^(\s*`{3,})([\w-]+)[^\n`]*$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leave of each fence its language (the other words are for the tests of the examples); the samples have a page."""
    up = "../" * page.file.src_uri.count("/")
    text = _FENCE.sub(r"\1\2", markdown)
    text = re.sub(r"\]\((?:\.\./)+examples/retail/README\.md", f"]({up}retail.md", text)
    return re.sub(r"\]\((?:\.\./)+examples/README\.md", f"]({up}samples.md", text)


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages of the samples."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "samples.md", content=sample_page(SAMPLES)))
    files.append(File.generated(config, "retail.md", content=sample_page(RETAIL)))
    return files


def sample_page(page: Path) -> str:
    """Return the page of samples as one of the site: links to other pages lead to them, those to sources are names."""
    folder = page.parent.relative_to(ROOT).as_posix()
    text = re.sub(r"\]\((?:\.\./)+docs/", "](", page.read_text(encoding="utf-8"))
    return _SOURCE.sub(rf"`{folder}/\1`", text.replace("](retail/README.md)", "](retail.md)"))
