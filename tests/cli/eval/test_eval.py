"""`proctor eval`: what it runs, and what it makes of settings and options."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proctor.cli.main import cli
from tests.cli.project import case, make_project, proctor, write_set

FINE, WRONG = case("fine", "hello"), case("wrong", "no call")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_project(tmp_path, FINE, WRONG, case("tagged", "tagged", tags=["smoke"]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["eval", *arguments])


def outcomes(*arguments: str) -> dict[str, str]:
    """Run with a JSON report on stdout and return the outcome of each case."""
    result = run(*arguments, "--format", "json")
    assert result.stdout, result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    return {found["eval_id"]: found["outcome"] for run in report["runs"] for found in run["cases"]}


ALL = {"fine": "passed", "wrong": "failed", "tagged": "passed"}

CHOICES = {
    "all": ([], ALL),
    "some cases": (["agent.py", "cases.evalset.json:fine,tagged"], {"fine": "passed", "tagged": "passed"}),
    "options": (["--agent", "agent.py", "--set", "cases.evalset.json:fine"], {"fine": "passed"}),
    "--limit": (["agent.py", "cases.evalset.json", "--limit", "1"], {"fine": "passed"}),
    "--tag": (["agent.py", "cases.evalset.json", "--tag", "smoke"], {"tagged": "passed"}),
    "-x": (
        ["agent.py", "cases.evalset.json", "-x", "--concurrency", "1"],
        {"fine": "passed", "wrong": "failed", "tagged": "not_run"},
    ),
    "--metrics": (
        ["agent.py", "cases.evalset.json", "--metrics", "response_match_score"],
        dict.fromkeys(ALL, "passed"),
    ),
    "--config": (["agent.py", "cases.evalset.json", "--config", "mild.json"], dict.fromkeys(ALL, "passed")),
    "--config_file_path": (
        ["agent.py", "cases.evalset.json", "--config_file_path", "mild.json"],
        dict.fromkeys(ALL, "passed"),
    ),
    "--config-file-path": (
        ["agent.py", "cases.evalset.json", "--config-file-path=mild.json"],
        dict.fromkeys(ALL, "passed"),
    ),
    "--timeout and underscores": (
        ["agent.py", "cases.evalset.json:fine", "--trial_timeout", "20", "--num_runs", "2"],
        {"fine": "passed"},
    ),
}


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(("arguments", "expected"), CHOICES.values(), ids=CHOICES)
def test_what_is_run(project: Path, arguments: list[str], expected: dict[str, str]) -> None:
    (project / "mild.json").write_text('{"criteria": {"response_match_score": 0.1}}')
    assert outcomes(*(arguments or ["agent.py", "cases.evalset.json"])) == expected


def test_bare_eval_uses_the_settings(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "proctor.toml").write_text(
        'agent = "agent.py"\nsets = "cases.evalset.json:fine"\nnum_runs = 3\n'
    )
    below = project / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    report = json.loads(run("--format", "json").stdout)
    assert report["runs"][0]["num_runs"] == 3
    assert [found["eval_id"] for found in report["runs"][0]["cases"]] == ["fine"]


def test_the_command_line_wins_over_the_settings(project: Path) -> None:
    (project / "proctor.toml").write_text(
        'agent = "gone.py"\nsets = "gone.json"\nnum_runs = 3\nconfig = "gone.json"\n'
    )
    (project / "mild.json").write_text('{"criteria": {"response_match_score": 0.1}}')
    arguments = ("agent.py", "cases.evalset.json:fine", "--num-runs", "1", "--config", "mild.json")
    assert outcomes(*arguments) == {"fine": "passed"}


def test_a_set_alone_is_run_against_the_settings_agent(project: Path) -> None:
    (project / "proctor.toml").write_text('agent = "agent.py"\nsets = "gone.json"\n')
    assert outcomes("cases.evalset.json:fine") == {"fine": "passed"}


def test_the_environment_of_the_settings(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "proctor.toml").write_text("[env]\nGREETING = 'hello'\nTAKEN = 'settings'\n")
    (project / "agent.py").write_text(
        "import os\ndef root_agent(text): return os.environ['GREETING'] + ' ' + os.environ['TAKEN']\n"
    )
    (project / "test_config.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    write_set(project / "one.evalset.json", case("one", "x", answer="hello outside"))
    monkeypatch.setenv("TAKEN", "outside")
    assert outcomes("agent.py", "one.evalset.json") == {"one": "passed"}


def test_hooks_by_name(project: Path) -> None:
    (project / "hooks_here.py").write_text(
        "def note(text):\n"
        "    with open('log', 'a') as log: log.write(text)\n"
        "def before(case): note(f'+{case.eval_id} ')\n"
        "async def after(case): note(f'-{case.eval_id} ')\n"
    )
    (project / "proctor.toml").write_text("setup = 'hooks_here:before'\nteardown = 'hooks_here:after'\n")
    assert outcomes("agent.py", "cases.evalset.json:fine") == {"fine": "passed"}
    assert (project / "log").read_text() == "+fine -fine "


# --- showing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "details", [["--print_detailed_results"], ["--print-detailed-results"], ["-v"], ["--verbose"]]
)
def test_details(project: Path, details: list[str]) -> None:
    assert run("agent.py", "cases.evalset.json", *details).exit_code == 1
    plain = run("agent.py", "cases.evalset.json").stdout
    detailed = run("agent.py", "cases.evalset.json", *details).stdout
    assert len(detailed) >= len(plain)


@pytest.mark.slow
def test_spelling_never_changes_what_is_printed(project: Path) -> None:
    def shown(*arguments: str) -> str:
        lines = run(*arguments).stdout.splitlines()
        return "\n".join(line.split("duration")[0] for line in lines if not line.startswith("FIGURES"))

    one = shown("agent.py", "cases.evalset.json", "--num-runs", "2")
    assert shown("./agent.py", "cases.evalset.json", "--num_runs=2") == one
    assert shown("--set", "cases.evalset.json", "--agent", "agent.py:root_agent", "--num-runs", "2") == one
    assert shown("agent", "cases.evalset.json", "--num-runs", "2") == one
    (project / "proctor.toml").write_text('agent = "agent.py"\nsets = ["cases.evalset.json"]\nnum_runs = 2\n')
    assert shown() == one


def test_log_level(project: Path) -> None:
    (project / "agent.py").write_text(
        "import logging\ndef root_agent(text):\n    logging.getLogger('mine').info('heard %s', text)\n    return 'x'\n"
    )
    loud = proctor("eval", "agent.py", "cases.evalset.json", "--log_level", "info", cwd=project)
    quiet = proctor("eval", "agent.py", "cases.evalset.json", cwd=project)
    assert "INFO mine: heard hello" in loud.stderr
    assert "heard" not in quiet.stderr


# --- matrix ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_agents(project: Path) -> Path:
    text = (project / "agent.py").read_text()
    (project / "other.py").write_text(text.replace('message != "no call"', 'message != "hello"'))
    return project


def test_several_agents_side_by_side(two_agents: Path) -> None:
    result = run("--agent", "agent.py", "--agent", "other.py", "cases.evalset.json")
    assert result.exit_code == 1
    assert result.stdout.count("VERDICT") == 2
    assert [
        line.split()[1].removeprefix("cases/")
        for line in result.stdout.splitlines()
        if line.startswith("DIFFERS")
    ] == ["fine", "wrong"]


def test_only_what_differs(two_agents: Path) -> None:
    result = run("--agent", "agent.py", "--agent", "other.py", "cases.evalset.json", "--only-different")
    assert "cases/tagged" not in result.stdout
    assert "cases/fine" in result.stdout


@pytest.mark.parametrize(
    ("selector", "code"),
    [("fine", 1), ("tagged", 0)],
    ids=["one agent fails", "both pass"],
)
def test_the_worst_agent_decides(two_agents: Path, selector: str, code: int) -> None:
    result = run("--agent", "agent.py", "--agent", "other.py", f"cases.evalset.json:{selector}")
    assert result.exit_code == code


def test_an_agent_that_cannot_be_loaded_stops_all_before_the_first_call(two_agents: Path) -> None:
    result = run("--agent", "agent.py", "--agent", "gone.py", "cases.evalset.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "gone.py" in result.stderr


# --- what did not pass -----------------------------------------------------------------------------------------------


def test_failed_runs_again_what_did_not_pass(project: Path) -> None:
    assert run("agent.py", "cases.evalset.json", "--report", "json=last.json").exit_code == 1
    assert outcomes("agent.py", "--failed", "last.json") == {"wrong": "failed"}
    assert outcomes("agent.py", "cases.evalset.json", "--failed", "last.json") == {"wrong": "failed"}


def test_failed_leaves_out_sets_that_passed(project: Path) -> None:
    write_set(project / "good.evalset.json", case("good", "hello"))
    run("agent.py", "good.evalset.json", "cases.evalset.json", "--report", "json=last.json")
    assert outcomes("agent.py", "--failed", "last.json") == {"wrong": "failed"}
    assert outcomes("agent.py", "good.evalset.json", "cases.evalset.json", "--failed", "last.json") == {
        "wrong": "failed"
    }


def test_failed_keeps_to_the_cases_that_are_picked(project: Path) -> None:
    run("agent.py", "cases.evalset.json", "--report", "json=last.json")
    picked = "cases.evalset.json:fine,wrong"
    assert outcomes("agent.py", picked, "--failed", "last.json") == {"wrong": "failed"}
    for cases, says in (
        (
            "fine",
            "what is asked for (`only`, --failed) names 'wrong', and none of it was picked: nothing to run",
        ),
        ("wrong,nope", "no case 'nope'"),
    ):
        result = run("agent.py", f"cases.evalset.json:{cases}", "--failed", "last.json")
        assert result.exit_code == 2
        assert says in result.stderr


def test_nothing_failed_nothing_to_run(project: Path) -> None:
    assert run("agent.py", "cases.evalset.json:fine", "--report", "json=last.json").exit_code == 0
    result = run("agent.py", "cases.evalset.json", "--failed", "last.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "nothing to run: every case passed in last.json" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("{", "not JSON"),
        ("[]", "not a report of Proctor"),
        ('{"eval_cases": []}', "not a report of Proctor"),
        ('{"proctor_report": 99}', "a report of version 99"),
        ('{"proctor_report": 1}', "lacks 'runs'"),
        ('{"proctor_report": 1, "runs": [{}]}', "lacks 'cases'"),
    ],
)
def test_invalid_report(project: Path, text: str | None, message: str) -> None:
    if text is not None:
        (project / "last.json").write_text(text)
    result = run("agent.py", "cases.evalset.json", "--failed", "last.json")
    assert result.exit_code == 2
    assert "error: --failed last.json: " in result.stderr
    assert message in result.stderr


# --- watching --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_watch_runs_again_when_something_changes(project: Path) -> None:
    with (project / "watch.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "proctor", "eval", "agent.py", "cases.evalset.json:wrong", "--watch"],
            cwd=project,
            stdout=log,
            stderr=subprocess.STDOUT,
        )

    def wait_for(words: str, count: int) -> str:
        deadline = time.monotonic() + 60
        while (text := (project / "watch.log").read_text()).count(words) < count:
            assert time.monotonic() < deadline, text
            assert process.poll() is None, text
            time.sleep(0.05)
        return text

    wait_for("watching", 1)
    agent = project / "agent.py"
    agent.write_text(agent.read_text().replace('message != "no call"', "True"))
    text = wait_for("watching", 2)
    assert "changed: " in text
    assert text.index("VERDICT  failed") < text.index("changed: ") < text.index("VERDICT  passed")
    assert re.search(r"^changed: \S+\.(py|json)$", text, re.MULTILINE)  # one file, named once
    write_set(project / "cases.evalset.json", case("wrong", "hello", answer="Something else"))
    assert wait_for("watching", 3).count("VERDICT  failed") == 2
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert "Traceback" not in (project / "watch.log").read_text()


def test_a_weak_pass_is_warned_of_without_being_asked(project: Path) -> None:
    unstated = case("unstated", "hello")
    unstated["conversation"][0]["intermediate_data"] = {"tool_uses": []}
    write_set(project / "weak.evalset.json", unstated)
    (project / "mild.json").write_text(
        json.dumps({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "IN_ORDER"}}})
    )
    result = run("agent.py", "weak.evalset.json", "--config", "mild.json")
    assert result.exit_code == 0
    assert (
        "WARNING  tool_trajectory_avg_score: no calls are expected, so IN_ORDER accepts any calls"
        in result.stdout
    )
