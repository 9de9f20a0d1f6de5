"""google-adk's recorded runs of `AgentEvaluator`, through `AgentEvaluator` here: same verdicts, lines, numbers, CSV."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.compat.adk.evaluation import AgentEvaluator
from proctor.errors import SetupProblems
from proctor.registry import AGENTS
from tests.wire.recorded import Json, golden, scripted

RECORDED = 16
DURATION = "invocation_duration_v1"

REFUSED = {
    "no cases": "a.test.json:1:1: error: eval_cases: no cases",
    "missing file": "none.test.json: no such file",
    "unknown metric": "No metric named 'no_such_metric'",
    "module without agent": "has none of root_agent, get_agent_async, app",
}
"""What stops a run before the first agent call: a ValueError here. ADK finds the unknown metric when all agents were called."""


@pytest.fixture
def project(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the recorded agent as the module `scripted_app`, as it was there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    agent = scripted(shared)
    agent.name = "helper"  # type: ignore[attr-defined]  # what an agent in a tree is found by
    AGENTS.add("recorded", lambda _: agent)
    (tmp_path / "scripted_app").mkdir()
    source = "from proctor.registry import AGENTS\nroot_agent = AGENTS.get('recorded')('')\n"
    (tmp_path / "scripted_app" / "agent.py").write_text(source)
    (tmp_path / "scripted_app" / "__init__.py").write_text("from . import agent\n")
    (tmp_path / "golden_custom.py").write_text("from tests.wire.golden_custom import always_03, always_07\n")
    yield tmp_path
    AGENTS.remove("recorded")


def vectors(shared: Path) -> list[Json]:
    found: list[Json] = golden(shared, "agent_evaluator.json", RECORDED)["vectors"]
    return found


def vector(shared: Path, name: str) -> Json:
    return next(one for one in vectors(shared) if one["name"] == name)


NAMES = [
    "new format passes", "old format passes", "old format fails", "mixed fails", "no detailed print",
    "inference failure", "in order config", "unknown metric", "custom metrics", "no cases", "recursive directory",
    "module .agent", "module without agent", "agent by own name", "evalset.json given as file", "missing file",
]  # fmt: skip


def test_every_recorded_run_is_here(shared: Path) -> None:
    assert [one["name"] for one in vectors(shared)] == NAMES


def write(project: Path, recorded: Json) -> None:
    for name, content in recorded["files"].items():
        path = project / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
        if recorded["config"] is not None:
            (path.parent / "test_config.json").write_text(json.dumps(recorded["config"]), encoding="utf-8")


def evaluate(project: Path, recorded: Json, **more: Any) -> Any:
    """As the recording called it; in the plain form."""
    write(project, recorded)
    module = {"module .agent": "scripted_app.agent", "module without agent": "golden_custom"}
    agent = module.get(recorded["name"], "scripted_app")
    return AgentEvaluator.evaluate(agent, recorded["path"], **recorded["kwargs"], **more)


SUMMARY = re.compile(r"^Summary: .*$", re.MULTILINE)


@pytest.mark.filterwarnings("ignore:.*proctor migrate:DeprecationWarning")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_verdict_message_and_printed_lines_are_the_same(
    shared: Path, project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    recorded = vector(shared, name)
    if recorded["result"]["passed"]:
        evaluate(project, recorded)
    else:
        with pytest.raises(AssertionError) as failed:
            evaluate(project, recorded)
        ours = [line for line in str(failed.value).splitlines() if not line.startswith("  ")]
        assert sorted(ours) == sorted(recorded["result"]["message"].splitlines())
    printed = [line for line in SUMMARY.findall(capsys.readouterr().out) if DURATION not in line]
    theirs = recorded["summary_lines"]
    extra = [line for line in printed if line not in theirs]
    assert sorted(line for line in printed if line in theirs) == sorted(theirs)
    assert (extra != []) is (name == "inference failure")  # ADK prints nothing about a case that broke


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_is_a_value_error_before_the_first_call(
    shared: Path, project: Path, name: str
) -> None:
    recorded = vector(shared, name)
    assert recorded["result"]["passed"] is False
    with pytest.raises(ValueError, match=re.escape(REFUSED[name])) as refused:
        evaluate(project, recorded)
    assert isinstance(refused.value, SetupProblems)


@pytest.mark.filterwarnings("ignore:.*proctor migrate:DeprecationWarning")
@pytest.mark.parametrize("name", ["new format passes", "old format fails"])
def test_the_csv_is_the_same(shared: Path, project: Path, name: str) -> None:
    """ADK has the cases in the order in which they ended; here they are in the order of the set."""
    recorded = vector(shared, name)
    try:
        evaluate(project, recorded, output_file="out/results.csv", print_detailed_results=False)
    except AssertionError:
        assert recorded["result"]["passed"] is False
    ours = comparable((project / "out" / "results.csv").read_text(encoding="utf-8"))
    assert ours == comparable(recorded["csv"])


def comparable(text: str) -> list[list[str]]:
    """The rows without the duration metric, the random ids of calls and of an old file's set, and the file's name."""
    text = re.sub(r"id='adk-[^']+'", "id", text)
    rows = [row for row in csv.reader(io.StringIO(text)) if row[2] != DURATION]
    by_case = [["", "", *row[2:]] if ".test" in row[1] or row[1] == "a" else row for row in rows[1:]]
    return [rows[0], *sorted(by_case)]


def test_a_csv_is_appended_to_and_has_one_header(shared: Path, project: Path) -> None:
    recorded = vector(shared, "recursive directory")
    for _ in range(2):
        evaluate(project, recorded, output_file=project / "all.csv", print_detailed_results=False)
    lines = (project / "all.csv").read_text(encoding="utf-8").splitlines()
    assert [line.startswith("eval_set_id,") for line in lines].count(True) == 1
    assert len(lines) == 1 + 2 * 3 * 6  # two runs; two cases with one and two turns; six metrics
