"""A run that leaves: to a stream, to a file that is whole or not there, to a folder for google-adk."""

import io
import json
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TextIO

import pytest

import proctor
from proctor.cli.outputs import Output, write_outputs
from proctor.common.registry import REPORTS
from proctor.errors import SetupError, StoreError, UnknownNameError
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.runs.importing.import_runs import import_run
from proctor.runs.output_guard import OutputGuard
from proctor.runs.storage.export import FORMATS, export_run, export_to_adk
from proctor.runs.storage.open import open_store
from proctor.runs.storage.queries import load_run
from proctor.schema.results.run_result import CaseResult, RunResult
from tests.reports.sample_runs import good, run, sketch


@pytest.fixture(scope="module")
def stored(root: Path) -> RunResult:
    """A real run with failures, a crash and repeats, in a store."""
    examples = root / "examples" / "travel"
    return proctor.evaluate_sync(
        str(examples / "flawed.py"), examples / "bookings.evalset.json", num_runs=2, store="memory:exporting"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_stream_gets_the_same_text_as_a_file(form: str, stored: RunResult, tmp_path: Path) -> None:
    out = io.StringIO()
    assert export_run(stored, form, out) == []
    assert export_run(stored, form, tmp_path / "run.json") == [tmp_path / "run.json"]
    assert (tmp_path / "run.json").read_text(encoding="utf-8") == out.getvalue()


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_in_memory_and_the_same_run_in_a_store_are_written_alike(
    form: str, stored: RunResult, tmp_path: Path
) -> None:
    again = load_run(stored.run_id, "memory:exporting")
    export_run(stored, form, tmp_path / "one.json")
    export_run(again, form, tmp_path / "two.json")
    one, two = ((tmp_path / name).read_text(encoding="utf-8") for name in ("one.json", "two.json"))
    if form == "json":  # how long the process took is known a little more exactly to itself
        one, two = (json.dumps(_without_duration(json.loads(text))) for text in (one, two))
    assert one == two


def _without_duration(report: Any) -> Any:
    return report | {"runs": [{**each, "duration": None, "started_at": None} for each in report["runs"]]}


def test_case_in_google_adks_form_contains_the_expectation(stored: RunResult, tmp_path: Path) -> None:
    (path,) = export_run(stored, "adk", tmp_path)
    (first, *_) = json.loads(path.read_text(encoding="utf-8"))["eval_case_results"]
    expected = first["eval_metric_result_per_invocation"][0]["expected_invocation"]
    assert expected["user_content"]["parts"][0]["text"]
    (trajectory, *_) = first["overall_eval_metric_results"]
    assert trajectory["criterion"]["threshold"] == trajectory["threshold"]


def test_a_folder_gets_a_file_for_each_set(tmp_path: Path) -> None:
    result = run(good("a"), good("b", eval_set_id="other"))
    result.started_at = 5.0
    names = [path.name for path in export_run(result, "adk", tmp_path, app_name="mine")]
    assert names == [f"mine_{set_id}_5.0.evalset_result.json" for set_id in ("booking", "other")]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


@pytest.mark.parametrize("named", ["new/deep", "new/", "new.d"])
def test_a_folder_that_is_not_there_is_made(named: str, tmp_path: Path) -> None:
    (file,) = export_run(run(good("a")), "adk", f"{tmp_path}/{named}", make_parents=True)
    assert file.parent == tmp_path / named
    assert file.name.endswith(".evalset_result.json")


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
def test_folder_is_not_a_file(form: str, tmp_path: Path) -> None:
    for folder in (str(tmp_path), f"{tmp_path}/new/"):
        with pytest.raises(SetupError, match=f"{folder} is a folder, and {form} goes to one file"):
            export_run(run(good("a")), form, folder)
    assert list(tmp_path.iterdir()) == []


def test_several_sets_do_not_fit_one_file(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="one file for each agent and eval set"):
        export_run(run(good("a"), good("b", eval_set_id="other")), "adk", tmp_path / "one.json")
    assert list(tmp_path.iterdir()) == []


def test_the_agents_folder_of_google_adk(tmp_path: Path) -> None:
    (path,) = export_to_adk(run(good("a")), tmp_path)
    assert path.parent == tmp_path / "travel_agent" / ".adk" / "eval_history"
    with pytest.raises(StoreError, match="no such folder"):
        export_to_adk(run(good("a")), tmp_path / "nowhere")


def test_an_unknown_form_names_the_closest(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'jsonl'"):
        export_run(sketch(1), "jsnl", tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_path_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SetupError, match="is not a folder"):
        export_run(sketch(1), "json", tmp_path / "file" / "below.json")


class Torn(list[CaseResult]):
    """Cases that cannot be read to the end."""

    def __iter__(self) -> Iterator[CaseResult]:
        yield self[0]
        raise RuntimeError("the disk is gone")


@pytest.mark.parametrize("form", FORMATS)
def test_file_is_complete_or_unchanged(form: str, tmp_path: Path) -> None:
    path = tmp_path / "run.out"
    path.write_text("before", encoding="utf-8")
    result = run(good("a"), good("b"))
    result.cases = Torn(result.cases)
    with pytest.raises(RuntimeError):
        export_run(result, form, path, overwrite=True)
    assert [each.read_text(encoding="utf-8") for each in tmp_path.iterdir()] == ["before"]


@pytest.fixture(scope="module")
def of_size(tmp_path_factory: pytest.TempPathFactory) -> dict[int, RunResult]:
    """Stored runs of some cases, and of many more."""
    folder = tmp_path_factory.mktemp("large")
    found = {}
    for count in (220, 720):  # more than one query reads
        store = open_store(folder / f"{count}.sqlite3")
        (path,) = export_run(run(*(good(f"c{n}") for n in range(count))), "jsonl", folder / f"{count}.jsonl")
        found[count] = store.load(import_run(path, store))
    return found


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # measures memory
@pytest.mark.parametrize("form", FORMATS)
def test_memory_does_not_grow_with_the_run(form: str, of_size: dict[int, RunResult], tmp_path: Path) -> None:
    peaks = []
    for result in of_size.values():
        export_run(result, form, tmp_path / "warm.json")
        tracemalloc.start()
        export_run(result, form, tmp_path / "run.json")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


class _Extras:
    """A report that writes the extras that it receives."""

    needs_evidence: ClassVar[bool] = False
    looks_beside: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        out.write(f"{options.extras} {options.beside}")


@pytest.mark.parametrize("options", [{"extras": "stored run"}, {"beside": "stored run"}])
def test_extras_reach_the_report_by_the_present_and_by_the_former_name(options: Any) -> None:
    out = io.StringIO()
    REPORTS.add("extras", _Extras)
    try:
        export_run(run(good("a")), "extras", out, **options)
    finally:
        REPORTS.remove("extras")
    assert out.getvalue() == "stored run stored run"


def test_a_report_may_ask_for_extras_by_the_former_name(tmp_path: Path) -> None:
    out, store = io.StringIO(), open_store(f"sqlite:{tmp_path / 'runs.db'}")
    write_outputs([Output("extras", _Extras(), None, OutputGuard(), "")], [], out, verbose=False, store=store)
    store.close()
    assert out.getvalue().count("StoreExtras") == 2


def test_options_of_a_report_have_the_former_name_of_extras() -> None:
    assert replace(ReportOptions(extras=1), width=80).beside == 1
