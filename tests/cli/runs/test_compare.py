"""`proctor compare`: what it prints, where it writes, and the exit codes that a pipeline goes by."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

import proctor
from proctor.cli.main import cli
from proctor.web.pages.built_page import FOLDER
from tests.web.pages.single_file import Read, make_page

IDS = [f"case{number}" for number in range(12)]
SET = {
    "eval_set_id": "words",
    "eval_cases": [
        {
            "eval_id": eval_id,
            "conversation": [
                {
                    "user_content": {"role": "user", "parts": [{"text": eval_id}]},
                    "final_response": {"role": "model", "parts": [{"text": f"You sent {eval_id}"}]},
                }
            ],
        }
        for eval_id in IDS
    ],
}
CONFIG = {"criteria": {"response_match_score": 0.8}}


def good(text: str) -> str:
    return f"You sent {text}"


def bad(text: str) -> str:
    return "Pardon?"


def bad_once(text: str) -> str:
    return "Pardon?" if text == IDS[0] else good(text)


def broken(text: str) -> str:
    if text == IDS[3]:
        raise RuntimeError("no connection")
    return good(text)


def down(text: str) -> str:
    raise RuntimeError("no connection")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


@pytest.fixture
def built_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a page that contains the file."""
    folder = make_page(tmp_path / "page")
    monkeypatch.setenv(FOLDER, str(folder))
    return folder


def runs(store: Path, *agents: object) -> None:
    for agent in agents:
        proctor.evaluate_sync(agent, SET, config=CONFIG, store=store)


def compare(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["compare", *arguments, "--store", str(store)])


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("agents", "exit_code", "said"),
    [
        pytest.param(
            (good, bad), 1, "OUTCOME  regression: the pass rate of the trials fell from 100 % (12 of 12) to 0 % (0 of 12)", id="worse"
        ),
        pytest.param(
            (bad, good), 0, "OUTCOME  improvement: the pass rate of the trials rose from 0 % (0 of 12) to 100 % (12 of 12)", id="better"
        ),
        pytest.param(
            (good, broken), 4, "OUTCOME  inconclusive: a regression cannot be excluded: 1 verdict of the candidate is missing",
            id="a missing verdict",
        ),
        pytest.param(
            (good, down), 3, "OUTCOME  error: no case has a verdict in both runs: 12 verdicts of the candidate are missing",
            id="missing verdicts",
        ),
        pytest.param((good, good), 0, "OUTCOME  no difference seen: nothing fell; ", id="unchanged"),
    ],
)  # fmt: skip
def test_exit_codes(store: Path, agents: tuple[object, ...], exit_code: int, said: str) -> None:
    runs(store, *agents)
    done = compare(store)
    assert done.exit_code == exit_code
    assert said in done.stdout.splitlines()[-1]


def test_a_wide_margin_makes_twelve_cases_enough(store: Path) -> None:
    runs(store, good, good)
    done = compare(store, "previous", "latest", "--margin", "0.4")
    assert (done.exit_code, "OUTCOME  no regression: " in done.stdout) == (0, True)


@pytest.mark.parametrize("option", ["--require-proof", "--margin=0.05"])
def test_proof_can_be_required(store: Path, option: str) -> None:
    runs(store, good, good)
    done = compare(store, option)
    assert done.exit_code == 4
    assert "a drop of more than 5 points is not ruled out" in done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_settings_of_the_gate(store: Path) -> None:
    runs(store, good, bad_once)
    done = compare(store)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (
        4, "OUTCOME  inconclusive: 1 case passed and now fails (words/case0), not significant; by 12 cases",
    )  # fmt: skip
    done = compare(store, "--deterministic")
    assert (done.exit_code, "OUTCOME  regression: the agent is deterministic" in done.stdout) == (1, True)
    data = json.loads(compare(store, "--generalize", "--json").stdout)
    assert (data["general"]["gates"], round(data["general"]["confidence"], 9)) == (True, 0.96)


