"""google-adk's recorded runs of `AgentEvaluator`, through `AgentEvaluator` here: same verdicts, lines, numbers, CSV."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.common.registry import AGENTS
from proctor.compat.adk.evaluation import AgentEvaluator
from proctor.compat.adk.evaluation.eval_metrics import PrebuiltMetrics
from proctor.compat.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager
from proctor.errors import SetupProblems
from tests.compat.golden.recorded import Json, golden

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
def project(agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the recorded agent as the module `scripted_app`, as in the recording."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    agent.name = "helper"  # what an agent in a tree is found by
    AGENTS.add("recorded", lambda _: agent)
    (tmp_path / "scripted_app").mkdir()
    source = "from proctor.common.registry import AGENTS\nroot_agent = AGENTS.get('recorded')('')\n"
    (tmp_path / "scripted_app" / "agent.py").write_text(source)
    (tmp_path / "scripted_app" / "__init__.py").write_text("from . import agent\n")
    (tmp_path / "golden_custom.py").write_text(
        "from tests.compat.golden.golden_custom import always_03, always_07\n"
    )
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
    """As the recording called it, with google-adk's default of `print_detailed_results`; in the plain form."""
    more.setdefault("print_detailed_results", recorded["kwargs"].get("print_detailed_results", True))
    write(project, recorded)
    module = {"module .agent": "scripted_app.agent", "module without agent": "golden_custom"}
    agent = module.get(recorded["name"], "scripted_app")
    return AgentEvaluator.evaluate(agent, recorded["path"], **{**recorded["kwargs"], **more})


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


# --- besides the recorded runs ------------------------------------------------------------------------------------------


def echo(text: str) -> str:
    return text


