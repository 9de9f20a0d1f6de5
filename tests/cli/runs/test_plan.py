"""`proctor plan`: what it prints, and what it refuses."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import proctor
from proctor.cli.main import cli
from tests.cli.runs.test_compare import CONFIG, IDS, SET, bad, broken, good
from tests.scenarios.judges.test_costs import Failing, of_three_cases

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schemas/plan.schema.json").read_text(encoding="utf-8"))


def flaky(text: str) -> str:
    flaky.times += 1  # type: ignore[attr-defined]  # counts itself
    return bad(text) if flaky.times % 4 == 0 else good(text)  # type: ignore[attr-defined]  # as above


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


def run(store: Path, agent: object = flaky, **options: Any) -> None:
    flaky.times = 0  # type: ignore[attr-defined]  # counts itself
    proctor.evaluate_sync(
        agent, SET, store=store, **{"config": CONFIG, "num_runs": 3, "concurrency": 1, **options}
    )


def plan(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["plan", *arguments, "--store", str(store)])


def test_the_sentence_comes_first_and_then_a_row_for_each_number_of_trials(store: Path) -> None:
    run(store)
    lines = plan(store).stdout.splitlines()
    assert lines[0].startswith("with 12 cases x 3 trials you will notice ")
    assert re.search(r"; to notice 5 points you need (.* or )?\d+ cases x 3 trials$", lines[0])
    assert "to notice a drop of 5 points in the pass rate:" in lines
    rows = [line.split() for line in lines if line.startswith("  ") and line.split()[0].isdigit()]
    assert [row[0] for row in rows] == ["1", "2", "3", "5", "10"]
    for row in rows:
        assert int(row[0]) * int(row[1].replace(",", "")) == int(row[2].replace(",", ""))


@pytest.mark.slow
def test_run_that_is_large_enough_is_reported(store: Path) -> None:
    run(store)
    assert plan(store, "--detect", "0.7").stdout.splitlines()[0].endswith(": enough for 70 points")


@pytest.mark.slow
def test_metrics_are_planned_for_in_their_own_units(store: Path) -> None:
    run(store)
    lines = plan(store, "--metric", "response_match_score", "--detect", "0.1").stdout.splitlines()
    assert "; to notice 0.1 in response_match_score you need " in lines[0]
    assert "to notice a drop of 0.1 in response_match_score:" in lines


@pytest.mark.slow
def test_json_follows_its_schema(store: Path) -> None:
    run(store)
    for arguments in ([], ["--metric", "response_match_score"]):
        jsonschema.validate(json.loads(plan(store, "--json", *arguments).stdout), SCHEMA)
    data = json.loads(plan(store, "--json", "--trials", "4,4,2").stdout)
    assert [row["trials"] for row in data["measures"][0]["rows"]] == [2, 4]


@pytest.mark.slow
def test_python_gives_the_same(store: Path) -> None:
    run(store)
    found = proctor.plan_sync(store=store)
    assert plan(store).stdout.startswith(found.sentence)
    assert proctor.plan_sync(proctor.load_run(store=store)).measures[0].rows[0].cases == (
        found.measures[0].rows[0].cases
    )


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--detect", "0"], "detect must be above 0: a drop that is to be seen, such as 0.05; got 0.0"),
        (["--detect", "nan"], "detect must be above 0"),
        (["--detect", "0.9"], "the pass rate of the run is 75 %, and cannot fall by 90 points"),
        (["--power", "1"], "power must be above 0 and below 1, got 1.0"),
        (["--confidence", "0.3"], "confidence must be above 0.5 and below 1, got 0.3"),
        (["--trials", "0"], "trials must be numbers from 1 to 10,000, got 0"),
        (["--trials", "1,x"], "give one or more whole numbers, separated by commas; got '1,x'"),
        (["--metric", "response_match"], "the run has no metric 'response_match'. Did you mean"),
        (["--metric", "response_match_score", "--detect", "3"], "differ by at most 1."),
        (["nothing"], "nothing"),
        (["latest~5"], "No run 'latest~5'"),
    ],
    ids=str,
)
def test_what_is_refused_is_refused_in_one_message(store: Path, arguments: list[str], message: str) -> None:
    run(store)
    found = plan(store, *arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert message in found.stderr
    assert found.stderr.count("error: ") == 1


def test_an_empty_place_has_no_run_to_go_by(store: Path) -> None:
    found = plan(store)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "no runs yet" in found.stderr


@pytest.mark.slow
def test_cases_in_error_are_left_out_and_counted(store: Path) -> None:
    run(store, broken)
    assert "note: 1 case is left out: not every trial could be scored" in plan(store).stdout


@pytest.mark.slow
def test_a_run_in_which_nothing_could_be_judged_has_nothing_to_go_by(store: Path) -> None:
    def fails(text: str) -> str:
        raise RuntimeError("down")

    run(store, fails)
    found = plan(store)
    assert found.exit_code == 2
    assert f"all of its {len(IDS)} cases have a trial that could not be scored" in found.stderr


def test_an_attempt_that_failed_without_usage_is_not_in_the_cost_of_a_trial(store: Path) -> None:
    run = of_three_cases(Failing(), store)
    assert run.unreported == 1
    for size in (proctor.plan_sync(store=store), proctor.plan_sync(run)):
        row = size.measures[0].rows[0]
        assert row.cost == pytest.approx(row.total * run.spent[0].cost / 2)