@pytest.mark.slow
def test_the_declaration_of_the_candidate_counts_also_against_a_baseline(store: Path) -> None:
    runs(store, good)
    assert (
        CliRunner().invoke(cli, ["baseline", "set", "main", "latest", "--store", str(store)]).exit_code == 0
    )
    proctor.evaluate_sync(bad_once, SET, config=CONFIG, store=store, deterministic=True)

    assert compare(store, "--baseline", "main").exit_code == 1
    assert compare(store, "--baseline", "main", "--no-deterministic").exit_code == 4
    assert proctor.compare_sync(store=store).exit_code == 1
    assert proctor.compare_sync(store=store, deterministic=False).exit_code == 4


@pytest.mark.slow
def test_trials_that_differ_contradict_a_deterministic_agent(store: Path) -> None:
    for agent in (good, bad_once):
        proctor.evaluate_sync(agent, SET, config=CONFIG, store=store, num_runs=2)
    answers = iter(["Pardon?", good(IDS[0])])

    def flaky(text: str) -> str:
        return next(answers) if text == IDS[0] else good(text)

    proctor.evaluate_sync(flaky, SET, config=CONFIG, store=store, num_runs=2)
    done = compare(store, "--deterministic")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "deterministic: 1 of 2 trials of words/case0 passed in run" in done.stderr


@pytest.mark.parametrize("selection", [{"limit": 4}, {"shard": "2/2"}], ids=["limit", "shard"])
def test_cases_left_out_by_an_option_are_missing_verdicts(store: Path, selection: dict[str, Any]) -> None:
    runs(store, good)
    part = proctor.evaluate_sync(good, SET, config=CONFIG, store=store, **selection)
    missing = len(IDS) - len(part.cases)
    done = compare(store)
    assert 1 < missing < len(IDS)
    assert (done.exit_code, f"{missing} verdicts of the candidate are missing" in done.stdout) == (3, True)


