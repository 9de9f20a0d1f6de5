"""Baselines: names for runs that others are compared with, and files of them that need no store."""

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.files.results.baselines import read_baseline
from proctor.schema.analysis.comparison import Change
from tests.analysis.compare.test_compare_runs import CONFIG, SET, changed_set, polite, rude, run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.sqlite3"


def half(text: str) -> str:
    return polite(text) if text < "b" else rude(text)


def content(found: proctor.Comparison) -> tuple[Any, ...]:
    moved = [(one.name, one.base, one.candidate, one.low, one.high, one.p_value) for one in found.measures]
    cases = [(one.name, one.change, one.base, one.candidate, one.metric) for one in found.cases]
    return found.outcome, found.sentence, moved, cases, [one.text for one in found.unlike]


def test_baseline_has_the_content_of_its_run(store: Path, tmp_path: Path) -> None:
    base = run(store, num_runs=3)
    proctor.set_baseline("main", store=store)
    run(store, half)
    file = proctor.export_baseline("main", tmp_path / "kept" / "main.json", store, make_parents=True)
    expected = content(proctor.compare_sync(base.run_id, "latest", store=store))
    for named in ("main", str(file), file):
        assert content(proctor.compare_sync(baseline=named, store=store)) == expected


def test_a_file_needs_no_store(store: Path, tmp_path: Path) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    file = proctor.export_baseline("main", tmp_path / "main.json", store)
    in_memory = proctor.evaluate_sync(half, SET, config=CONFIG)
    found = proctor.compare_sync(candidate=in_memory, baseline=file, store=tmp_path / "none.sqlite3")
    assert [one.name for one in found.cases] == ["greetings/bob", "greetings/cem"]


def test_baseline_is_unchanged_by_any_change_of_the_run(store: Path) -> None:
    base = run(store, half)
    with pytest.warns(UserWarning, match="did not pass"):
        proctor.set_baseline("main", base.run_id, store)
    before = proctor.load_baseline("main", store)
    proctor.rescore_sync(base, store=store, config={"criteria": {"response_match_score": 0.1}})
    assert proctor.load_baseline("main", store) == before


def test_like_is_compared_with_like(store: Path) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    run(
        store,
        config={"criteria": {"response_match_score": {"threshold": 0.7}}},
        given=changed_set(ann="anne"),
    )
    found = proctor.compare_sync(baseline="main", store=store)
    assert found.changed_cases == ["greetings/ann"]
    assert "the threshold of response_match_score was 0.8 and is 0.7" in found.warnings


def test_name_can_be_moved_to_another_run(store: Path) -> None:
    first = run(store)
    proctor.set_baseline("main", store=store)
    second = run(store, half)
    proctor.set_baseline("old", first.run_id[:6], store)
    with pytest.warns(UserWarning, match="did not pass"):
        proctor.set_baseline("main", store=store)
    assert [(one.name, one.run_id) for one in proctor.list_baselines(store)] == [
        ("main", second.run_id),
        ("old", first.run_id),
    ]
    assert proctor.load_baseline("main", store).run_id == second.run_id
    proctor.remove_baseline("main", store)
    assert [one.name for one in proctor.list_baselines(store)] == ["old"]


def test_a_run_that_is_a_baseline_is_not_pruned(store: Path) -> None:
    base = run(store)
    proctor.set_baseline("main", store=store)
    others = [run(store).run_id for _ in range(2)]
    with pytest.raises(proctor.SetupError, match="is the baseline main: it is not deleted"):
        proctor.prune_runs(store, runs=[base.run_id])
    assert {one.run_id for one in proctor.prune_runs(store, keep=0)} == {*others}
    proctor.remove_baseline("main", store)
    assert [one.run_id for one in proctor.prune_runs(store, keep=0)] == [base.run_id]


def _set_many(store: Path, names: list[str]) -> None:
    for name in names:
        proctor.set_baseline(name, store=store)


@pytest.mark.slow
def test_two_processes_do_not_lose_one_anothers(store: Path) -> None:
    run(store)
    spawn = multiprocessing.get_context("spawn")
    names = [[f"{letter}{number}" for number in range(8)] + ["both"] for letter in "ab"]
    processes = [spawn.Process(target=_set_many, args=(store, some)) for some in names]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert {one.name for one in proctor.list_baselines(store)} == {name for some in names for name in some}


def test_the_same_run_is_always_the_same_text_and_a_case_a_line(store: Path, tmp_path: Path) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    text = proctor.export_baseline("main", tmp_path / "1.json", store).read_text()
    proctor.set_baseline("main", store=store)
    assert proctor.export_baseline("main", tmp_path / "2.json", store).read_text() == text
    rows = [line for line in text.splitlines() if '"greetings","' in line]
    assert [json.loads(row.strip().rstrip(","))[1] for row in rows] == ["ann", "bob", "cem"]
    metrics = len(json.loads(text)["metrics"])
    assert all(len(row) <= 100 * metrics for row in rows)
    assert str(tmp_path) not in text


