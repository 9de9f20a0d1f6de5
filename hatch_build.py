"""Puts the built web page (ui/) into the wheel and the sdist.

An editable install does not need node: it works without the page, and `proctor web` says how to build it (`make ui`).
An sdist carries the page, so that nothing is built where it is installed from one. A wheel or sdist made from a clone
builds the page with npm, and installs its packages only where `ui/node_modules` is older than their lock. Without npm,
or with a node that is too old, everything but the page is built, with a warning: `.ci/run` looks for the page in what is
to be released. PROCTOR_WITHOUT_PAGE=1 leaves the page out on purpose.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = (20, 19)
"""The oldest node that builds the page, as ui/package.json says."""


def _node() -> tuple[int, ...]:
    """The version of node, major and minor; nothing, which is older than any, where it does not tell."""
    node = shutil.which("node")
    told = (
        subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
        if node
        else ""
    )
    return tuple(int(number) for number in re.findall(r"\d+", told)[:2])


def _has_packages(ui: Path) -> bool:
    """True where `ui/node_modules` was filled after the last change of what it is filled from."""
    filled = ui / "node_modules" / ".package-lock.json"  # npm writes it last
    sources = [ui / name for name in ("package.json", "package-lock.json", ".npmrc")]
    return filled.is_file() and all(
        source.stat().st_mtime <= filled.stat().st_mtime for source in sources if source.is_file()
    )


class PageHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling loads it; its builder's config is not used
    """Builds the page before files are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page where this build needs one.

        Raises:
            RuntimeError: the page could not be built.
        """
        root = Path(self.root)
        is_unpacked_sdist = (root / "PKG-INFO").is_file()
        if version == "editable" or is_unpacked_sdist or os.environ.get("PROCTOR_WITHOUT_PAGE") == "1":
            return
        npm = shutil.which("npm")
        if npm is None or _node() < NODE:
            self.app.display_warning(
                f"{'npm was not found' if npm is None else 'node is too old'}: this is Proctor without its web page "
                f"(`proctor web` and the report html need it). It is built with node {'.'.join(map(str, NODE))} or newer"
            )
            return
        ui = root / "ui"
        commands = (
            [("run", "build")] if _has_packages(ui) else [("ci", "--no-audit", "--no-fund"), ("run", "build")]
        )
        for command in commands:
            if subprocess.run([npm, *command], cwd=ui, check=False).returncode:
                raise RuntimeError(
                    f"npm {' '.join(command)} failed in {ui}; PROCTOR_WITHOUT_PAGE=1 builds without the page"
                )