def test_json_and_files(store: Path, tmp_path: Path) -> None:
    runs(store, good, bad)
    done = compare(
        store,
        "--json",
        "--report",
        f"md={tmp_path / 'of/it.md'}",
        "--report",
        f"json={tmp_path / 'it.json'}",
        "--make-parents",
    )
    data = json.loads(done.stdout)
    assert (data["outcome"], len(data["cases"]), done.exit_code) == ("regression", 12, 1)
    assert json.loads((tmp_path / "it.json").read_text(encoding="utf-8")) == data
    assert (tmp_path / "of/it.md").read_text(encoding="utf-8").startswith("### ✕ regression")


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody", "latest"], "No run named 'nobody'"),
        (["latest~7", "latest"], "No run 'latest~7': the store "),
        (["--report", "jsn=out.json"], "no comparison report is called 'jsn'. Did you mean 'json'?"),
        (["--report", "json"], "--report takes NAME=PATH"),
        (["--json", "--report", "md=-"], "two reports go to stdout"),
        (["--margin", "0"], "Invalid value for '--margin'"),
        (["--changed-cases", "drop"], "Invalid value for '--changed-cases'"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_impossible_comparison_is_reported(store: Path, arguments: list[str], message: str) -> None:
    runs(store, good, good)
    done = compare(store, *arguments)
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_strict_refuses_what_is_not_alike(store: Path) -> None:
    runs(store, good)
    proctor.evaluate_sync(good, SET, config={"criteria": {"response_match_score": 0.7}}, store=store)
    assert "WARNING  the threshold of response_match_score was 0.8 and is 0.7" in compare(store).stdout
    done = compare(store, "--strict")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "error: not compared, as --strict asks: the threshold of response_match_score" in done.stderr


# --- one case side by side -------------------------------------------------------------------------------------------


def test_case_is_shown_from_the_first_difference(store: Path) -> None:
    runs(store, good, bad)
    done = compare(store, "previous", "latest", "case1")
    assert done.exit_code == 0
    assert done.stdout == (
        "CASE  words/case1  first difference in turn 1, after 1 equal step\n"
        "BASELINE  trial 1 of 1, passed\n"
        "CANDIDATE  trial 1 of 1, failed\n"
        "    = turn 1: user: case1\n"
        "    - turn 1: answer: You sent case1\n"
        "    + turn 1: answer: Pardon?\n"
        "SAW  response_match_score\n"
        "    - 1.00\n"
        '    + 0.00 (turn 1: 0 of the reference\'s 3 words are in the answer of 1 word; missing: "you", "sent", '
        '"case1"; not in the reference: "pardon")\n'
    )


@pytest.mark.slow
def test_case_in_error_shows_the_failure(store: Path) -> None:
    runs(store, good, broken)
    shown = compare(store, "previous", "latest", "words/case3").stdout
    assert "CANDIDATE  trial 1 of 1, error: agent raised in turn 1: RuntimeError: no connection" in shown
    assert "    + turn 1: failure: agent raised in turn 1: RuntimeError: no connection" in shown
    assert "    + not scored" in shown


def test_unchanged_case_is_reported_as_such(store: Path) -> None:
    runs(store, good, good)
    assert "no difference" in compare(store, "previous", "latest", "case1").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["case99"], "the run has no case 'case99'"),
        (["case1", "--format", "md"], "are about whole runs: leave the case out"),
    ],
    ids=["unknown", "as Markdown"],
)
def test_case_that_cannot_be_shown_is_reported(store: Path, arguments: list[str], message: str) -> None:
    runs(store, good, good)
    done = compare(store, "previous", "latest", *arguments)
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_two_trials_side_by_side_are_json_too(store: Path) -> None:
    schema = json.loads(
        (Path(__file__).parents[3] / "docs/schemas/parting.schema.json").read_text(encoding="utf-8")
    )
    runs(store, good, bad)
    found = compare(store, "previous", "latest", "case1", "--json")
    data = json.loads(found.stdout)
    jsonschema.validate(data, schema)
    assert (found.exit_code, data["case"], data["turn"], data["alike"]) == (0, "words/case1", 1, 1)
    assert [(step["in"], step["said"]) for step in data["steps"][1:]] == [
        ("base", "answer: You sent case1"),
        ("candidate", "answer: Pardon?"),
    ]
    assert data["saw"][0]["metric"] == "response_match_score"
    runs(store, good, good)
    alike = json.loads(compare(store, "previous", "latest", "case1", "--json").stdout)
    jsonschema.validate(alike, schema)
    assert (alike["turn"], alike["steps"], alike["saw"]) == (None, [], [])


# --- not scored alike ------------------------------------------------------------------------------------------------


def judged(store: Path, agent: object, **config: object) -> None:
    proctor.evaluate_sync(agent, SET, config={**CONFIG, **config}, store=store)


OTHER_OPTION = {"response_match_score": {"threshold": 0.8, "aggregate": "min"}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criteria", "exit_code", "apart"),
    [
        pytest.param(OTHER_OPTION, 4, ["passed", "response_match_score"], id="another option"),
        pytest.param({"response_match_score": 0.7}, 1, ["passed"], id="another threshold: the scores are the same"),
        pytest.param({**CONFIG["criteria"], "exact_match": {"threshold": 1.0, "gate": False}}, 1, [], id="one more that only reports"),
    ],
)  # fmt: skip
def test_what_was_not_judged_alike_decides_nothing(
    store: Path, criteria: dict[str, object], exit_code: int, apart: list[str]
) -> None:
    judged(store, good)
    judged(store, bad, criteria=criteria)
    found = compare(store, "--json")
    measures = json.loads(found.stdout)["measures"]
    assert [one["name"] for one in measures if one["apart"]] == apart
    assert not any(one["decides"] for one in measures if one["apart"])
    assert found.exit_code == exit_code
    rows = [line for line in compare(store).stdout.splitlines() if line.startswith("MEASURE")]
    assert sum(line.endswith("  not scored alike") for line in rows) == len(apart)
    assert compare(store, "--changed-metrics", "keep").exit_code == 1