@pytest.mark.slow
def test_runs_are_made_until_the_comparison_with_a_baseline_is_decided(store: Path, tmp_path: Path) -> None:
    base = run(store, num_runs=4)
    proctor.set_baseline("main", store=store)
    file = proctor.export_baseline("main", tmp_path / "main.json", store)
    for named in ("main", str(file)):
        result = run(store, num_runs=4, until_decided=True, against=named, margin=0.9)
        assert result.against == base.run_id
        found = proctor.compare_sync(baseline=named, store=store, margin=0.9)
        assert (found.outcome, found.look is not None) == (Change.NO_REGRESSION, True)


@pytest.mark.parametrize(
    "name", ["", "../x", "a/b", "latest", "previous", "x.json", "a b", "-x", "ü", "x" * 65]
)
def test_names_that_cannot_be(store: Path, name: str) -> None:
    run(store)
    with pytest.raises(proctor.SetupError, match="a baseline cannot be called"):
        proctor.set_baseline(name, store=store)


def failing(text: str) -> str:
    raise RuntimeError("down")


def test_runs_that_cannot_be(store: Path) -> None:
    with pytest.raises(proctor.StoreError, match="no runs yet"):
        proctor.set_baseline("main", store=store)
    run(store, failing)
    with pytest.raises(proctor.SetupError, match="no case of it has a verdict"):
        proctor.set_baseline("main", store=store)
    run(store, half, max_failures=1, concurrency=1)
    with pytest.raises(proctor.SetupError, match="is unfinished"):
        proctor.set_baseline("main", store=store)
    with pytest.raises(proctor.UnknownNameError, match="latest~9"):
        proctor.set_baseline("main", "latest~9", store)
    assert proctor.list_baselines(store) == []


def test_unknown_name_is_reported_with_the_closest_one(store: Path) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    with pytest.raises(proctor.UnknownNameError, match="Did you mean 'main'"):
        proctor.compare_sync(baseline="mian", store=store)


BROKEN = {
    "empty": "",
    "not JSON": "{",
    "deep": "[" * 100_000,
    "a list": "[]",
    "a report": '{"runs": []}',
    "another version": '{"proctor_baseline": 2}',
    "no cases": '{"proctor_baseline": 1}',
    "not UTF-8": "\udcff",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_file_that_is_not_a_baseline_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "main.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(proctor.EvalFileError, match=r"main\.json: "):
        read_baseline(path)
    with pytest.raises(proctor.EvalFileError, match="cannot be read"):
        read_baseline(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("place", "value"),
    [(4, -1), (4, 10**30), (5, 10**9), (3, "splendid"), (7, [1.0]), (7, ["x"]), (0, None)],
    ids=[
        "a count below 0",
        "a count beyond reason",
        "trials beyond reason",
        "an outcome",
        "too few means",
        "a mean",
        "no set",
    ],
)
def test_a_row_that_cannot_be_is_refused(store: Path, tmp_path: Path, place: int, value: object) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    file = proctor.export_baseline("main", tmp_path / "main.json", store)
    data = json.loads(file.read_text())
    data["cases"][0][place] = value
    file.write_text(json.dumps(data))
    with pytest.raises(proctor.EvalFileError, match="not a valid baseline"):
        proctor.load_baseline(str(file))


@pytest.mark.parametrize("name", ["criteria", "trials", "user_simulator_config", "user"])
def test_a_config_that_cannot_be_is_refused(store: Path, tmp_path: Path, name: str) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    file = proctor.export_baseline("main", tmp_path / "main.json", store)
    data = json.loads(file.read_text())
    if name == "user":
        data["manifest"]["options"] = {"user": {"model": "m"}}
    else:
        data["judging"]["sets"][0]["config"][name] = ["x"]
    file.write_text(json.dumps(data))
    with pytest.raises(proctor.EvalFileError, match=rf"not a valid baseline: .*{name}"):
        proctor.compare_sync(baseline=file, store=store)


def test_byte_order_mark_of_an_editor_is_not_part_of_a_baseline(store: Path, tmp_path: Path) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    file = proctor.export_baseline("main", tmp_path / "main.json", store)
    file.write_text(file.read_text(), encoding="utf-8-sig")
    run(store)
    assert proctor.compare_sync(baseline=file, store=store).pairs == 3


@pytest.mark.parametrize("as_file", [False, True], ids=["a name", "a file"])
def test_baseline_in_place_of_a_run_gives_the_correct_form(
    store: Path, tmp_path: Path, as_file: bool
) -> None:
    run(store)
    proctor.set_baseline("main", store=store)
    name = str(proctor.export_baseline("main", tmp_path / "main.json", store)) if as_file else "main"
    with pytest.raises(proctor.UnknownNameError) as refused:
        proctor.compare_sync(name, "latest", store=store)
    assert f"There is a stored baseline {name}: `proctor compare --baseline {name}" in str(refused.value)
    with pytest.raises(proctor.UnknownNameError) as other:
        proctor.compare_sync("mian", "latest", store=store)
    assert "There is a baseline" not in str(other.value)
