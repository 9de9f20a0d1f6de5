"""`proctor eval --until-decided`: what is printed, what is asked for, and the exit code that a pipeline goes by."""

import json
from pathlib import Path

import pytest

from tests.cli.project import make_project, proctor, write_set

pytestmark = pytest.mark.slow  # each test starts the command line for hundreds of trials

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
    return f"You sent {text}"
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
                    "final_response": {"role": "model", "parts": [{"text": f"You sent {number}"}]},
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
    code, output, _ = evaluate(project, "--until-decided", config="sure.json")
    assert code in (0, 4)
    (added,) = [line for line in output.splitlines() if line.startswith("ADDED")]
    assert " of 1,800 trials (" in added
    assert "until_decided" in output


def test_a_run_that_was_stopped_has_saved_nothing(project: Path) -> None:
    (project / "agent.py").write_text(AGENT + COUNTED)
    how = ["--until-decided", "--max-tokens", "200", "--concurrency", "1"]
    output = evaluate(project, *how, config="sure.json")[1]
    (added,) = [line for line in output.splitlines() if line.startswith("ADDED")]
    assert added.endswith(" of 1,800 trials")
    assert "stopped by max_tokens" in output


def test_without_a_rule_there_is_nothing_to_decide(project: Path) -> None:
    code, output, why = evaluate(project, "--until-decided", "--num-runs", "9")
    assert (code, output) == (2, "")
    assert "--against RUN" in why


def test_the_comparison_is_shown_and_is_the_exit_code(project: Path) -> None:
    assert evaluate(project, "--num-runs", "8")[0] in (0, 1)
    code, output, _ = evaluate(
        project, "--num-runs", "8", "--until-decided", "--against", "latest", "--margin", "0.2"
    )
    assert code == 0
    assert "OUTCOME  no regression" in output.splitlines()[-1]
    (project / "worse").touch()
    code, output, _ = evaluate(project, "--num-runs", "8", "--until-decided", "--against", "latest~1")
    assert code == 1
    assert "OUTCOME  regression" in output.splitlines()[-1]
    assert "decided after" in output.splitlines()[-1]
    again = proctor("compare", "latest~2", "latest", cwd=project)
    assert again.stdout.splitlines()[-1] == output.splitlines()[-1]


@pytest.mark.nightly
def test_json_stays_whole(project: Path) -> None:
    evaluate(project, "--num-runs", "4")
    code, output, why = evaluate(
        project, "--num-runs", "4", "--until-decided", "--against", "latest", "--margin", "0.3", "--json"
    )
    run = json.loads(output)["runs"][0]
    assert run["at_most"] == 120
    assert run["against"]
    assert code in (0, 4)
    assert "regression" in why or "inconclusive" in why


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "latest"], "needs until_decided (--until-decided)"),
        (["--until-decided", "--against", "latest"], "num_runs (--num-runs N) must be at least 2"),
        (["--until-decided", "--against", "nothing", "--num-runs", "5"], "nothing"),
        (["--margin", "0.1"], "margin needs against (--against RUN)"),
        (["--margin", "3"], "expected a number above 0 and below 1, got 3"),
    ],
    ids=str,
)
def test_what_is_refused(project: Path, arguments: list[str], message: str) -> None:
    evaluate(project)
    code, output, why = evaluate(project, *arguments)
    assert (code, output) == (2, "")
    assert message in why


@pytest.mark.nightly
def test_the_base_is_a_file_whose_run_is_in_no_store_here(project: Path) -> None:
    """As in CI: the file goes with the code, and the store is empty."""
    evaluate(project, "--num-runs", "8")
    for words in (["set", "main"], ["export", "main", "main.json"]):
        assert proctor("baseline", *words, cwd=project).returncode == 0
    how = ["--num-runs", "8", "--until-decided", "--against", "main.json", "--margin", "0.2"]
    code, output, why = evaluate(project, *how, "--store", "empty.sqlite3")
    assert code == 0, why
    assert all(line.startswith(tuple("0123456789")) for line in why.splitlines()), "nothing but progress"
    assert "OUTCOME  no regression" in output.splitlines()[-1]


LAX = {"criteria": {"response_match_score": 0.1}}
"""A metric that passes any answer with a word."""


