"""Results that come in are runs of the store: listed, shown, exported, re-scored; never better than recorded."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import proctor
from proctor.errors import EvalFileError
from proctor.files.results.jsonl import _line
from proctor.files.results.report_format import LineForm
from proctor.runs.importing.import_runs import NOT_KEPT, import_run, import_runs, read_results
from proctor.runs.storage.export import export_run
from proctor.runs.storage.open import open_store
from proctor.runs.storage.queries import list_runs
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, TrialResult
from proctor.schema.serialize import content_hash
from proctor.stores.base import Store
from tests.cli.project import in_this_process
from tests.reports.generated_runs import broken, evidence, sound_runs, verdicts
from tests.reports.sample_runs import P, crashed, good, run, wrong_covers


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store on disk."""
    return open_store(tmp_path / "store.sqlite3")


# --- there and back ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("form", ["json", "jsonl"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(result=sound_runs())
def test_what_is_exported_comes_back_into_a_store_the_same(
    form: str, tmp_path_factory: pytest.TempPathFactory, result: RunResult
) -> None:
    folder = tmp_path_factory.mktemp("run")
    (path,) = export_run(result, form, folder / "run")
    store = open_store(f"memory:{folder.name}")  # a file is imported once into a store
    again = store.load(import_run(path, store))
    assert verdicts(again) == verdicts(result)
    assert evidence(again) == evidence(result)
    assert (again.agent, again.num_runs) == (result.agent, result.num_runs)
    assert broken(again)[1] == broken(result)[1]
    assert again.outcome is result.outcome


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "jsonl", "adk"])
def test_a_real_run_comes_back_from_every_form(form: str, root: Path, tmp_path: Path, store: Store) -> None:
    examples = root / "examples" / "travel"
    result = proctor.evaluate_sync(
        str(examples / "flawed.py"),
        examples / "bookings.evalset.json",
        num_runs=2,
        store=tmp_path / "store.sqlite3",
    )
    (path,) = export_run(result, form, tmp_path / f"run.{form}")
    again = store.load(import_run(path, store))
    for ours, theirs in zip(result.cases, again.cases, strict=True):
        assert (theirs.outcome, theirs.reason) == (ours.outcome, ours.reason)
        assert {n: (m.outcome, m.score) for n, m in theirs.metrics.items()} == {
            n: (m.outcome, m.score) for n, m in ours.metrics.items()
        }
        for one, other in zip(ours.trials, theirs.trials, strict=True):
            assert (one.outcome, one.failure) == (other.outcome, other.failure)
            assert _calls(other) == _calls(one) != []


def _calls(result: TrialResult) -> list[list[tuple[str | None, object]]]:
    assert result.trial is not None
    return [[(call.name, call.args) for call in turn.tool_calls] for turn in result.trial.invocations]


# --- google-adk's ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_published_result_becomes_a_run(shared: Path, store: Store) -> None:
    files = sorted((shared / "corpus").rglob("*.evalset_result.json"))
    ids = import_runs(shared / "corpus", store)
    assert len(ids) == len(files) == 16
    for run_id, file in zip(ids, files, strict=True):
        (expected,) = read_results(file)
        assert verdicts(store.load(run_id)) == verdicts(expected)
        manifest = store.manifest(run_id)
        content = content_hash(file.read_bytes())
        imported = {"file": str(file), "form": "adk", "run_id": "", "content": content}
        assert manifest.options["imported"] == imported
        assert manifest.imported_from == str(file)
        assert manifest.created_at == expected.started_at > 0
    listed = {each.run_id: each for each in list_runs(store)}
    assert {listed[each].state for each in ids} == {RunState.FINISHED}
    assert {listed[each].summary.outcome for each in ids} == {Outcome.PASSED, Outcome.FAILED, Outcome.ERROR}


def test_a_run_of_google_adk_is_judged_again_by_other_metrics(shared: Path, store: Store) -> None:
    """Its evidence and what it was compared with are both in the file."""
    file = shared / "golden" / "files" / "all_pass.default.evalset_result.json"
    run_id = import_run(file, store)
    before = store.load(run_id)
    again = proctor.rescore_sync(run_id, config={"criteria": {"response_match_score": 0.8}}, store=store)
    assert len(again.cases) == 2
    for ours, theirs in zip(again.cases, before.cases, strict=True):
        if "response_match_score" in theirs.metrics:
            assert ours.metrics["response_match_score"].score == pytest.approx(
                theirs.metrics["response_match_score"].score
            )
    assert "tool_trajectory_avg_score" not in again.cases[0].metrics
    assert verdicts(store.load(run_id, 1)) == verdicts(before)


def test_an_imported_run_is_shown_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = export_run(run(good("a")), "jsonl", tmp_path / "run.jsonl")
    monkeypatch.chdir(tmp_path)
    assert in_this_process("import", path.name).returncode == 0
    assert f"imported from {path.name}" in in_this_process("show", "latest").stdout.splitlines()[0]


