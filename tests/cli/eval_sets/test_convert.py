"""`proctor convert`: JSON to YAML and back, and out of the old formats."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proctor import load_eval_set
from proctor.cli.main import cli
from tests.cli.project import case, write_set


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_set(
        Path("a.evalset.json"),
        case("one", "hello", final_session_state={"x": [1, None]}),
        case("two", "a: b #c"),
    )


def convert(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["convert", *arguments])


def test_to_yaml_and_back() -> None:
    there = convert("a.evalset.json", "b.evalset.yaml")
    assert (there.exit_code, there.stdout) == (0, "b.evalset.yaml: 2 cases from a.evalset.json\n"), (
        there.stderr
    )
    assert "ask: hello" in Path("b.evalset.yaml").read_text()
    assert convert("b.evalset.yaml", "c.evalset.json").exit_code == 0
    assert load_eval_set("c.evalset.json") == load_eval_set("a.evalset.json")


def test_out_of_an_old_format() -> None:
    Path("old.test.json").write_text('[{"query": "hello", "reference": "hi", "expected_tool_use": []}]')
    assert convert("old.test.json", "new.yaml").exit_code == 0
    assert "ask: hello" in Path("new.yaml").read_text()


def test_comments_are_missed_aloud() -> None:
    Path("a.yaml").write_text("# why this case is here\neval_set: a\ncases:\n  - case: one\n    ask: hello\n")
    result = convert("a.yaml", "a.json")
    assert result.exit_code == 0
    assert "a.yaml: its comments are not in a.json" in result.stderr


def test_nothing_is_overwritten_by_default() -> None:
    Path("b.yaml").write_text("mine")
    refused = convert("a.evalset.json", "b.yaml")
    assert refused.exit_code == 2
    assert "error: b.yaml: b.yaml exists; name another file, or add --overwrite" in refused.stderr
    assert Path("b.yaml").read_text() == "mine"
    assert convert("a.evalset.json", "b.yaml", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.evalset.json", "b.txt"], "b.txt: unknown suffix"),
        (["gone.json", "b.yaml"], "gone.json"),
        (["broken.json", "b.yaml"], "broken.json:1:2: "),
        (["twice.json", "b.yaml"], "twice.json:"),
    ],
)
def test_what_cannot_be_converted(arguments: list[str], message: str) -> None:
    Path("broken.json").write_text("{")
    Path("twice.json").write_text(
        json.dumps({"eval_set_id": "x", "eval_cases": [case("one", "a"), case("one", "b")]})
    )
    result = convert(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error: {message}" in result.stderr
    assert not Path(arguments[1]).exists()


def test_shared_ids_on_request() -> None:
    Path("twice.json").write_text(
        json.dumps({"eval_set_id": "x", "eval_cases": [case("one", "a"), case("one", "b")]})
    )
    assert convert("twice.json", "b.yaml", "--allow-duplicate-ids").exit_code == 0
    assert len({found.eval_id for found in load_eval_set("b.yaml").eval_cases}) == 2
