"""Puts the built web page (ui/) into the wheel and the sdist.

An editable install does not need node: it works without the page, and `proctor web` says how to build it (`make ui`).
An sdist carries the page, so that nothing is built where it is installed from one. A wheel or sdist made from a clone
builds the page with npm; where that is not there, the build stops, unless PROCTOR_WITHOUT_PAGE=1 says that no page is
wanted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling loads it; its builder's config is not used
    """Builds the page before files are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page where this build needs one.

        Raises:
            RuntimeError: npm is missing, or the page could not be built.
        """
        root = Path(self.root)
        is_unpacked_sdist = (root / "PKG-INFO").is_file()
        if version == "editable" or is_unpacked_sdist or os.environ.get("PROCTOR_WITHOUT_PAGE") == "1":
            return
        npm = shutil.which("npm")
        if npm is None:
            raise RuntimeError(
                "the web page is built with node and npm, and npm was not found: install node 20 or newer, or set "
                "PROCTOR_WITHOUT_PAGE=1 for a build without the page"
            )
        for command in ("ci", "--no-audit", "--no-fund"), ("run", "build"):
            if subprocess.run([npm, *command], cwd=root / "ui", check=False).returncode:
                raise RuntimeError(f"npm {' '.join(command)} failed in {root / 'ui'}")