@pytest.mark.slow
def test_judged_by_the_same_criteria_it_decides_again(store: Path) -> None:
    judged(store, good)
    judged(store, bad, criteria=OTHER_OPTION)
    found = compare(store).stdout
    assert "`proctor score RUN --config FILE` re-scores one run like the other" in found
    base = proctor.list_runs(store)[1].run_id
    step = "NEXT  score the baseline by the criteria of the candidate, with "
    line = next(line for line in found.splitlines() if line.startswith(step)).removeprefix(step)
    content, _, command = line.partition(" in FILE: ")
    assert command == f"proctor score {base} --config FILE --store={store}"
    assert list(json.loads(content)["criteria"]) == list(OTHER_OPTION)
    proctor.rescore_sync(base, store=store, config={"criteria": OTHER_OPTION})
    assert compare(store, base, "latest").exit_code == 1


@pytest.mark.slow
def test_a_comparison_is_a_page_in_one_file(store: Path, tmp_path: Path, built_page: Path) -> None:
    runs(store, good, bad)
    file = tmp_path / "compared.html"
    done = compare(store, "--report", f"html={file}")
    assert done.exit_code == 1
    read = Read(file.read_text("utf-8"))
    base, candidate = (one.run_id for one in reversed(proctor.list_runs(store)))
    asked = f"base={base}&candidate={candidate}"
    assert read.head["start"] == f"/compare?{asked}"
    page = read.get(f"/api/compare?{asked}")
    assert page["sentence"] in done.stdout
    assert {one["run_id"] for one in read.get("/api/runs")["items"]} == {base, candidate}
    for case in page["cases"]:
        pair = read.get(f"/api/compare/case?{asked}&set={case['eval_set_id']}&case={case['eval_id']}")
        assert pair["name"] == f"{case['eval_set_id']}/{case['eval_id']}"
    assert read.get(f"/api/runs/{candidate}/cases/0/trials/0")["turns"]


@pytest.mark.slow
def test_an_exported_page_has_what_the_store_knows_of_its_run(
    store: Path, tmp_path: Path, built_page: Path
) -> None:
    runs(store, good, good)
    file = tmp_path / "run.html"
    done = CliRunner().invoke(cli, ["export", "latest", "--store", str(store), "--output", str(file)])
    assert done.exit_code == 0, done.output
    newest, before = (one.run_id for one in proctor.list_runs(store))
    read = Read(file.read_text("utf-8"))
    assert read.get(f"/api/runs/{newest}")["against"]["run_id"] == before
    assert set(read.head["places"]) == {"/compare", "/history"}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("report", ["html", "md", "json"])
def test_report_without_disk_space_is_reported_by_its_path(
    store: Path, built_page: Path, report: str
) -> None:
    runs(store, good, bad)
    done = compare(store, "--report", f"{report}=/dev/full")
    assert done.exit_code == 3
    assert "error: the report could not be written to /dev/full: No space left on device" in done.output


@pytest.mark.slow
def test_a_comparison_with_a_baseline_has_the_run_that_is_kept(
    store: Path, tmp_path: Path, built_page: Path
) -> None:
    runs(store, good, bad)
    base, candidate = (one.run_id for one in reversed(proctor.list_runs(store)))
    exported = tmp_path / "main.json"
    CliRunner().invoke(cli, ["baseline", "set", "main", base, "--store", str(store)])
    CliRunner().invoke(cli, ["baseline", "export", "main", str(exported), "--store", str(store)])
    CliRunner().invoke(cli, ["baseline", "remove", "main", "--store", str(store)])
    proctor.prune_runs(store, runs=[base])
    file = tmp_path / "compared.html"
    done = compare(store, "--baseline", str(exported), "--report", f"html={file}")
    assert done.exit_code == 1, done.output
    read = Read(file.read_text("utf-8"))
    assert [one["run_id"] for one in read.get("/api/runs")["items"]] == [candidate]
    assert read.get(f"/api/compare?base={base}&candidate={candidate}")["base"]["kept"] is False
