"""Cases with several trials, from the command line: the source of the number, and the exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from proctor.cli.eval.execution import _show_commands
from proctor.schema.results.score import Outcome, worst
from tests.cli.project import in_this_process
from tests.reports.sample_runs import case, run as run_of, trial

AGENT = """
from itertools import count
times = count()

def root_agent(text):
    act = text[next(times) % len(text)]
    if act == "E":
        raise ConnectionError("down")
    return "ok" if act == "P" else "no idea"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "coin.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tossed(
    folder: Path, script: str, trials: dict[str, Any] | None, *arguments: str
) -> CompletedProcess[str]:
    """Return the command's result for one case whose trials end as `script` requires."""
    turn = {
        "user_content": {"role": "user", "parts": [{"text": script}]},
        "final_response": {"role": "model", "parts": [{"text": "ok"}]},
    }
    cases = [{"eval_id": "coin", "conversation": [turn]}]
    (folder / "coin.evalset.json").write_text(json.dumps({"eval_set_id": "coin", "eval_cases": cases}))
    config = {"criteria": {"response_match_score": 0.9}} | ({"trials": trials} if trials else {})
    (folder / "test_config.json").write_text(json.dumps(config))
    return in_this_process("eval", "coin.py", "coin.evalset.json", "--concurrency", "1", *arguments)


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("script", "trials", "arguments", "exit_code", "says"),
    [
        pytest.param("PPPPF", {"num_runs": 5, "min_pass_rate": 0.8}, [], 0, "PASSED  coin/coin  trials=PPPPF  ", id="enough pass"),
        pytest.param("PPPFF", {"num_runs": 5, "min_pass_rate": 0.8}, [], 1, "3 of 5 trials passed, 0.8 asked for", id="too few pass"),
        pytest.param("PPPFE", {"num_runs": 5, "min_pass_rate": 0.8}, [], 3, "reason: agent raised", id="an error decides"),
        pytest.param(
            "PPPPF", {"num_runs": 5, "min_pass_rate": 0.9, "confidence": 0.95}, [], 4,
            "INCONCLUSIVE  coin/coin  trials=PPPPF  pass_rate=0.80(0.38-0.96)  flaky", id="too few to decide",
        ),
        pytest.param(
            "PPPPF", {"num_runs": 5, "min_pass_rate": 0.9, "confidence": 0.95}, [], 4,
            "reason: 4 of 5 trials passed, 0.9 asked for at 95 %: about 30 more trials", id="how many more",
        ),
        pytest.param("PF", {"num_runs": 2}, ["--num-runs", "4"], 1, "trials=PFPF", id="the command line wins"),
        pytest.param("P", None, ["--num-runs", "3"], 0, "trials=PPP  pass_rate=1.00(0.44-1.00)", id="not from a config"),
    ],
)  # fmt: skip
def test_how_it_leaves(
    project: Path, script: str, trials: dict[str, Any] | None, arguments: list[str], exit_code: int, says: str
) -> None:
    done = tossed(project, script, trials, *arguments)
    assert says in done.stdout
    assert done.returncode == exit_code


def test_settings_win_over_the_config(project: Path) -> None:
    (project / "proctor.toml").write_text("num_runs = 3\n")
    assert "trials=PPP  " in tossed(project, "P", {"num_runs": 5}).stdout
    assert "trials=PP  " in tossed(project, "P", {"num_runs": 5}, "--num-runs", "2").stdout


@pytest.mark.parametrize(
    ("trials", "arguments", "says"),
    [
        ({"num_run": 5}, [], "trials.num_run: unknown key; nothing reads it (did you mean `num_runs`?)"),
        ({"min_pass_rate": 80}, [], "trials.min_pass_rate: expected a share of at most 1, such as 0.9"),
        ({"num_runs": 5, "pass_k": 3}, ["--num-runs", "2"], "trials: pass_k is 3, and a case has 2 trials"),
        ({"num_runs": 2, "min_pass_rate": 0.5, "confidence": 0.95}, [], "2 trials a case can decide nothing"),
    ],
    ids=["a slip", "out of range", "too few for pass_k", "nothing to decide"],
)  # fmt: skip
def test_impossible_rule_is_reported_and_nothing_is_run(
    project: Path, trials: dict[str, Any], arguments: list[str], says: str
) -> None:
    done = tossed(project, "P", trials, *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_an_undecided_case_is_run_again_by_failed(project: Path) -> None:
    trials = {"num_runs": 5, "min_pass_rate": 0.9, "confidence": 0.95}
    first = tossed(project, "PPPPF", trials, "--report", "json=out.json")
    again = in_this_process("eval", "coin.py", "--failed", "out.json", "--concurrency", "1")
    assert (first.returncode, again.returncode) == (4, 4)
    assert "coin/coin" in again.stdout


@pytest.mark.parametrize(
    ("strips", "named"),
    [
        pytest.param(
            {"most": "PPF", "none": "FFF", "never": "FFF"}, "none", id="the first of which no trial passed"
        ),
        pytest.param(
            {"broken": "EEE", "most": "PPF", "few": "PFF"}, "few", id="the lowest share of passed trials"
        ),
        pytest.param({"fine": "PPP", "broken": "EEE"}, "broken", id="an error if none failed"),
    ],
)
def test_the_last_line_names_the_worst_case(strips: dict[str, str], named: str) -> None:
    outcomes = {"P": Outcome.PASSED, "F": Outcome.FAILED, "E": Outcome.ERROR}
    cases = [
        case(name, worst(trials), trials=[trial(n, one) for n, one in enumerate(trials)])
        for name, strip in strips.items()
        for trials in [[outcomes[letter] for letter in strip]]
    ]
    result = replace(run_of(*cases), run_id="7f3k2cabcd")
    assert [*_show_commands([result], "")] == [f"  run 7f3k2cabcd · proctor show 7f3k2cabcd {named}"]
