"""`proctor adopt`: a project of google-adk is found, checked, previewed, and re-scored against its own results."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import in_this_process, proctor as run_proctor

AGENT = """
def root_agent(text):
    return {"tool_calls": [{"name": "look", "args": {"at": text}}], "text": f"You sent {text}."}
"""
TEST = '''"""Tests of the agent; see google.adk.evaluation for more."""
import google.adk.evaluation.eval_set
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_metrics import EvalMetric, PrebuiltMetrics
from google.adk.agents import LlmAgent


def test_it():
    google.adk.evaluation.eval_set.EvalSet
    AgentEvaluator.evaluate("agents.talker", "agents/talker")
'''


def turn(text: str) -> dict[str, Any]:
    return {
        "user_content": {"parts": [{"text": text}], "role": "user"},
        "final_response": {"parts": [{"text": f"You sent {text}."}], "role": "model"},
        "intermediate_data": {"tool_uses": [{"name": "look", "args": {"at": text}}]},
    }


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    agent = Path("agents/talker")
    agent.mkdir(parents=True)
    (agent / "__init__.py").write_text("from . import agent\n")
    (agent / "agent.py").write_text(AGENT)
    cases = [{"eval_id": name, "conversation": [turn(name)]} for name in ("one", "two")]
    (agent / "talk.evalset.json").write_text(json.dumps({"eval_set_id": "talk", "eval_cases": cases}))
    Path("venv/lib").mkdir(parents=True)
    Path("venv/lib/test_x.py").write_text(TEST)


def adopt(*words: str) -> list[str]:
    done = in_this_process("adopt", ".", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def keep_results() -> Path:
    """Results as google-adk stores them, without Proctor's additional keys."""
    in_this_process("eval", "agents/talker", "agents/talker/talk.evalset.json", "--store", "adk:agents")
    [path] = Path("agents").rglob("*.evalset_result.json")
    document = json.loads(path.read_text())
    for case in document["eval_case_results"]:
        del case["proctor"], case["proctor_outcome"]
    path.write_text(json.dumps(document))
    return path


def test_what_is_there_is_found_and_nothing_is_changed() -> None:
    Path("test_talker.py").write_text(TEST)
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    shown = adopt()
    assert "AGENT    agents/talker  1 eval set" in shown
    assert "FILE     agents/talker/talk.evalset.json  eval set  2 cases  fine" in shown
    assert "TEST     test_talker.py  imports google-adk's evaluation" in shown
    assert "         test_talker.py:1: in a text or a comment" in shown
    assert not any("venv" in line for line in shown)
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_imports_are_shown_and_rewritten_when_asked() -> None:
    Path("test_talker.py").write_text(TEST)
    shown = adopt("--write")
    assert "+from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator" in shown
    assert shown[-1] == "1 file rewritten"
    text = Path("test_talker.py").read_text()
    assert text == TEST.replace("google.adk.evaluation", "proctor.compat.adk.evaluation").replace(
        "see proctor.compat.adk.evaluation", "see google.adk.evaluation"
    )
    scope: dict[str, Any] = {}
    code = text.replace("from google.adk.agents import LlmAgent", "").replace(
        "google.adk.evaluation.eval_set.EvalSet", ""
    )
    exec(compile(code.replace("proctor.compat.adk.evaluation.eval_set.EvalSet", ""), "t", "exec"), scope)
    scope["test_it"]
    assert adopt() == [line for line in adopt() if "imports google-adk's" not in line]


LEFT = {
    "a module that is not mirrored": (
        "from google.adk.evaluation.evaluation_generator import EvaluationGenerator\n",
        "google.adk.evaluation.evaluation_generator has no counterpart in Proctor",
    ),
    "the package among others": (
        "from google.adk import evaluation, runners\n",
        "take `evaluation` out of it: `from proctor.compat.adk import evaluation`",
    ),
    "google.adk by itself": (
        "from google import adk; x = adk.evaluation.agent_evaluator\n",
        "goes through `adk.evaluation`: write `from proctor.compat.adk import evaluation`",
    ),
    "google.adk by another name": (
        "import google.adk as kit; x = kit.evaluation.agent_evaluator\n",
        "goes through `kit.evaluation`: write",
    ),
    "google.adk in full": (
        "import google.adk; x = google.adk.evaluation.agent_evaluator\n",
        "goes through `google.adk.evaluation`: write",
    ),
    "cli_eval among others": (
        "from google.adk.cli import cli_eval, cli\n",
        "take `cli_eval` out of it: `from proctor.compat.adk.cli import cli_eval`",
    ),
    "cli_eval through the package": (
        "from google import adk; x = adk.cli.cli_eval.get_root_agent\n",
        "goes through `adk.cli.cli_eval`: write `from proctor.compat.adk.cli import cli_eval`",
    ),
    "a text": ('x = "google.adk.evaluation"\n', "in a text or a comment"),
}


