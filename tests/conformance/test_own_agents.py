"""The kit on agents of our own: the toy of the one table, in every kind that the main environment has."""

import json
import shutil
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import pytest

from proctor.conformance import Fit, check_agent_sync
from tests.frameworks.environments import is_installed
from tests.frameworks.one_table import HERE
from tests.frameworks.rows import ROWS, Row

IN_MAIN = [row for row in ROWS if not row.environment and row.toy != "cmd_node"]
"""But for the one whose script knows no states beside those of the set: the page's own client stands for it."""


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:coroutine '_convert_tool_union_to_tools':RuntimeWarning"
)  # google-adk, cancelled
@pytest.mark.parametrize("row", IN_MAIN, ids=lambda row: row.toy)
def test_the_toy_keeps_every_rule(row: Row, tmp_path_factory: pytest.TempPathFactory) -> None:
    if row.needs and not is_installed(row.needs):
        pytest.skip(f"{row.needs} is not installed: {row.install}")
    sets = tmp_path_factory.mktemp("sets") / "toy.evalset.json"
    sets.write_text(_without_crash((HERE / "toy.evalset.json").read_text()))
    module = import_module(f"tests.frameworks.toys.{row.toy}")
    with module.serve() if hasattr(module, "serve") else nullcontext(module.root_agent) as agent:
        findings = check_agent_sync(agent, eval_set=sets, failing="Please crash.")
    assert [finding for finding in findings if finding.fit is Fit.FAILED] == []
    assert {finding.name for finding in findings if finding.fit is Fit.OK} >= {
        "events",
        "final-response",
        "pairing",
        "errors",
    }


def test_the_client_of_the_page_in_javascript_keeps_every_rule(root: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: its package, or the one of nodejs.org, brings it")
    page = (root / "docs/agent-protocol.md").read_text()
    (tmp_path / "echo.mjs").write_text(page.partition("```js file=echo_agent.mjs\n")[2].partition("```")[0])
    findings = check_agent_sync(f"cmd:{node} {tmp_path / 'echo.mjs'}")
    assert {finding.name for finding in findings if finding.fit is not Fit.OK} == {
        "pairing",
        "streaming",
        "errors",
    }
    assert [finding for finding in findings if finding.fit is Fit.FAILED] == []


def _without_crash(text: str) -> str:
    data = json.loads(text)
    data["eval_cases"] = [case for case in data["eval_cases"] if case["eval_id"] != "must_be_an_error"]
    return json.dumps(data)
