"""The real google-adk reads the result files that we write: its results manager, its types, its server."""

import asyncio
import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import proctor
from proctor.files.results.read import read_runs
from proctor.runs.storage.export import export_to_adk
from proctor.schema.results.run_result import RunResult
from proctor.stores.adk_history import AdkFiles
from tests.reports.generated_runs import runs, verdicts
from tests.reports.hostile_texts import HOSTILE, everywhere
from tests.reports.sample_runs import sketch

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself


def read_by_adk(agents_dir: Path, app_name: str) -> list[Any]:
    """Every result of an app, as google-adk's own manager lists and loads them."""
    from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager

    manager = LocalEvalSetResultsManager(agents_dir=str(agents_dir))
    return [manager.get_eval_set_result(app_name, name) for name in manager.list_eval_set_results(app_name)]


@pytest.fixture(scope="module")
def travel(root: Path) -> RunResult:
    """A real run, kept in a store: calls that miss, a crash, repeats."""
    examples = root / "examples" / "travel"
    return proctor.evaluate_sync(
        str(examples / "flawed.py"), examples / "bookings.evalset.json", num_runs=2, store="memory:travel"
    )


def test_every_trial_has_the_same_values_there(travel: RunResult, tmp_path: Path) -> None:
    (tmp_path / "travel").mkdir()
    (path,) = export_to_adk(travel, tmp_path)
    assert path.parent == tmp_path / "travel" / ".adk" / "eval_history"
    (found,) = read_by_adk(tmp_path, "travel")
    assert (found.eval_set_id, found.creation_timestamp) == ("bookings", travel.started_at)
    entries = iter(found.eval_case_results)
    for case in travel.cases:
        for index, trial in enumerate(case.trials):
            _same(next(entries), case, index, trial)
    assert next(entries, None) is None


def test_rubrics_are_read_there(root: Path, tmp_path: Path) -> None:
    """Of each turn with its rationale, and of the case."""
    guide = root / "examples" / "city_guide"
    judge = f"scripted:{guide / 'judge.json'}"
    run = proctor.evaluate_sync(
        str(guide / "boastful.py"), guide / "guide.evalset.yaml", judge=judge, store="memory:guide"
    )
    export_to_adk(run, tmp_path)
    [app] = [path.name for path in tmp_path.iterdir()]
    [found] = read_by_adk(tmp_path, app)
    bern = next(entry for entry in found.eval_case_results if entry.eval_id == "about_bern")
    overall = _rubric_scores(bern.overall_eval_metric_results)
    of_turn = _rubric_scores(bern.eval_metric_result_per_invocation[0].eval_metric_results)
    for scores in (overall, of_turn):
        assert [(each.rubric_id, each.score) for each in scores] == [("sober", 0.0), ("names_the_river", 1.0)]
    assert "brochure" in of_turn[0].rationale


def _rubric_scores(results: list[Any]) -> Any:
    [rubrics] = [one for one in results if one.metric_name.startswith("rubric_based")]
    return rubrics.details.rubric_scores


def _same(entry: Any, case: Any, index: int, trial: Any) -> None:
    assert (entry.eval_id, entry.final_eval_status.name) == (case.eval_id, trial.outcome.status.name)
    assert [one.metric_name for one in entry.overall_eval_metric_results] == list(case.metrics)
    for one in entry.overall_eval_metric_results:
        verdict = case.metrics[one.metric_name]
        score = verdict.per_trial[index]
        assert one.score == (score.value if score is not None else None)
        assert one.eval_status.name == (
            verdict.outcome_in(index).status.name if score is not None else "NOT_EVALUATED"
        )
        assert (one.criterion.threshold if one.criterion else None) == verdict.threshold
        turns = [
            each.score
            for turn in entry.eval_metric_result_per_invocation
            for each in turn.eval_metric_results
            if each.metric_name == one.metric_name
        ]
        assert turns == ([each.value for each in score.per_invocation] if score is not None else [])
    actual = [turn.actual_invocation for turn in entry.eval_metric_result_per_invocation]
    for theirs, ours in zip(actual, trial.trial.invocations, strict=True):
        assert theirs.user_content.parts[0].text == ours.user_content.parts[0].text
        assert json.loads(theirs.model_dump_json(exclude_none=True)) == json.loads(
            ours.model_dump_json(exclude_none=True)
        )
    assert all(turn.expected_invocation for turn in entry.eval_metric_result_per_invocation[:1])
    assert [event.author for event in entry.session_details.events][:1] == ["user"]