@pytest.mark.nightly
def test_resumed_run_has_the_exit_code_of_an_uninterrupted_one(project: Path) -> None:
    """All cases pass, and a metric that decides has fallen: an interruption in between must not make it green."""
    (project / "lax.json").write_text(json.dumps(LAX))
    agent = (project / "agent.py").read_text().replace('return "no"', 'return f"{text} no no no"')
    (project / "agent.py").write_text(agent)
    assert evaluate(project, "--num-runs", "8", config="lax.json")[0] == 0
    assert proctor("baseline", "set", "main", cwd=project).returncode == 0
    assert proctor("baseline", "export", "main", "main.json", cwd=project).returncode == 0
    (project / "worse").touch()
    store = ["--store", "empty.sqlite3"]
    how = ["--num-runs", "8", "--until-decided", "--against", "main.json", "--max-tokens", "1", *store]
    (project / "agent.py").write_text(agent + COUNTED)
    assert "max_tokens" in evaluate(project, *how, config="lax.json")[1]
    done = proctor("resume", *store, cwd=project)
    assert (done.returncode, done.stdout.splitlines()[-1].partition(":")[0]) == (1, "OUTCOME  regression")
    assert "all 30 cases pass" in done.stdout
    assert proctor("resume", "latest", *store, cwd=project).returncode == 1


COUNTED = """

answer = root_agent


def root_agent(text):
    return {"text": answer(text), "usage_metadata": {"prompt_token_count": 1}}
"""


@pytest.mark.nightly
def test_run_without_a_store_gives_the_same(project: Path) -> None:
    """Of it only the criteria are known: what decided when it stopped decides in the end, too."""
    evaluate(project, "--num-runs", "8")
    for words in (["set", "main"], ["export", "main", "main.json"]):
        assert proctor("baseline", *words, cwd=project).returncode == 0
    how = ["--num-runs", "8", "--until-decided", "--against", "main.json", "--margin", "0.2"]
    kept, there = evaluate(project, *how), evaluate(project, *how, "--store", "memory:")
    assert [kept[0], there[0]] == [0, 0]
    assert there[1].splitlines()[-1] == kept[1].splitlines()[-1]


@pytest.mark.nightly
def test_a_comparison_asks_for_what_the_run_was_made_with(project: Path) -> None:
    evaluate(project, "--num-runs", "8")
    proctor("baseline", "set", "main", cwd=project)
    code, output, _ = evaluate(
        project, "--num-runs", "8", "--until-decided", "--against", "main", "--margin", "0.2"
    )
    for words in (["latest~1", "latest"], ["--baseline", "main"]):
        again = proctor("compare", *words, cwd=project)
        assert (again.returncode, again.stdout.splitlines()[-1]) == (code, output.splitlines()[-1])
    assert proctor("compare", "--margin", "0.01", cwd=project).returncode == 4


def test_base_without_common_cases_is_refused_before_the_first_call(project: Path) -> None:
    evaluate(project, "--num-runs", "2")
    path = project / "numbers.evalset.json"
    path.write_text(path.read_text().replace("You sent", "They wrote"))
    code, output, why = evaluate(project, "--num-runs", "8", "--until-decided", "--against", "latest")
    assert (code, output) == (2, "")
    assert "every case that it has in common with what is to be run is another one by now" in why
    assert len(json.loads(proctor("runs", "--json", cwd=project).stdout)["runs"]) == 1


def test_the_exit_code_of_the_json_report_is_the_commands(project: Path) -> None:
    (project / "worse").touch()
    evaluate(project, "--num-runs", "8")
    how = ["--num-runs", "8", "--until-decided", "--against", "latest", "--margin", "0.2", "--json"]
    code, output, why = evaluate(project, *how)
    report = json.loads(output)
    assert (code, report["exit_code"], report["outcome"]) == (0, 0, "failed"), why


@pytest.mark.nightly
def test_cases_of_an_imported_base_are_paired_by_their_ids(project: Path) -> None:
    """A result contains less of a case than its set, so that their hashes differ."""
    path = project / "numbers.evalset.json"
    path.write_text(
        path.read_text().replace('"eval_id"', '"session_input": {"app_name": "a", "user_id": "u"}, "eval_id"')
    )
    (project / "there").mkdir()
    evaluate(project, "--num-runs", "8", "--store", "adk:there")
    for words in (["import", "there"], ["score", "latest", "--config", "plain.json"]):
        assert proctor(*words, cwd=project).returncode == 0
    how = ["--num-runs", "8", "--until-decided", "--against", "latest", "--margin", "0.12"]
    code, output, _ = evaluate(project, *how)
    assert (code, output.splitlines()[-1].partition(":")[0]) == (0, "OUTCOME  no regression")
    assert " 30 of 240 trials" not in output