@pytest.mark.parametrize(("code", "message"), LEFT.values(), ids=LEFT)
def test_unchanged_files_are_reported(code: str, message: str) -> None:
    Path("test_other.py").write_text(code)
    assert any(line.startswith("         test_other.py:1: ") and message in line for line in adopt("--write"))
    assert Path("test_other.py").read_text() == code


REWRITTEN = {
    "spaced": (
        "from google . adk . evaluation . eval_set import EvalSet\n",
        "from proctor.compat.adk.evaluation . eval_set import EvalSet\n",
    ),
    "under another name": (
        "import google.adk.evaluation.eval_set as sets\nx = sets.EvalSet\n",
        "import proctor.compat.adk.evaluation.eval_set as sets\nx = sets.EvalSet\n",
    ),
    "the package itself": (
        "from google.adk import evaluation as ev\n",
        "from proctor.compat.adk import evaluation as ev\n",
    ),
    "cli_eval": (
        "from google.adk.cli.cli_eval import get_root_agent\n",
        "from proctor.compat.adk.cli.cli_eval import get_root_agent\n",
    ),
    "cli_eval under another name": (
        "from google.adk.cli import cli_eval as ce\n",
        "from proctor.compat.adk.cli import cli_eval as ce\n",
    ),
    "cli_eval in full": (
        "import google.adk.cli.cli_eval\nx = google.adk.cli.cli_eval.get_root_agent\n",
        "import proctor.compat.adk.cli.cli_eval\nx = proctor.compat.adk.cli.cli_eval.get_root_agent\n",
    ),
    "both": (
        "import google.adk.cli.cli_eval, google.adk.evaluation.eval_set\nx = google.adk.cli.cli_eval, google.adk.evaluation.eval_set\n",
        "import proctor.compat.adk.cli.cli_eval, proctor.compat.adk.evaluation.eval_set\nx = proctor.compat.adk.cli.cli_eval, proctor.compat.adk.evaluation.eval_set\n",
    ),
    "other modules of google.adk.cli stay": (
        "from google.adk.cli.cli_eval import get_root_agent\nfrom google.adk.cli.cli_tools_click import main\n",
        "from proctor.compat.adk.cli.cli_eval import get_root_agent\nfrom google.adk.cli.cli_tools_click import main\n",
    ),
    "two in one statement": (
        "import google.adk.evaluation.eval_set, google.adk.evaluation.eval_case\nx = google.adk.evaluation.eval_set\n",
        "import proctor.compat.adk.evaluation.eval_set, proctor.compat.adk.evaluation.eval_case\nx = proctor.compat.adk.evaluation.eval_set\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), REWRITTEN.values(), ids=REWRITTEN)
def test_other_ways_to_write_an_import(before: str, after: str) -> None:
    Path("test_other.py").write_text(before)
    adopt("--write")
    assert Path("test_other.py").read_text() == after


def test_name_from_the_import_is_reported() -> None:
    Path("test_other.py").write_text(
        "import google.adk.evaluation.eval_set\nx = google.adk.agents.LlmAgent\ny = google.adk.evaluation.eval_set\n"
    )
    lines = (
        "         test_other.py:2: `google.adk.agents` came by an import that is rewritten: import it, too"
    )
    assert lines in adopt("--write")


def test_name_from_an_import_of_cli_eval_is_reported() -> None:
    Path("test_other.py").write_text(
        "import google.adk.cli.cli_eval\nx = google.adk.cli.cli_eval.get_root_agent\ny = google.adk.cli.cli_deploy\n"
    )
    lines = [line for line in adopt("--write") if "came by an import" in line]
    assert lines == [
        "         test_other.py:3: `google.adk.cli` came by an import that is rewritten: import it, too"
    ]


def test_notebooks_are_named_line_by_line_and_left_alone() -> None:
    cell = {
        "cell_type": "code",
        "source": ["import os\n", "from google.adk.evaluation.eval_set import EvalSet"],
    }
    Path("try.ipynb").write_text(json.dumps({"cells": [cell]}, indent=1))
    Path("other.ipynb").write_text(json.dumps({"cells": []}))
    before = Path("try.ipynb").read_text()
    shown = adopt("--write")
    assert "TEST     try.ipynb  names google-adk's evaluation" in shown
    place = 1 + before[: before.index("from google")].count("\n")
    message = f"try.ipynb:{place}: in a notebook, which is not rewritten: from google.adk.evaluation.eval_set import EvalSet"
    assert f"         {message}" in shown
    assert Path("try.ipynb").read_text() == before
    assert not any("other.ipynb" in line for line in shown)


def test_line_ends_and_letters_stay(tmp_path: Path) -> None:
    data = "# é\r\nfrom google.adk.evaluation.eval_case import (\r\n    EvalCase,  # ü\r\n)\r\n".encode()
    Path("test_other.py").write_bytes(data)
    adopt("--write")
    assert Path("test_other.py").read_bytes() == data.replace(b"google.adk", b"proctor.compat.adk")


def test_file_that_is_not_python_is_unchanged() -> None:
    Path("broken.py").write_text("from google.adk.evaluation import (\n")
    assert (
        "         broken.py:1: names google-adk's evaluation, and is not Python 3 in UTF-8: change it by hand"
        in adopt("--write")
    )
    assert Path("broken.py").read_text() == "from google.adk.evaluation import (\n"


def test_packages_of_ones_own_and_links_are_left_alone(tmp_path: Path) -> None:
    own, outside = "from ..google.adk.evaluation import x\n", tmp_path.parent / f"{tmp_path.name}_outside.py"
    Path("test_own.py").write_text(own)
    outside.write_text(TEST)
    Path("test_link.py").symlink_to(outside)
    Path("test_nowhere.py").symlink_to("nowhere.py")
    shown = adopt("--write")
    assert (Path("test_own.py").read_text(), outside.read_text()) == (own, TEST)
    assert not any("test_link.py" in line or "test_nowhere.py" in line for line in shown)


def test_a_byte_order_mark_stays() -> None:
    Path("test_mark.py").write_bytes(b"\xef\xbb\xbf" + TEST.encode())
    adopt("--write")
    data = Path("test_mark.py").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert b"from proctor.compat.adk.evaluation.agent_evaluator" in data


@pytest.mark.slow
def test_verdicts_of_google_adk_are_confirmed() -> None:
    file = keep_results()
    shown = adopt()
    assert "HISTORY  2 recorded cases re-scored: all with google-adk's outcome" in shown
    same = [line for line in shown if line.startswith("SAME")]
    assert same == [
        f"SAME     talk/{name}  google-adk: passed  proctor: passed  ({file.name})" for name in ("one", "two")
    ]


def test_different_verdict_of_google_adk_is_explained() -> None:
    """google-adk called a case passed whose recorded calls are not those expected."""
    Path("agents/talker/agent.py").write_text(AGENT.replace('"look"', '"see"'))
    file = keep_results()
    document = json.loads(file.read_text())
    for case in document["eval_case_results"]:
        case["final_eval_status"] = 1
        for one in case.get("overall_eval_metric_results") or []:
            one["eval_status"], one["score"] = 1, 1.0
    file.write_text(json.dumps(document))
    shown = adopt()
    assert any(line.startswith("DIFFERS  talk/one  google-adk: passed  proctor: failed") for line in shown)
    assert any("tool_trajectory_avg_score" in line and "`look" in line for line in shown), shown


def test_cause_is_named_without_evidence_and_with_another_rule() -> None:
    """google-adk keeps nothing of an agent that broke; and it gives 0 where nothing is left of two equal answers."""
    file = keep_results()
    document = json.loads(file.read_text())
    first, second = document["eval_case_results"]
    first["eval_metric_result_per_invocation"], first["overall_eval_metric_results"] = [], []
    first["final_eval_status"] = second["final_eval_status"] = 2
    first["session_details"] = None
    for one in second["overall_eval_metric_results"]:
        if one["metric_name"] == "response_match_score":
            one["eval_status"], one["score"] = 2, 0.0
    file.write_text(json.dumps(document))
    shown = adopt()
    assert any("google-adk kept nothing that the agent did" in line for line in shown), shown
    message = "response_match_score: failed (0.00) there, passed (1.00) here: by another rule, see docs/explanation/differences-from-adk.md"
    assert f"         {message}" in shown


def test_unreadable_result_is_reported() -> None:
    keep_results().write_text("{")
    assert any(line.startswith("HISTORY") and "cannot be re-scored" in line for line in adopt())


def test_agents_are_run_on_request_and_compared_with_the_results() -> None:
    keep_results()
    Path("agents/talker/agent.py").write_text(AGENT.replace("You sent", "Did you say"))
    done = run_proctor("adopt", ".", "--run", cwd=Path.cwd())  # in this process the agent is loaded already
    assert done.returncode == 1
    assert "VERDICT  failed: 2 of 2 cases fail" in done.stdout
    assert "NOW      talk/one  google-adk: passed  now: failed  response_match_score" in done.stdout


def test_unusable_file_sets_the_exit_code() -> None:
    Path("agents/talker/bad.evalset.json").write_text('{"eval_set_id": 3, "eval_cases": 4}')
    done = in_this_process("adopt", ".")
    assert done.returncode == 1
    assert "bad.evalset.json  eval set  cannot be used" in done.stdout


@pytest.mark.parametrize(
    ("folder", "message"), [("nowhere", "expected the folder"), ("empty", "no agents, eval sets")]
)
def test_project_without_evals_is_reported(folder: str, message: str) -> None:
    Path("empty").mkdir()
    done = in_this_process("adopt", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


# --- the layout of google/adk-samples -----------------------------------------------------------------------------------


def sample(name: str) -> Path:
    """A project with `agent/` next to `eval/data/*.test.json`."""
    agent, data = Path(name, "agent"), Path(name, "eval", "data")
    agent.mkdir(parents=True)
    data.mkdir(parents=True)
    (agent / "__init__.py").write_text("from . import agent\n")
    (agent / "agent.py").write_text(AGENT)
    turns = [
        {
            "query": "hi",
            "expected_tool_use": [{"tool_name": "look", "tool_input": {"at": "hi"}}],
            "reference": "You sent hi.",
        }
    ]
    (data / "talk.test.json").write_text(json.dumps(turns))
    return data / "talk.test.json"


def test_sets_next_to_the_agent_are_run() -> None:
    sample("travel")
    sample("shop")
    message = adopt("--run")
    assert [line for line in message if line.startswith("AGENT")] == [
        "AGENT    agents/talker  1 eval set",
        "AGENT    shop/agent  1 eval set",
        "AGENT    travel/agent  1 eval set",
    ]
    assert sum(line.startswith("VERDICT  passed") for line in message) == 3


def test_a_set_between_several_agents_is_named_and_not_run() -> None:
    sample("shop")
    Path("shop/second").mkdir()
    Path("shop/second/agent.py").write_text(AGENT)
    message = adopt("--run")
    assert any(
        line.startswith(
            "SET      shop/eval/data/talk.test.json  of no single agent (near it: shop/agent, shop/second)"
        )
        for line in message
    )
    assert sum(line.startswith("VERDICT  passed") for line in message) == 1


# --- a repository with uncommitted changes --------------------------------------------------------------------------------


def git(*arguments: str) -> None:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], capture_output=True, check=True)


@pytest.mark.parametrize("is_committed", [True, False], ids=["committed", "uncommitted"])
def test_uncommitted_changes_are_warned_of_before_anything_is_written(is_committed: bool) -> None:
    Path("test_talker.py").write_text(TEST)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "x")
    if not is_committed:
        Path("test_talker.py").write_text(TEST + "\n# mine\n")
    done = in_this_process("adopt", ".", "--write")
    warning = "warning: the repository has uncommitted changes (1 file): commit or stash them first"
    assert (done.returncode, warning in done.stderr) == (0, not is_committed)
    assert "proctor" in Path("test_talker.py").read_text()


def test_without_a_repository_nothing_is_warned_of() -> None:
    Path("test_talker.py").write_text(TEST)
    assert "uncommitted" not in in_this_process("adopt", ".", "--write").stderr