@pytest.mark.slow
def test_its_server_shows_them(travel: RunResult, tmp_path: Path) -> None:
    from google.adk.cli.fast_api import get_fast_api_app

    (tmp_path / "travel").mkdir()
    (path,) = export_to_adk(travel, tmp_path)
    client = importlib.import_module("fastapi.testclient").TestClient(
        get_fast_api_app(agents_dir=str(tmp_path), web=True), base_url="http://127.0.0.1:8000"
    )
    listed = client.get("/dev/apps/travel/eval-results")
    assert listed.json() == {"evalResultIds": [path.name.removesuffix(".evalset_result.json")]}
    shown = client.get(f"/dev/apps/travel/eval-results/{listed.json()['evalResultIds'][0]}").json()
    statuses = [entry["finalEvalStatus"] for entry in shown["evalCaseResults"]]
    assert statuses == [trial.outcome.status.value for case in travel.cases for trial in case.trials]


def test_what_google_adk_writes_again_is_still_the_same_run(travel: RunResult, tmp_path: Path) -> None:
    export_to_adk(travel, tmp_path, app_name="travel")
    (found,) = read_by_adk(tmp_path, "travel")
    again = tmp_path / "again.json"
    again.write_text(found.model_dump_json(indent=2), encoding="utf-8")
    (recorded,) = read_runs(again)
    for ours, theirs in zip(travel.cases, recorded.result.cases, strict=True):
        assert [trial.outcome for trial in theirs.trials] == [trial.outcome for trial in ours.trials]
        assert {n: m.score for n, m in theirs.metrics.items()} == pytest.approx(
            {n: m.score for n, m in ours.metrics.items()}
        )


def test_a_run_that_went_wrong_in_every_way_is_read(tmp_path: Path) -> None:
    AdkFiles(tmp_path).write(sketch(3))
    (found,) = read_by_adk(tmp_path, "travel_agent")
    names = {entry.eval_id: entry.final_eval_status.name for entry in found.eval_case_results}
    assert names["refund_policy"] == "NOT_EVALUATED"  # the last trial, which crashed


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(result=runs())
def test_any_run_is_read(tmp_path_factory: pytest.TempPathFactory, result: RunResult) -> None:
    agents = tmp_path_factory.mktemp("agents")
    files = AdkFiles(agents, "app").write(result, timestamp=1_700_000_000.5)
    found = read_by_adk(agents, "app")
    assert len(found) == len(files)
    trials = sum(len(case.trials) or 1 for case in result.cases)
    assert sum(len(one.eval_case_results) for one in found) == trials


@pytest.mark.parametrize("text", HOSTILE[::7], ids=range(len(HOSTILE[::7])))
def test_any_text_is_read(text: str, tmp_path: Path) -> None:
    AdkFiles(tmp_path, "app").write(everywhere(text))
    assert read_by_adk(tmp_path, "app")


@pytest.mark.slow
def test_what_google_adk_saves_is_read_by_us_with_the_same_verdicts(shared: Path, tmp_path: Path) -> None:
    """Its manager reads each published file, writes it in today's form, and both read as the same run."""
    from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager

    manager = LocalEvalSetResultsManager(agents_dir=str(tmp_path))
    read = 0
    for file in sorted((shared / "corpus").rglob("*.evalset_result.json")):
        history = tmp_path / "app" / ".adk" / "eval_history"
        history.mkdir(parents=True, exist_ok=True)
        (history / "old.evalset_result.json").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
        try:
            theirs = manager.get_eval_set_result("app", "old")
        except ValueError:  # keys of an older version that today's refuses
            continue
        (history / "old.evalset_result.json").unlink()
        manager.save_eval_set_result("app", theirs.eval_set_id, theirs.eval_case_results)
        (new,) = history.glob("*.evalset_result.json")
        assert verdicts(read_runs(new)[0].result) == verdicts(read_runs(file)[0].result)
        new.unlink()
        read += 1
    assert read == 9  # of 16; we read them all


@pytest.mark.slow
def test_an_agent_of_google_adk_leaves_results_that_google_adk_reads(root: Path, tmp_path: Path) -> None:
    """End to end: a real ADK agent, run by Proctor, its results in its own folder."""
    folder = root / "examples" / "adk_weather"
    (eval_set,) = folder.glob("*.evalset.json")
    result = asyncio.run(proctor.evaluate(str(folder), eval_set, store="memory:adk"))
    files = AdkFiles(tmp_path).write(result)
    (found,) = read_by_adk(tmp_path, files[0].parent.parent.parent.name)
    assert [entry.eval_id for entry in found.eval_case_results] == [case.eval_id for case in result.cases]
