"""Plug-ins of packages that fail or return nothing: a configuration error that names the plug-in, never a bug of Proctor."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello there"}]}}
EVAL_SET = {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [TURN]}]}
AGENT = ("mine:x", "s.evalset.json")
REPORT = ("agent.py:agent", "s.evalset.json", "--report", "mine=out.txt")
JUDGE = ("agent.py:agent", "s.evalset.json", "--config", "judged.json", "--judge", "mine:x")
STORE = ("agent.py:agent", "s.evalset.json", "--store", "mine:x")

FAILING = [
    pytest.param("agents", AGENT, "def made(rest): raise RuntimeError('out of order')", "RuntimeError: out of order", id="an agent loader raises"),
    pytest.param("agents", AGENT, "def made(rest): raise SystemExit(0)", "SystemExit: 0", id="an agent loader exits"),
    pytest.param("agents", AGENT, "def made(): return print", "TypeError", id="an agent loader takes no argument"),
    pytest.param("agents", AGENT, "def made(rest): return None", "returned None", id="an agent loader returns nothing"),
    pytest.param("models", JUDGE, "def made(name): raise ValueError('no key')", "ValueError: no key", id="a provider raises"),
    pytest.param("models", JUDGE, "def made(name): raise SystemExit(0)", "SystemExit: 0", id="a provider exits"),
    pytest.param("models", JUDGE, "def made(name): return None", "returned None", id="a provider returns nothing"),
    pytest.param("models", JUDGE, "def made(name): return 'valid'", "is not a model", id="a provider returns a text"),
    pytest.param("stores", STORE, "def made(url, read_only=False): raise OSError('no disk')", "OSError: no disk", id="a store raises"),
    pytest.param("stores", STORE, "def made(url, read_only=False): return None", "returned None", id="a store returns nothing"),
    pytest.param("reports", REPORT, "made = None", "is not a report", id="a report is nothing"),
    pytest.param("reports", REPORT, "class made: pass", "is not a report", id="a report cannot write"),
]  # fmt: skip


def project(folder: Path, kind: str, source: str) -> None:
    """Write a project, and a package that registers `made` of `source` as the plug-in `mine`."""
    (folder / "agent.py").write_text("def agent(text):\n    return 'hello there'\n")
    (folder / "s.evalset.json").write_text(json.dumps(EVAL_SET))
    (folder / "judged.json").write_text('{"criteria": {"final_response_match_v2": 0.5}}')
    (folder / "plug.py").write_text(source)
    info = folder / "plug-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[proctor.{kind}]\nmine = plug:made\n")


def evaluate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `proctor eval` where the package is on the import path."""
    start = "import sys; sys.path.insert(0, '.'); from proctor.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", start, "eval", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(("kind", "arguments", "source", "message"), FAILING)
def test_a_plugin_that_fails_is_a_configuration_error(
    tmp_path: Path, kind: str, arguments: tuple[str, ...], source: str, message: str
) -> None:
    project(tmp_path, kind, source)
    done = evaluate(tmp_path, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "'mine'" in done.stderr or "is not a model" in done.stderr
    assert "bug in Proctor" not in done.stderr


@pytest.mark.slow
def test_a_report_that_exits_leaves_the_verdict(tmp_path: Path) -> None:
    source = "class made:\n    def write(self, runs, out, *, options=None):\n        raise SystemExit(0)\n"
    project(tmp_path, "reports", source)
    done = evaluate(tmp_path, *REPORT)
    assert done.returncode == 3
    assert "the report mine could not be written" in done.stderr