def a_set(eval_set_id: str = "s", *, answer: str = "hi") -> Json:
    turn = {
        "user_content": {"parts": [{"text": "hi"}]},
        "final_response": {"parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": []},
    }
    return {"eval_set_id": eval_set_id, "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}


def test_each_case_runs_twice_by_default() -> None:
    asked: list[str] = []

    def counting(text: str) -> str:
        asked.append(text)
        return text

    AgentEvaluator.evaluate_eval_set(counting, a_set(), {"response_match_score": 0.8})
    assert len(asked) == 2


def test_criteria_take_precedence_over_the_config() -> None:
    config = {"criteria": {"response_match_score": 1.0}}
    criteria = {PrebuiltMetrics.TOOL_TRAJECTORY_AVG_SCORE: 1.0}
    result = AgentEvaluator.evaluate_eval_set(echo, a_set(answer="other"), criteria, config)
    assert "response_match_score" not in result.cases[0].metrics


def test_a_folder_is_searched_for_test_files_alone(project: Path) -> None:
    folder = project / "tests" / "deep"
    folder.mkdir(parents=True)
    (folder / "a.test.json").write_text(json.dumps(a_set("one")))
    (folder.parent / "b.test.json").write_text(json.dumps(a_set("two")))
    (folder / "c.evalset.json").write_text(json.dumps(a_set("not this", answer="other")))
    result = AgentEvaluator.evaluate(echo, str(folder.parent), 1)
    assert sorted(one.eval_set_id for one in result.sets) == ["one", "two"]
    (folder / "a.test.json").unlink()
    with pytest.raises(ValueError, match=r"no \*\.test\.json in this folder"):
        AgentEvaluator.evaluate(echo, str(folder), 1)


def test_every_file_of_a_folder_is_run_and_every_failure_reported(project: Path) -> None:
    """ADK stops at the first file that fails."""
    (project / "tests").mkdir()
    for name in ("a", "b", "c"):
        answer = "other" if name != "b" else "hi"
        (project / "tests" / f"{name}.test.json").write_text(json.dumps(a_set(name, answer=answer)))
    with pytest.raises(AssertionError) as failed:
        AgentEvaluator.evaluate(echo, "tests", 1)
    assert [
        line.strip().split(":")[0] for line in str(failed.value).splitlines() if re.match(r"  \S", line)
    ] == [
        "a (tests/a.test.json",
        "a (tests/c.test.json",
    ]
    assert len(failed.value.result.cases) == 3  # type: ignore[attr-defined]  # what an evaluation raises has it


def test_all_errors_of_a_folder_are_reported_before_the_first_call(project: Path) -> None:
    asked: list[str] = []
    (project / "tests").mkdir()
    (project / "tests" / "a.test.json").write_text("{")
    (project / "tests" / "b.test.json").write_text(json.dumps(a_set()))
    (project / "tests" / "c.test.json").write_text(json.dumps({"eval_set_id": "c", "eval_cases": 3}))
    with pytest.raises(ValueError, match=r"a\.test\.json:1:") as refused:
        AgentEvaluator.evaluate(asked.append, "tests")
    assert "c.test.json:1:" in str(refused.value)
    assert asked == []


OLD = [{"query": "hi", "reference": "hi", "expected_tool_use": []}]


def test_an_old_file_warns_and_names_the_command(project: Path) -> None:
    (project / "old.test.json").write_text(json.dumps(OLD))
    with pytest.warns(DeprecationWarning, match=r"proctor migrate old\.test\.json NEW\.evalset\.json"):
        AgentEvaluator.evaluate(echo, "old.test.json")


def test_an_initial_session_is_for_old_files(project: Path) -> None:
    (project / "old.test.json").write_text(json.dumps(OLD))
    (project / "new.test.json").write_text(json.dumps(a_set()))
    (project / "session.json").write_text(json.dumps({"app_name": "x", "user_id": "u", "state": {"a": 1}}))
    seen: list[Any] = []

    def agent(text: str, session: Any) -> str:
        seen.append((session.app_name, session.user_id, dict(session.state)))
        return text

    with pytest.warns(DeprecationWarning, match="migrate"):
        AgentEvaluator.evaluate(agent, "old.test.json", 1, initial_session_file="session.json")
    assert seen == [("x", "u", {"a": 1})]
    with pytest.raises(
        ValueError, match=r"new\.test\.json is an eval set, which has its sessions in its cases"
    ):
        AgentEvaluator.evaluate(agent, "new.test.json", 1, initial_session_file="session.json")
    with pytest.raises(ValueError, match=r"none\.json"):
        AgentEvaluator.evaluate(agent, "old.test.json", 1, initial_session_file="none.json")


def test_sets_of_one_id_in_two_files_are_kept_apart(project: Path) -> None:
    (project / "tests").mkdir()
    for name in ("a", "b"):
        (project / "tests" / f"{name}.test.json").write_text(json.dumps(a_set("same")))
    manager = LocalEvalSetResultsManager(results_dir="results")
    AgentEvaluator.evaluate(echo, "tests", 1, app_name="app", eval_set_results_manager=manager)
    assert len(manager.list_eval_set_results("app")) == 2


def test_kept_results_have_the_criteria_that_judged(project: Path) -> None:
    manager = LocalEvalSetResultsManager(results_dir="results")
    criteria = {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER"}}
    AgentEvaluator.evaluate_eval_set(
        echo, a_set(), criteria, app_name="app", eval_set_results_manager=manager
    )
    (name,) = manager.list_eval_set_results("app")
    (first, *_) = manager.get_eval_set_result("app", name).eval_case_results
    criterion = first.overall_eval_metric_results[0].criterion
    assert criterion is not None
    assert (criterion.model_extra or {})["match_type"] == "IN_ORDER"


REFUSED_SETUPS: list[tuple[dict[str, Any], str]] = [
    ({"num_runs": 0}, "num_runs must be at least 1"),
    ({"criteria": None}, "eval_config is needed"),
    ({"criteria": {}}, "nothing decides it"),
    ({"criteria": {"response_match_scor": 0.5}}, "Did you mean 'response_match_score'"),
    ({"criteria": {"safety_v1": 0.5}}, "The model gemini-2.5-flash cannot be asked: set"),
    ({"eval_set": {"eval_set_id": "s", "eval_cases": []}}, "has no cases"),
    ({"eval_set": {"eval_set_id": "s"}}, "eval_cases"),
    ({"agent_module": "no_such_module"}, "no_such_module"),
    ({"agent_name": "other"}, "no sub-agent 'other'"),
    ({"eval_set_results_manager": object()}, "eval_set_results_manager needs app_name"),
    ({"output_file": "/dev/null/x.csv"}, "output_file /dev/null/x.csv: /dev/null is not a folder"),
    ({"artifact_service": object()}, "cannot use artifact_service"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED_SETUPS, ids=[message for _, message in REFUSED_SETUPS])
def test_a_set_up_that_will_not_do_is_a_value_error_before_the_first_call(given: Json, message: str) -> None:
    asked: list[str] = []
    arguments = {
        "agent_module": asked.append, "eval_set": a_set(), "criteria": {"response_match_score": 0.5}, **given,
    }  # fmt: skip
    with pytest.raises(ValueError, match=re.escape(message)):
        AgentEvaluator.evaluate_eval_set(**arguments)
    assert asked == []


def test_find_config(project: Path) -> None:
    """In the folder of the file, else above it within the project, else the defaults; ADK searches the folder only."""
    (project / "pyproject.toml").write_text("")
    (project / "tests" / "deep").mkdir(parents=True)
    found = AgentEvaluator.find_config_for_test_file("tests/deep/a.test.json")
    assert found.criteria == {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}
    (project / "tests" / "test_config.json").write_text('{"criteria": {"response_match_score": 0.1}}')
    found = AgentEvaluator.find_config_for_test_file("tests/deep/a.test.json")
    assert found.criteria == {"response_match_score": 0.1}
    (project / "tests" / "test_config.json").write_text('{"critera": {"response_match_score": 0.1}}')
    with pytest.raises(ValueError, match="critera"):
        AgentEvaluator.find_config_for_test_file("tests/deep/a.test.json")


@pytest.mark.parametrize(("old", "new"), [("", "b"), ("a", ""), (None, "b")])
def test_migration_needs_both_names(old: Any, new: Any) -> None:
    with pytest.raises(ValueError, match="both"):
        AgentEvaluator.migrate_eval_data_to_new_schema(old, new)


HOSTILE = "=cmd|'/c calc'!A1\x1b[31m\u202eevil\x00"


def test_a_failure_shows_what_was_expected_and_made_and_no_table(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError) as failed:
        AgentEvaluator.evaluate_eval_set(
            lambda text: "No.", a_set(answer="Yes, I do."), {"response_match_score": 0.5}, num_runs=1
        )
    assert capsys.readouterr().out == ""
    lines = [" ".join(line.split()) for line in str(failed.value).splitlines()]
    assert "expected [-Yes, I do-]." in lines
    assert "actual {+No+}." in lines


def test_text_of_an_agent_is_data_in_the_table_the_csv_and_the_message(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def hostile(text: str) -> str:
        return HOSTILE

    with pytest.raises(AssertionError) as failed:
        AgentEvaluator.evaluate_eval_set(
            hostile,
            a_set("=s" + HOSTILE.rstrip("\x00")),
            {"response_match_score": 0.5},
            num_runs=1,
            output_file="all.csv",
            print_detailed_results=True,
        )
    for text in (
        capsys.readouterr().out,
        str(failed.value),
        (project / "all.csv").read_text(encoding="utf-8"),
    ):
        assert not set(text) & {"\x1b", "\u202e", "\x00"}
    with (project / "all.csv").open(encoding="utf-8", newline="") as file:
        assert [cell for row in csv.reader(file) for cell in row if cell.startswith("=")] == []
