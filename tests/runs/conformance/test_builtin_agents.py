"""The kit on agents of our own: the toy of the one table keeps every rule, in every kind and its own environment."""

import json
import shutil
from pathlib import Path

import pytest

from proctor.conformance import Fit, check_agent_sync
from tests.agents.frameworks.environments import is_installed, python_of, run_in
from tests.agents.frameworks.rows import ROWS, Row

CHECKED = [row for row in ROWS if row.toy != "cmd_node"]
"""Skip the one whose script has only the states of the set: the page's own client replaces it."""


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize("row", CHECKED, ids=lambda row: row.toy)
def test_the_toy_keeps_every_rule(row: Row) -> None:
    if not python_of(row.environment).exists():
        pytest.skip(f"the environment of {row.environment} is not installed: make {row.environment}")
    if row.needs and not is_installed(row.needs):
        pytest.skip(f"{row.needs} is not installed: {row.install}")
    done = run_in(row.environment, "-W", "ignore", "tests/runs/conformance/toy_checks.py", row.toy)
    assert done.returncode == 0, done.stderr[-4_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert {name: evidence for name, (fit, evidence) in found.items() if fit == "failed"} == {}
    seen = {name for name, (fit, _) in found.items() if fit == "ok"}
    assert seen >= {
        "events",
        "final-response",
        "order",
        "pairing",
        "state",
        "leaving",
        "concurrency",
        "errors",
    }


@pytest.mark.nightly
@pytest.mark.slow
def test_the_client_of_the_page_in_javascript_keeps_every_rule(root: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: its package, or the one of nodejs.org, brings it")
    page = (root / "docs/reference/agent-protocol.md").read_text()
    (tmp_path / "echo.mjs").write_text(page.partition("```js file=echo_agent.mjs\n")[2].partition("```")[0])
    findings = check_agent_sync(f"cmd:{node} {tmp_path / 'echo.mjs'}")
    assert {finding.name for finding in findings if finding.fit is not Fit.OK} == {
        "pairing",
        "streaming",
        "errors",
    }
    assert [finding for finding in findings if finding.fit is Fit.FAILED] == []
