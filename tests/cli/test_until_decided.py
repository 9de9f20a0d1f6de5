"""`proctor eval --until-decided`: what is printed, what is asked for, and the exit code that a pipeline goes by."""

import json
from pathlib import Path

import pytest

from tests.cli.project import make_project, proctor, write_set

AGENT = """
from collections import Counter
from pathlib import Path

asked = Counter()
WORSE = Path(__file__).with_name("worse").exists()


def root_agent(text):
    asked[text] += 1
    number = int(text)
    if WORSE and number < 12 or (number % 3 == 0 and asked[text] % 5 == 0):
        return "no"
    return f"You said {text}"
"""
SURE = {
    "criteria": {"response_match_score": 0.8},
    "trials": {"num_runs": 60, "min_pass_rate": 0.7, "confidence": 0.95},
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make_project(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    cases = [
        {
            "eval_id": f"c{number}",
            "conversation": [
                {
                    "user_content": {"role": "user", "parts": [{"text": str(number)}]},
                    "final_response": {"role": "model", "parts": [{"text": f"You said {number}"}]},
                }
            ],
        }
        for number in range(30)
    ]
    write_set(tmp_path / "numbers.evalset.json", *cases, eval_set_id="numbers")
    (tmp_path / "sure.json").write_text(json.dumps(SURE))
    (tmp_path / "plain.json").write_text(json.dumps({"criteria": SURE["criteria"]}))
    return tmp_path


def evaluate(project: Path, *arguments: str, config: str = "plain.json") -> tuple[int, str, str]:
    done = proctor("eval", "agent.py", "numbers.evalset.json", "--config", config, *arguments, cwd=project)
    return done.returncode, done.stdout, done.stderr


def test_each_case_gets_as_many_trials_as_it_takes(project: Path) -> None:
    code, said, _ = evaluate(project, "--until-decided", config="sure.json")
    assert code in (0, 4)
    (added,) = [line for line in said.splitlines() if line.startswith("ADDED")]
    assert " of 1,800 trials (" in added
    assert "until_decided" in said


def test_without_a_rule_there_is_nothing_to_decide(project: Path) -> None:
    code, said, why = evaluate(project, "--until-decided", "--num-runs", "9")
    assert (code, said) == (2, "")
    assert "--against RUN" in why


def test_the_comparison_is_shown_and_is_the_exit_code(project: Path) -> None:
    assert evaluate(project, "--num-runs", "8")[0] in (0, 1)
    code, said, _ = evaluate(
        project, "--num-runs", "8", "--until-decided", "--against", "latest", "--margin", "0.2"
    )
    assert code == 0
    assert "OUTCOME  no regression" in said.splitlines()[-1]
    (project / "worse").touch()
    code, said, _ = evaluate(project, "--num-runs", "8", "--until-decided", "--against", "latest~1")
    assert code == 1
    assert "OUTCOME  regression" in said.splitlines()[-1]
    assert "decided after" in said.splitlines()[-1]
    again = proctor("compare", "latest~2", "latest", cwd=project)
    assert again.stdout.splitlines()[-1] == said.splitlines()[-1]


def test_json_stays_whole(project: Path) -> None:
    evaluate(project, "--num-runs", "4")
    code, said, why = evaluate(
        project, "--num-runs", "4", "--until-decided", "--against", "latest", "--margin", "0.3", "--json"
    )
    run = json.loads(said)["runs"][0]
    assert run["at_most"] == 120
    assert run["against"]
    assert code in (0, 4)
    assert "regression" in why or "inconclusive" in why


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "latest"], "give until_decided (--until-decided), too"),
        (["--until-decided", "--against", "latest"], "num_runs (--num-runs N) must be at least 2"),
        (["--until-decided", "--against", "nothing", "--num-runs", "5"], "nothing"),
        (["--margin", "0.1"], "give against (--against RUN), too"),
        (["--margin", "3"], "3.0 is not in the range"),
    ],
    ids=str,
)
def test_what_is_refused(project: Path, arguments: list[str], message: str) -> None:
    evaluate(project)
    code, said, why = evaluate(project, *arguments)
    assert (code, said) == (2, "")
    assert message in why
