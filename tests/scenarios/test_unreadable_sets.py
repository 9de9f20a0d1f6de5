"""An unreadable set makes its run an error: in the report, and in all later uses of the run."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import SetupError
from proctor.analysis.compare.comparison_report import WRITERS, comparison_html, write_comparison
from proctor.analysis.history.history_report import history_blocks
from proctor.cli.eval.failed_cases import find_failed_cases
from proctor.reports.base import ReportOptions
from proctor.reports.content.run_list import ListedRun, run_list_blocks
from proctor.reports.terminal.block_drawing import draw_blocks
from proctor.runs.storage.open import open_runs
from proctor.runs.storage.queries import RunFilter
from proctor.schema.analysis.comparison import CaseChange, Change, Comparison
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import Outcome
from proctor.web.pages.analysis.comparison import ComparisonPage, comparison_page, comparison_side
from proctor.web.pages.analysis.history import history_page
from proctor.web.pages.base import PassedShare
from proctor.web.pages.runs.load_run import brief_page, runs_page
from proctor.web.pages.runs.matrix import MatrixRun, matrix_page
from tests.cli.project import in_this_process

SET: dict[str, Any] = {
    "eval_set_id": "good",
    "eval_cases": [
        {
            "eval_id": "one",
            "conversation": [
                {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}
            ],
        }
    ],
}
CONFIG = {"criteria": {"response_match_score": 0.8}}


def kept_in(folder: Path) -> str:
    return str(folder / "store.sqlite3")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunResult:
    """One set whose only case passes, and one that cannot be read."""
    monkeypatch.chdir(tmp_path)
    Path("good.evalset.json").write_text(json.dumps(SET))
    Path("bad.evalset.json").write_text('{"eval_set_id": "bad",')
    return proctor.evaluate_sync(
        "replay", ["good.evalset.json", "bad.evalset.json"],
        config=CONFIG, keep_going=True, store=kept_in(tmp_path),
    )  # fmt: skip


def loaded(run: RunResult, folder: Path) -> RunResult:
    return proctor.load_run(run.run_id, kept_in(folder))


def listed(run: RunResult, folder: Path) -> RunResult:
    [line] = proctor.list_runs(kept_in(folder))
    assert line.summary.outcome is Outcome.ERROR
    return loaded(run, folder)


def judged_again(run: RunResult, folder: Path) -> RunResult:
    return proctor.rescore_sync(run, store=kept_in(folder))


def judged_again_and_loaded(run: RunResult, folder: Path) -> RunResult:
    judged_again(run, folder)
    return loaded(run, folder)


def taken_in(form: str) -> Callable[[RunResult, Path], RunResult]:
    def out_and_in(run: RunResult, folder: Path) -> RunResult:
        [written] = proctor.export_run(loaded(run, folder), form, folder / f"out.{form}")
        return proctor.load_run(proctor.import_run(written, kept_in(folder)), kept_in(folder))

    return out_and_in


LATER = {
    "at once": lambda run, _: run,
    "loaded": loaded,
    "listed": listed,
    "re-scored": judged_again,
    "re-scored, then loaded": judged_again_and_loaded,
    "out and in as JSON": taken_in("json"),
    "out and in as JSON Lines": taken_in("jsonl"),
}


@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
def test_a_set_that_could_not_be_read_is_never_forgotten(
    run: RunResult, later: Callable[[RunResult, Path], RunResult], tmp_path: Path
) -> None:
    result = later(run, tmp_path)
    assert result.counts == {Outcome.PASSED: 1}
    assert (result.outcome, result.exit_code) == (Outcome.ERROR, 3)
    [missing] = [one for one in result.sets if one.failure]
    assert missing.failure is not None
    assert "bad.evalset.json" in missing.failure.message


def test_no_report_has_a_pass_rate_without_the_set(run: RunResult, tmp_path: Path) -> None:
    exported = proctor.export_run(loaded(run, tmp_path), "json", tmp_path / "out.json")
    [data] = json.loads(Path(exported[0]).read_text())["runs"]
    assert data["pass_rate"] == {"passed": 1, "of": 1, "rate": None, "low": None, "high": None}
    counts = "1 of 1 case passed, 1 set could not be run"
    line = shown_history("--store", kept_in(tmp_path))
    assert f"  {counts}  could not be run: bad.evalset.json  cases=1" in line
    [listed] = json.loads(shown_history("--store", kept_in(tmp_path), "--json"))["runs"]
    assert listed["unread_sets"] == ["bad.evalset.json"]
    assert "could not be run" not in shown_history("--store", kept_in(tmp_path), "--set", "good")


def test_no_page_has_a_pass_rate_without_the_set(run: RunResult, tmp_path: Path) -> None:
    with closing(open_runs(kept_in(tmp_path), read_only=True)) as store:
        (row,) = runs_page(store, RunFilter(), limit=5).items
        page = brief_page(store, run.run_id)
        record = store.record(run.run_id)
        (head,) = matrix_page([MatrixRun(record, row.short, None, store.cases(run.run_id))]).runs
        history = history_page(proctor.history_sync(store=store))
    counts = PassedShare(count=1, of=1, rate=None, low=0, high=1, unread_sets=1)
    assert row.pass_rate == page.pass_rate == head.passed == counts
    assert not row.trend
    assert history.runs[0].unread_sets == ["bad.evalset.json"]
    assert history.unread == [f"bad.evalset.json could not be run in 1 run: {row.short}"]
    assert {point.unread_sets for series in history.series for point in series.points} == {1}


def shown_history(*options: str) -> str:
    done = in_this_process("history", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_drawn_history_names_the_set(run: RunResult, tmp_path: Path) -> None:
    history = proctor.history_sync(store=kept_in(tmp_path))
    out = io.StringIO()
    draw_blocks(partial(history_blocks, history, ""), out, ReportOptions(width=80))
    assert f"bad.evalset.json could not be run in 1 run: {history.runs[0].short}" in out.getvalue()


@pytest.fixture
def broken_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RunResult]:
    """Three runs: one of two sets; the same after the file of `other` was broken; one of only the broken file."""
    monkeypatch.chdir(tmp_path)
    Path("good.evalset.json").write_text(json.dumps(SET))
    Path("other.evalset.json").write_text(json.dumps({**SET, "eval_set_id": "other"}))
    both = ["good.evalset.json", "other.evalset.json"]
    options: dict[str, Any] = {"config": CONFIG, "keep_going": True, "store": kept_in(tmp_path)}
    whole = proctor.evaluate_sync("replay", both, **options)
    Path("other.evalset.json").write_text('{"eval_set_id": "other",')
    return [whole, *(proctor.evaluate_sync("replay", sets, **options) for sets in (both, both[1:]))]


def test_the_history_names_each_run_without_the_set(broken_later: list[RunResult], tmp_path: Path) -> None:
    for options, count in (((), "1 of 1 case"), (("--set", "other"), "0 of 0 cases")):
        records = shown_history("--store", kept_in(tmp_path), *options).splitlines()
        assert records[0] == "RUNS  3"
        none, part, _ = [line for line in records if line.startswith("PASS_RATE")]
        unread = "1 set could not be run  could not be run: other.evalset.json  cases="
        assert f"  0 of 0 cases passed, {unread}0" in none
        assert f"  {count} passed, {unread}" in part
    history = proctor.history_sync(store=kept_in(tmp_path), eval_set="other")
    out = io.StringIO()
    draw_blocks(partial(history_blocks, history, ""), out, ReportOptions(width=100))
    assert "other.evalset.json could not be run in 2 runs" in out.getvalue()
    assert (
        "other.evalset.json" in in_this_process("runs", "--store", kept_in(tmp_path), "--set", "other").stdout
    )


def test_the_history_of_a_metric_names_the_set(run: RunResult, tmp_path: Path) -> None:
    metric = "response_match_score"
    line = shown_history("--store", kept_in(tmp_path), "--metric", metric)
    assert "1 set could not be run  could not be run: bad.evalset.json  cases=1" in line
    history = proctor.history_sync(store=kept_in(tmp_path))
    out = io.StringIO()
    draw_blocks(partial(history_blocks, history, metric), out, ReportOptions(width=80))
    assert f"bad.evalset.json could not be run in 1 run: {history.runs[0].short}" in out.getvalue()


def test_nothing_changed_in_a_set_that_never_ran(run: RunResult, tmp_path: Path) -> None:
    for answer in ("hi", "'hi' and 'hi'"):
        Path("agent.py").write_text(f"def root_agent(message: str) -> str:\n    return {answer!r}\n")
        proctor.evaluate_sync(
            "agent.py", ["good.evalset.json", "bad.evalset.json"],
            config=CONFIG, keep_going=True, store=kept_in(tmp_path),
        )  # fmt: skip
    changes = proctor.history_sync(store=kept_in(tmp_path)).changes
    assert [one.eval_set_id for one in changes] == ["good"]


def test_the_list_of_runs_marks_the_set(run: RunResult, tmp_path: Path) -> None:
    store = "--store", kept_in(tmp_path)
    assert "  unread_sets=bad.evalset.json  cases=1" in in_this_process("runs", *store).stdout
    [data] = json.loads(in_this_process("runs", *store, "--json").stdout)["runs"]
    assert data["unread_sets"] == ["bad.evalset.json"]
    out = io.StringIO()
    listed_run = ListedRun(proctor.list_runs(kept_in(tmp_path))[0], run.run_id)
    draw_blocks(partial(run_list_blocks, [listed_run], 0), out, ReportOptions(width=120))
    assert "1 set could not be run" in out.getvalue()


def test_what_failed_is_the_set_itself_with_all_its_cases(run: RunResult, tmp_path: Path) -> None:
    Path("bad.evalset.json").write_text(json.dumps({**SET, "eval_set_id": "mended"}))
    failed = find_failed_cases(run.run_id, kept_in(tmp_path))
    assert (failed.files, failed.cases) == (["bad.evalset.json"], {"mended": ["one"]})


def test_set_that_is_still_unreadable_is_reported(run: RunResult, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"bad\.evalset\.json:1"):
        find_failed_cases(run.run_id, kept_in(tmp_path))


def test_a_set_whose_file_is_not_known_is_not_fine(run: RunResult, tmp_path: Path) -> None:
    imported = taken_in("jsonl")(run, tmp_path)
    with pytest.raises(
        SetupError, match=r"bad\.evalset\.json could not be run then, and its file is not known"
    ):
        find_failed_cases(imported.run_id, kept_in(tmp_path))


@pytest.fixture
def whole(run: RunResult, tmp_path: Path) -> RunResult:
    """A later run of both sets, with the same case in each."""
    Path("bad.evalset.json").write_text(json.dumps({**SET, "eval_set_id": "mended"}))
    return proctor.evaluate_sync(
        "replay", ["good.evalset.json", "bad.evalset.json"], config=CONFIG, store=kept_in(tmp_path)
    )


UNREAD = "bad.evalset.json could not be run"


def forms_of(comparison: Comparison) -> dict[str, str]:
    """Return a comparison in each of its forms."""
    write_comparison(comparison, drawn := io.StringIO(), options=ReportOptions(width=300))
    forms = {"terminal": drawn.getvalue(), "notebook": comparison_html(comparison)}
    for name in ("text", "markdown", "json", "github"):
        WRITERS[name](comparison, out := io.StringIO())
        forms[name] = out.getvalue()
    return forms


def test_cases_of_a_set_that_the_candidate_could_not_run_are_missing_verdicts(
    run: RunResult, whole: RunResult, tmp_path: Path
) -> None:
    found = proctor.compare_sync(whole.run_id, run.run_id, store=kept_in(tmp_path))
    assert (found.outcome, found.only_base, found.missing_candidate) == (Change.INCONCLUSIVE, [], 1)
    [case] = found.changed(CaseChange.MISSING)
    assert (case.name, case.reason) == ("mended/one", UNREAD)
    correct = "correct bad.evalset.json, and run the candidate on all cases"
    assert found.next_steps[0] == f"{correct}: it left out 1 case ({UNREAD})"
    assert not any("resume" in step for step in found.next_steps)
    warning = f"{UNREAD} in the candidate: file not loaded: bad.evalset.json:1"
    assert found.warnings[0].startswith(warning)
    forms = forms_of(found)
    assert all(UNREAD in text for text in forms.values())
    assert f"reason: {UNREAD}" in forms["text"]
    [unread] = json.loads(forms["json"])["candidate"]["unread_sets"]
    assert unread["eval_set_id"] == "bad.evalset.json"
    assert unread["cause"].startswith("file not loaded: bad.evalset.json:1")


def test_cases_of_a_set_that_the_base_could_not_run_are_missing_verdicts_of_the_base(
    run: RunResult, whole: RunResult, tmp_path: Path
) -> None:
    found = proctor.compare_sync(run.run_id, whole.run_id, store=kept_in(tmp_path))
    assert (found.only_candidate, found.missing_base, found.missing_candidate) == ([], 1, 0)
    assert found.warnings[0].startswith(f"{UNREAD} in the baseline: ")


def page_of(comparison: Comparison) -> ComparisonPage:
    sides = comparison_side(comparison.base, None, None), comparison_side(comparison.candidate, None, None)
    return comparison_page(comparison, sides, ({}, {}))


def test_the_page_counts_cases_with_missing_verdicts_alike_in_both_directions(
    run: RunResult, whole: RunResult, tmp_path: Path
) -> None:
    for pair in ((run, whole), (whole, run)):
        found = proctor.compare_sync(*(one.run_id for one in pair), store=kept_in(tmp_path))
        page = page_of(found)
        missing = page.without_verdicts + len(found.changed(CaseChange.MISSING))
        assert (page.pairs, page.same, missing) == (2, 1, 1)


def test_a_run_of_only_an_unread_set_has_no_other_missing_verdicts(
    broken_later: list[RunResult], tmp_path: Path
) -> None:
    whole, part, none = (one.run_id for one in broken_later)
    store = kept_in(tmp_path)
    text = r"the baseline has 0, the candidate 1 others; other\.evalset\.json could not be run in either run"
    with pytest.raises(SetupError, match=text):
        proctor.compare_sync(none, part, store=store)
    found = proctor.compare_sync(none, whole, store=store)
    assert (found.outcome, found.missing_base, found.only_candidate) == (Change.ERROR, 1, ["good/one"])
    unread = "other.evalset.json could not be run"
    assert found.next_steps == [
        f"correct other.evalset.json, and run the baseline on all cases: it left out 1 case ({unread})"
    ]
    assert (page_of(found).same, page_of(found).without_verdicts) == (0, 1)


def test_a_comparison_of_results_and_one_with_a_baseline_have_the_missing_verdicts(
    run: RunResult, whole: RunResult, tmp_path: Path
) -> None:
    store = kept_in(tmp_path)
    proctor.set_baseline("main", whole.run_id, store)
    found = proctor.compare_sync(candidate=run.run_id, baseline="main", store=store)
    in_memory = proctor.compare_sync(whole, run)
    assert [one.outcome for one in (found, in_memory)] == [Change.INCONCLUSIVE] * 2
    assert [one.missing_candidate for one in (found, in_memory)] == [1, 1]


def test_a_comparison_without_a_set_that_neither_run_could_run_is_an_error(
    run: RunResult, tmp_path: Path
) -> None:
    again = proctor.evaluate_sync(
        "replay", ["good.evalset.json", "./bad.evalset.json"],
        config=CONFIG, keep_going=True, store=kept_in(tmp_path),
    )  # fmt: skip
    assert proctor.compare_sync(run, again).outcome is Change.ERROR
    found = proctor.compare_sync(run.run_id, again.run_id, store=kept_in(tmp_path))
    assert (found.outcome, found.exit_code, found.pairs) == (Change.ERROR, 3, 1)
    missing = "the verdicts of bad.evalset.json, ./bad.evalset.json are missing in both runs"
    assert found.sentence == f"error: a regression cannot be excluded: {missing}; by 1 case"
    assert [one.partition(": ")[0] for one in found.warnings] == [
        f"{UNREAD} in the baseline",
        f"./{UNREAD} in the candidate",
    ]
    steps = ["correct bad.evalset.json, ./bad.evalset.json, and run the baseline and the candidate again"]
    assert found.next_steps == steps
    assert all("missing in both runs; by 1 case" in text for text in forms_of(found).values())
    page = page_of(found)
    assert (page.outcome, page.missing) == ("error", [f"{missing}: they are in no figure"])


def test_a_regression_stays_one_without_a_set_that_neither_run_could_run(tmp_path: Path) -> None:
    store, [one] = kept_in(tmp_path), SET["eval_cases"]
    cases = [{**one, "eval_id": str(number)} for number in range(8)]
    (tmp_path / "bad.evalset.json").write_text("{")
    (tmp_path / "good.evalset.json").write_text(json.dumps({**SET, "eval_cases": cases}))
    for answer in ("hi", "no"):
        agent = tmp_path / f"{answer}.py"
        agent.write_text(f"def root_agent(message: str) -> str:\n    return {answer!r}\n")
        proctor.evaluate_sync(
            agent, [*tmp_path.glob("*.evalset.json")], config=CONFIG, keep_going=True, store=store
        )
    assert proctor.compare_sync(store=store).outcome is Change.REGRESSION


def test_a_baseline_without_a_set_that_could_not_be_run_has_a_warning(run: RunResult, tmp_path: Path) -> None:
    done = in_this_process("baseline", "set", "main", "--store", kept_in(tmp_path))
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith(
        f"warning: baseline main: {UNREAD} in run {run.run_id}: its verdicts are missing in every comparison "
        "(file not loaded: bad.evalset.json:1:"
    )


def test_a_set_that_a_run_just_does_not_have_has_no_missing_verdicts(
    whole: RunResult, tmp_path: Path
) -> None:
    part = proctor.evaluate_sync("replay", "good.evalset.json", config=CONFIG, store=kept_in(tmp_path))
    found = proctor.compare_sync(whole.run_id, part.run_id, store=kept_in(tmp_path))
    assert (found.only_base, found.missing_candidate) == (["mended/one"], 0)


def test_of_two_sets_with_one_id_the_unread_one_has_missing_verdicts(tmp_path: Path) -> None:
    store, [one] = kept_in(tmp_path), SET["eval_cases"]
    paths = [tmp_path / "a.evalset.json", tmp_path / "b.evalset.json"]
    for path, eval_id in zip(paths, ("one", "two"), strict=True):
        path.write_text(json.dumps({**SET, "eval_cases": [{**one, "eval_id": eval_id}]}))
    proctor.evaluate_sync("replay", paths, config=CONFIG, store=store)
    paths[1].write_text("{")
    proctor.evaluate_sync("replay", paths, config=CONFIG, keep_going=True, store=store)
    found = proctor.compare_sync(store=store)
    assert (found.missing_candidate, found.only_base) == (1, [])


def test_a_set_that_the_candidate_could_not_run_is_known_by_its_file(
    run: RunResult, whole: RunResult, tmp_path: Path
) -> None:
    """Other sets that only the baseline has are just not part of the candidate."""
    store = kept_in(tmp_path)
    Path("third.evalset.json").write_text(json.dumps({**SET, "eval_set_id": "third"}))
    three = proctor.evaluate_sync(
        "replay", ["good.evalset.json", "bad.evalset.json", "third.evalset.json"], config=CONFIG, store=store
    )
    found = proctor.compare_sync(three.run_id, run.run_id, store=store)
    assert (found.missing_candidate, found.only_base) == (1, ["third/one"])
    proctor.set_baseline("main", three.run_id, store)  # it has no names of files: the set may be any
    found = proctor.compare_sync(candidate=run.run_id, baseline="main", store=store)
    assert (found.missing_candidate, found.only_base) == (2, [])


@pytest.mark.parametrize("part", ["unread set", "limit"])
def test_a_run_until_decided_makes_all_trials_if_the_comparison_cannot_pass(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    [one] = SET["eval_cases"]
    sets = ["a.evalset.json", "b.evalset.json"]
    for name in sets:
        cases = [{**one, "eval_id": str(number)} for number in range(10)]
        Path(name).write_text(json.dumps({"eval_set_id": name, "eval_cases": cases}))
    store = kept_in(tmp_path)
    base = proctor.evaluate_sync("replay", sets, config=CONFIG, store=store)
    options: dict[str, Any] = {"limit": 5}
    if part == "unread set":
        Path(sets[1]).write_text("{")
        options = {"keep_going": True}
    run = proctor.evaluate_sync(
        "replay", sets, config=CONFIG, store=store, against=base.run_id, until_decided=True, num_runs=3,
        margin=0.4, **options,
    )  # fmt: skip
    assert {len(case.trials) for case in run.cases} == {3}
    found = proctor.compare_sync(base.run_id, run.run_id, store=store, margin=0.4)
    assert found.look is not None
    assert (found.outcome, found.missing_candidate) == (Change.ERROR, 30)
    assert ", after 30 of 30 trials, look 3 of 3" in found.sentence


def test_an_unread_set_that_is_named_twice_is_one_set(run: RunResult) -> None:
    result = proctor.evaluate_sync(
        "replay", ["good.evalset.json", "bad.evalset.json:a", "bad.evalset.json:b", "./bad.evalset.json", Path("bad.evalset.json").absolute()],
        config=CONFIG, keep_going=True,
    )  # fmt: skip
    assert [one.eval_set_id for one in result.sets] == ["good", "bad.evalset.json"]
