"""The build hook installs the packages of the page only where they are missing or older than their lock."""

import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

NPM = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
if [ "$1" = ci ]; then rm -rf node_modules && mkdir node_modules && echo '{}' > node_modules/.package-lock.json; fi
"""


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a page to build, where `npm` and `node` note how they are called."""
    tools, ui = tmp_path / "tools", tmp_path / "ui"
    tools.mkdir()
    ui.mkdir()
    for name, script in {"npm": NPM, "node": "#!/bin/sh\necho v22.1.0\n"}.items():
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)
    for name in ("package.json", "package-lock.json"):
        (ui / name).write_text("{}")
        os.utime(ui / name, (1, 1))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def _build(clone: Path, root: Path, version: str = "standard") -> list[str]:
    """Run the hook as hatchling does for a build, and return the calls of npm so far."""
    spec = spec_from_file_location("hatch_build", root / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    hook: Any = module.PageHook(str(clone), {}, None, None, str(clone), "wheel")
    hook.initialize(version, {})
    calls = clone / "tools" / "calls"
    return calls.read_text().splitlines() if calls.exists() else []


FIRST = ["ci --no-audit --no-fund", "run build"]


def test_a_second_build_keeps_the_installed_packages(clone: Path, root: Path) -> None:
    assert _build(clone, root) == FIRST
    kept = clone / "ui" / "node_modules" / "kept"
    kept.touch()
    assert _build(clone, root) == [*FIRST, "run build"]
    assert kept.exists()


def test_a_newer_lock_installs_the_packages_again(clone: Path, root: Path) -> None:
    _build(clone, root)
    later = (clone / "ui" / "node_modules" / ".package-lock.json").stat().st_mtime + 10
    os.utime(clone / "ui" / "package-lock.json", (later, later))
    assert _build(clone, root) == FIRST * 2


def test_an_editable_install_builds_no_page(clone: Path, root: Path) -> None:
    assert _build(clone, root, "editable") == []
