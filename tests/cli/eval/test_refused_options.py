"""What must never look like a pass: each ends with its exit code, and its cause is named."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.project import case, in_this_process, make_project, proctor, write_set

Prepare = Callable[[Path], list[str]]


def raising_metric(folder: Path) -> list[str]:
    make_project(folder, criteria={"broken": 0.5})
    (folder / "my_metrics.py").write_text(
        "def broken(actual_invocation, expected_invocation, criterion):\n    raise KeyError('no such thing')\n"
    )
    config = '{"criteria": {"broken": 0.5}, "custom_metrics": {"broken": {"code_config": {"name": "my_metrics.broken"}}}}'
    (folder / "test_config.json").write_text(config)
    return ["agent.py", "cases.evalset.json"]


def misspelled_metric(folder: Path) -> list[str]:
    make_project(folder, criteria={"tool_trajectory_avg_scor": 1.0})
    return ["agent.py", "cases.evalset.json"]


def missing_config(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--config", "strict.json"]


def misspelled_config(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "test_config.json").write_text('{"criterias": {"response_match_score": 0.1}}')
    return ["agent.py", "cases.evalset.json"]


def wrong_final_state(folder: Path) -> list[str]:
    make_project(folder, case("hello", "hello", final_session_state={"last": "goodbye"}))
    return ["agent.py", "cases.evalset.json"]


def empty_set(folder: Path) -> list[str]:
    make_project(folder)
    write_set(folder / "none.evalset.json")
    return ["agent.py", "none.evalset.json"]


def empty_folder(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "empty").mkdir()
    return ["agent.py", "empty"]


def crashing_agent(folder: Path) -> list[str]:
    make_project(folder, case("hello", "hello"), case("boom", "crash"))
    return ["agent.py", "cases.evalset.json"]


def agent_that_does_not_load(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "agent.py").write_text("import no_such_library_here")
    return ["agent.py", "cases.evalset.json"]


def agent_that_exits(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "agent.py").write_text("import sys; sys.exit(0)")
    return ["agent.py", "cases.evalset.json"]


def unknown_case(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json:helo"]


def missing_set(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "case.evalset.json"]


def broken_set(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "cases.evalset.json").write_text('{"eval_set_id": "x",\n "eval_cases": [}')
    return ["agent.py", "cases.evalset.json"]


def broken_set_and_a_good_one(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "other.evalset.json").write_text("{")
    return ["agent.py", "cases.evalset.json", "other.evalset.json", "--keep-going"]


def nothing_gates(folder: Path) -> list[str]:
    make_project(folder, criteria={"response_match_score": {"threshold": 0.8, "gate": False}})
    return ["agent.py", "cases.evalset.json"]


def no_criteria(folder: Path) -> list[str]:
    make_project(folder, criteria={})
    return ["agent.py", "cases.evalset.json"]


def only_left_out_metrics(folder: Path) -> list[str]:
    make_project(folder, criteria={"safety_v1": 0.8})
    return ["agent.py", "cases.evalset.json", "--no-judge"]


def threshold_that_cannot_fail(folder: Path) -> list[str]:
    make_project(folder, criteria={"response_match_score": 0})
    return ["agent.py", "cases.evalset.json"]


def tag_that_nothing_has(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--tag", "smoke"]


def hook_that_raises(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "hooks.py").write_text("def before():\n    raise OSError('no database')\n")
    return ["agent.py", "cases.evalset.json", "--setup", "hooks:before"]


def unknown_hook(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--teardown", "hoks:after"]


def time_out(folder: Path) -> list[str]:
    make_project(folder, case("slow", "sleep 30"))
    return ["agent.py", "cases.evalset.json", "--timeout", "0.3"]


def stubborn_agent(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py:stubborn", "cases.evalset.json", "--timeout", "0.3"]


def store_that_is_none(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--store", "sqlite:///agent.py"]


def unknown_store(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--store", "sqllite:///runs.db"]


def two_stores(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--store", "a.sqlite3", "--store", "b.sqlite3"]


def results_for_a_missing_agent(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--store", "adk:gone"]


def storage_in_a_bucket(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--eval_storage_uri", "gs://bucket"]


def unknown_report(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--report", "jsn=out.json"]


def unwritable_report(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--report", "json=agent.py/out.json"]


def broken_settings(folder: Path) -> list[str]:
    make_project(folder)
    (folder / "proctor.toml").write_text("agents = 'agent.py'")
    return ["agent.py", "cases.evalset.json"]


def unknown_sub_agent(folder: Path) -> list[str]:
    make_project(folder)
    return ["agent.py", "cases.evalset.json", "--agent-name", "helper"]


FAIL_OPEN: list[tuple[Prepare, int, list[str]]] = [
    (raising_metric, 3, ["KeyError", "no such thing"]),
    (
        misspelled_metric,
        2,
        ["error:", "tool_trajectory_avg_scor", "Did you mean 'tool_trajectory_avg_score'?"],
    ),
    (missing_config, 2, ["error:", "strict.json"]),
    (misspelled_config, 2, ["error:", "test_config.json:1:", "criterias", "did you mean `criteria`?"]),
    (wrong_final_state, 1, ["final_session_state", '"hello"', '"goodbye"']),
    (empty_set, 2, ["error:", "none.evalset.json", "no cases"]),
    (empty_folder, 2, ["error:", "no eval sets", "empty"]),
    (crashing_agent, 3, ["boom", "RuntimeError: the agent broke"]),
    (agent_that_does_not_load, 2, ["error:", "ModuleNotFoundError", "no_such_library_here"]),
    (agent_that_exits, 2, ["error:", "SystemExit"]),
    (unknown_case, 2, ["error:", "'helo'", "'hello'"]),
    (missing_set, 2, ["error:", "case.evalset.json", "did you mean cases.evalset.json?"]),
    (broken_set, 2, ["error:", "cases.evalset.json:2:17"]),
    (broken_set_and_a_good_one, 3, ["other.evalset.json:1:2", "PASSED"]),
    (nothing_gates, 2, ["error:", "hello"]),
    (no_criteria, 2, ["error:", "hello"]),
    (only_left_out_metrics, 3, ["SKIPPED", "hello", "--no-judge"]),
    (threshold_that_cannot_fail, 2, ["error:", "cannot fail"]),
    (tag_that_nothing_has, 2, ["error:", "smoke"]),
    (hook_that_raises, 3, ["OSError: no database"]),
    (unknown_hook, 2, ["error: --teardown hoks:after", "ModuleNotFoundError"]),
    (time_out, 3, ["slow", "0.3"]),
    (stubborn_agent, 3, ["hello", "0.3"]),
    (store_that_is_none, 2, ["error:", "agent.py: this file is not a store"]),
    (unknown_store, 2, ["error:", "Did you mean 'sqlite'?"]),
    (two_stores, 2, ["error:", "a.sqlite3 and b.sqlite3"]),
    (results_for_a_missing_agent, 2, ["error:", "gone: no such folder"]),
    (storage_in_a_bucket, 2, ["error:", "gs://bucket", "not in this version"]),
    (unknown_report, 2, ["error:", "'jsn'", "'json'"]),
    (unwritable_report, 2, ["error:", "agent.py is not a folder"]),
    (broken_settings, 2, ["error:", "proctor.toml:1", "Did you mean 'agent'?"]),
    (unknown_sub_agent, 2, ["error:", "helper"]),
]


NEEDS_A_PROCESS = (crashing_agent, agent_that_exits, time_out, stubborn_agent, hook_that_raises)


@pytest.mark.parametrize(
    ("prepare", "code", "named"), FAIL_OPEN, ids=[prepare.__name__ for prepare, _, _ in FAIL_OPEN]
)
def test_never_green_by_accident(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: Prepare, code: int, named: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["eval", *prepare(tmp_path)]
    done = proctor(*arguments, cwd=tmp_path) if prepare in NEEDS_A_PROCESS else in_this_process(*arguments)
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert [words for words in named if not any(word in said for word in words.split("|"))] == [], said
    assert "Traceback" not in said
    if code == 2:
        assert done.stdout == ""


def test_and_the_same_project_is_green_when_nothing_is_wrong(tmp_path: Path) -> None:
    make_project(tmp_path, case("hello", "hello", final_session_state={"last": "hello"}))
    done = proctor("eval", "agent.py", "cases.evalset.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "VERDICT  passed: " in done.stdout


def test_all_configuration_errors_are_reported_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(tmp_path, criteria={"no_such_metric": 1})
    monkeypatch.chdir(tmp_path)
    wrong = ["cases.evalset.json:helo", "gone.json", "--setup", "x:y", "--report", "z=z"]
    done = in_this_process("eval", "agent.py", *wrong)
    assert done.returncode == 2
    wanted = ["no_such_metric", "'helo'", "gone.json", "--setup x:y", "No report named 'z'"]
    assert [words for words in wanted if words not in done.stderr] == []
    assert done.stderr.count("error: ") == len(wanted)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("cases.evalset.json", "by its name cases.evalset.json is an eval set"),
        ("other.evalset.yaml", "by its name other.evalset.yaml is an eval set"),
        ("agent.py", "by its name agent.py is a program"),
        ("test_config.json", "by its name test_config.json is a config"),
        ("proctor.toml", "by its name proctor.toml is a file of settings"),
        ("plain.json", "plain.json is read by this command"),
        ("strict.json", "strict.json is read by this command"),
        ("link", "link is read by this command"),
    ],
)
def test_a_report_never_takes_the_place_of_what_is_read(
    place: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project(tmp_path, criteria={"response_match_score": 0.8})
    (tmp_path / "test_config.json").rename(tmp_path / "strict.json")
    write_set(tmp_path / "plain.json", case("hello", "hello"))
    (tmp_path / "link").symlink_to("plain.json")
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    sets = ["cases.evalset.json", "plain.json:hello"]
    done = in_this_process("eval", "agent.py", *sets, "--config", "strict.json", "--report", f"json={place}")
    assert done.returncode == 2
    assert f"--report json={place}: " in done.stderr
    assert why in done.stderr
    assert "; name another file" in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
