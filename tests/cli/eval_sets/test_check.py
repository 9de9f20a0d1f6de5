"""`proctor check`: every problem with its place, exit code 0 for what can be read and 2 for what cannot."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor.cli.main import cli
from tests.cli.project import AGENT, case, write_set


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["check", *arguments])


def test_a_good_file() -> None:
    write_set(Path("a.evalset.json"), case("one", "hello"), case("two", "hello"))
    result = check("a.evalset.json")
    assert (result.exit_code, result.stdout) == (0, "a.evalset.json: fine: eval set, 2 cases\n")


def test_warning_is_reported_and_does_not_refuse() -> None:
    write_set(Path("a.evalset.json"), case("one", "hello", tag="smoke"))
    result = check("a.evalset.json")
    assert result.exit_code == 0
    first, second, last = result.stdout.splitlines()
    assert first.startswith("a.evalset.json:")
    assert ": warning: " in first
    assert second == "a.evalset.json: readable: eval set, 1 case"
    assert last == "1 file: all can be read; 0 errors, 1 warning"


@pytest.mark.parametrize("how", ["nothing", "option", "setting"])
def test_key_that_resembles_an_expectation_is_refused_unless_allowed(how: str) -> None:
    write_set(Path("a.evalset.json"), case("one", "hello", expected_tools=["f"]))
    if how == "setting":
        Path("proctor.toml").write_text("allow_unknown_keys = true\n")
    result = check("a.evalset.json", *(["--allow-unknown-keys"] if how == "option" else []))
    assert result.exit_code == (2 if how == "nothing" else 0)
    assert f": {'error' if how == 'nothing' else 'warning'}: eval_cases[0].expected_tools: " in result.stdout


def test_every_problem_of_every_file_with_its_place() -> None:
    write_set(Path("good.evalset.json"), case("one", "hello"))
    Path("syntax.json").write_text('{\n  "eval_set_id": "x",\n  "eval_cases": [}\n')
    Path("slip.json").write_text('{"eval_set_id": "x", "eval_case": []}')
    result = check("good.evalset.json", "syntax.json", "slip.json", "gone.json")
    assert result.exit_code == 2
    assert "syntax.json:3:18: error: " in result.stdout
    assert "slip.json:1:1: error: " in result.stdout
    assert "is `eval_case` meant to be `eval_cases`?" in result.stdout
    assert "gone.json:1:1: error: " in result.stdout
    assert "good.evalset.json: fine" in result.stdout
    assert result.stdout.splitlines()[-1] == "4 files: 3 cannot be read; 3 errors, 0 warnings"


def test_as_json() -> None:
    write_set(Path("good.evalset.json"), case("one", "hello"))
    Path("bad.json").write_text("[")
    result = check("good.evalset.json", "bad.json", "--json")
    assert result.exit_code == 2
    report = json.loads(result.stdout)
    assert report["readable"] is False
    good, bad = report["files"]
    assert good == {
        "file": "good.evalset.json",
        "kind": "eval set",
        "readable": True,
        "usable": True,
        "cases": 1,
        "problems": [],
    }
    assert {"severity": "error", "file": "bad.json", "line": 1}.items() <= bad["problems"][0].items()
    assert set(bad["problems"][0]) == {"severity", "file", "line", "column", "field", "message", "hint"}


def test_what_a_run_would_refuse_is_an_error_with_its_line() -> None:
    write_set(Path("a.evalset.json"), case("one", "hello", expectations={"cals": ["a"], "forbidden": ["b"]}))
    Path("test_config.json").write_text('{"criteria": {\n "exact_match": {"threshold": 1, "turns": "lst"}}}')
    result = check("a.evalset.json")
    assert result.exit_code == 2
    first, second, last = result.stdout.splitlines()
    assert first.startswith("a.evalset.json:")
    assert "error: eval_cases[0].expectations: unknown key 'cals'. Did you mean 'calls'?" in first
    assert second.startswith("test_config.json:2:43: error: criteria.exact_match.turns: ")
    assert last == "2 files: 2 would be refused by a run; 2 errors, 0 warnings"
    report = json.loads(check("a.evalset.json", "--json").stdout)
    assert (report["readable"], report["usable"]) == (True, False)
    assert [(one["readable"], one["usable"]) for one in report["files"]] == [(True, False)] * 2
    assert [one["problems"][0]["line"] for one in report["files"]][1] == 2


def test_the_config_that_is_named_and_that_of_the_settings_judge() -> None:
    write_set(Path("a.evalset.json"), case("one", "hello"))
    Path("strict.json").write_text('{"criteria": {"exact_match": 3}}')
    assert check("a.evalset.json").exit_code == 0
    assert "strict.json:1:30: error" in check("a.evalset.json", "--config", "strict.json").stdout
    Path("proctor.toml").write_text('config = "strict.json"')
    assert check("a.evalset.json").exit_code == 2
    gone = check("a.evalset.json", "--config", "gone.json")
    assert gone.exit_code == 2
    assert "gone.json" in gone.stdout


def test_a_folder_is_its_eval_files_and_nothing_else() -> None:
    write_set(Path("evals/deep/a.evalset.json"), case("one", "hello"))
    Path("evals/test_config.json").write_text('{"criteria": {"response_match_score": 0.5}}')
    write_set(Path("evals/by_content.json"), case("one", "hello"))
    Path("evals/package.json").write_text('{"name": "something else"}')
    Path("evals/.hidden").mkdir()
    Path("evals/.hidden/b.evalset.json").write_text("{")
    Path("evals/broken.evalset.json").write_text("{")
    result = check("evals")
    assert result.exit_code == 2
    assert sorted(line.split(":")[0] for line in result.stdout.splitlines()[:-1]) == [
        "evals/broken.evalset.json",
        "evals/by_content.json",
        "evals/deep/a.evalset.json",
        "evals/test_config.json",
    ]
    assert "package.json: passed over" in check("evals", "-v").stderr


def test_a_folder_with_nothing_in_it_is_not_fine() -> None:
    Path("empty").mkdir()
    result = check("empty")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error: no eval files in empty" in result.stderr


def test_shared_ids() -> None:
    write_set(Path("a.evalset.json"), case("one", "hello"), case("one", "hello"))
    assert check("a.evalset.json").exit_code == 2
    assert check("a.evalset.json", "--allow-duplicate-ids").exit_code == 0


def test_control_sequences_stay_out() -> None:
    Path("a.json").write_text(
        '{"eval_set_id": "x", "eval_cases": [{"eval_id": "\\u001b[2J", "\\u001b[31mkey": 1}]}'
    )
    for arguments in (["a.json"], ["a.json", "--json"]):
        result = check(*arguments)
        assert "\x1b" not in result.stdout
        assert result.exit_code == 2


@pytest.mark.slow
def test_the_published_files_never_end_in_a_traceback(shared: Path) -> None:
    for folder in sorted((shared / "corpus").iterdir())[:8]:
        if folder.is_dir():
            result = check(str(folder), "--json")
            assert result.exit_code in {0, 2}
            assert json.loads(result.stdout)["files"]


def evaluation(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["eval", "agent.py", *arguments, "--store", "memory:"])


def write_judged_project(criteria: Mapping[str, object], **settings: str) -> None:
    """A project without a key of a model: an agent, a set, its config, a scripted judge, and settings."""
    write_set(Path("a.evalset.json"), case("one", "hello"))
    Path("agent.py").write_text(AGENT)
    Path("test_config.json").write_text(json.dumps({"criteria": criteria}))
    Path("judge.json").write_text(json.dumps([{"when": "hello", "say": "{}"}]))
    Path("proctor.toml").write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))


class TestSettings:
    """`check` has the settings that `eval` has."""

    @pytest.fixture(autouse=True)
    def _without_keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "PROCTOR_JUDGE_MODEL", "JUDGED_BY_KEY"):
            monkeypatch.delenv(name, raising=False)

    def test_judge(self) -> None:
        write_judged_project({"final_response_match_v2": 0.5})
        assert "gemini-2.5-flash cannot be asked" in check("a.evalset.json").stdout
        write_judged_project({"final_response_match_v2": 0.5}, judge='"scripted:judge.json"')
        result = check("a.evalset.json", "test_config.json")
        assert result.stdout.count("fine") == 2, result.stdout

    def test_judge_does_not_hide_what_the_run_refuses(self) -> None:
        criteria = {"rubric_based_final_response_quality_v1": {"threshold": 0.5}}
        write_judged_project(criteria, judge='"scripted:judge.json"')
        refused, result = evaluation("a.evalset.json"), check("a.evalset.json", "test_config.json")
        assert (refused.exit_code, result.exit_code) == (2, 2), result.stdout
        assert "rubric" in refused.stderr
        assert "rubric" in result.stdout
        assert "cannot be asked" not in result.stdout

    def test_key_of_the_judge_in_the_environment_of_the_settings(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("os.environ", {**os.environ})
        write_judged_project({"final_response_match_v2": 0.5}, env='{GEMINI_API_KEY = "k"}')
        assert "cannot be asked" not in check("a.evalset.json", "test_config.json").stdout

    def test_metrics(self) -> None:
        write_judged_project({"final_response_match_v2": 0.5, "rouge_1": 0.5}, metrics='"rouge_1"')
        assert check("a.evalset.json", "test_config.json").stdout.count("fine") == 2
        write_judged_project({"rouge_1": 0.5}, metrics='"rouge_2"')
        refused, result = evaluation("a.evalset.json"), check("a.evalset.json")
        assert (refused.exit_code, result.exit_code) == (2, 2), result.stdout
        assert "metrics: the criteria do not have 'rouge_2'" in result.stdout

    def test_number_of_trials(self) -> None:
        write_judged_project({"rouge_1": 0.5})
        config = {"criteria": {"rouge_1": 0.5}, "trials": {"pass_k": 3}}
        Path("test_config.json").write_text(json.dumps(config))
        assert "trials" in check("a.evalset.json").stdout
        Path("proctor.toml").write_text("num_runs = 5\n")
        assert "fine" in check("a.evalset.json").stdout
