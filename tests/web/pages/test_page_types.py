"""The page is written against what the server reports about itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.nightly
@pytest.mark.slow
def test_types_of_the_page_are_those_of_the_api(root: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: https://nodejs.org, version 20 or newer")
    if not (root / "ui" / "node_modules" / "openapi-typescript").is_dir():
        pytest.skip("ui/node_modules is not filled: make ui")
    checked = subprocess.run(
        [node, "scripts/types.mjs", "--check"],
        cwd=root / "ui",
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert checked.returncode == 0, checked.stderr