# --- what is not as usual ----------------------------------------------------------------------------------------------


def test_several_agents_are_several_runs(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "both.jsonl"
    export_run(run(good("a"), agent="one"), "jsonl", tmp_path / "1")
    export_run(run(good("a"), agent="two"), "jsonl", tmp_path / "2")
    path.write_text(
        (tmp_path / "1").read_text("utf-8") + (tmp_path / "2").read_text("utf-8"), encoding="utf-8"
    )
    assert [store.load(each).agent for each in import_runs(path, store)] == ["one", "two"]
    with pytest.raises(EvalFileError, match="expected the results of one run, got 2"):
        import_run(path, store)


def test_missing_evidence_of_a_file_is_reported(tmp_path: Path, store: Store) -> None:
    result = run(CaseResult("s", "a", P, trials=[TrialResult(0, P, evidence=None)]))
    (path,) = export_run(result, "json", tmp_path / "run.json")
    (case,) = store.load(import_run(path, store)).cases
    assert case.trials[0].trial is not None
    assert (case.outcome, case.trials[0].trial.notes, case.trials[0].trial.turns) == (P, [NOT_KEPT], [])


def test_nothing_is_put_where_one_file_cannot_be_read(tmp_path: Path, store: Store) -> None:
    folder = tmp_path / "history"
    folder.mkdir()
    export_run(run(good("a")), "adk", folder / "1.evalset_result.json")
    (folder / "2.evalset_result.json").write_text('{"eval_set_result_id": 7}', encoding="utf-8")
    with pytest.raises(EvalFileError, match=r"2\.evalset_result\.json"):
        import_runs(folder, store)
    assert list(store.runs()) == []


def test_folder_without_results_is_reported(tmp_path: Path, store: Store) -> None:
    with pytest.raises(EvalFileError, match=r"there is no \*\.evalset_result\.json in this folder"):
        import_runs(tmp_path, store)


def test_a_broken_line_far_down_is_found_before_anything_is_put(tmp_path: Path, store: Store) -> None:
    (path,) = export_run(run(*(good(f"c{n}") for n in range(300))), "jsonl", tmp_path / "run.jsonl")
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1][:-9]]), encoding="utf-8")
    with pytest.raises(EvalFileError, match=r":300:1: error: this line is not JSON"):
        import_run(path, store)
    assert list(store.runs()) == []


def test_line_that_only_resembles_a_trial_is_found_before_any_import(tmp_path: Path, store: Store) -> None:
    (path,) = export_run(run(*(good(f"c{n}") for n in range(30))), "jsonl", tmp_path / "run.jsonl")
    lines = path.read_text("utf-8").splitlines()
    last = {**json.loads(lines[-1]), "evidence": {"turns": 7}}
    path.write_text("\n".join([*lines[:-1], json.dumps(last)]), encoding="utf-8")
    with pytest.raises(EvalFileError, match=r":30:1: error: evidence.turns: expected a list"):
        import_run(path, store)
    assert list(store.runs()) == []


def test_each_line_is_read_whole_once(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counting(path: Path, number: int, text: bytes) -> LineForm:
        read.append(number)
        return _line(path, number, text)

    monkeypatch.setattr("proctor.files.results.jsonl._line", counting)
    export_run(run(*(good(f"case_{n}") for n in range(30))), "jsonl", tmp_path / "run.jsonl")
    import_run(tmp_path / "run.jsonl", store)
    assert read == list(range(1, 31))


@pytest.mark.slow
def test_more_cases_than_wait_at_a_time(tmp_path: Path, store: Store) -> None:
    result = run(*(good(f"c{n}") for n in range(250)))
    (path,) = export_run(result, "jsonl", tmp_path / "run.jsonl")
    assert [case.eval_id for case in store.load(import_run(path, store)).cases] == [
        f"c{n}" for n in range(250)
    ]


def test_what_a_list_of_runs_shows_is_what_was_recorded(tmp_path: Path, store: Store) -> None:
    result = run(good("a", 2), wrong_covers(), num_runs=5)
    result.warnings = ["careful"]
    (path,) = export_run(result, "json", tmp_path / "run.json")
    summary = store.summary(import_run(path, store))
    assert (summary.outcome, summary.warnings, summary.duration) == (
        result.outcome,
        ["careful"],
        result.duration,
    )
    assert summary.counts == {outcome.value: count for outcome, count in result.counts.items()}


def test_an_imported_run_is_exported_again_as_it_came(tmp_path: Path, store: Store) -> None:
    (first,) = export_run(run(good("a", 2), crashed(), num_runs=5), "jsonl", tmp_path / "1")
    again = store.load(import_run(first, store))
    (second,) = export_run(again, "jsonl", tmp_path / "2")
    lines = [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (first, second)]
    for one, other in zip(*lines, strict=True):
        assert {**one, "run_id": ""} == {**other, "run_id": ""}
