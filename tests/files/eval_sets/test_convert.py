"""Converting files: by suffix, without a loss, or not at all."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets.convert import convert, yaml_text
from proctor.files.eval_sets.source import load_eval_set
from proctor.files.yaml import writer
from proctor.schema import EvalSet
from tests.files.sample_sets import case, eval_set


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.evalset.json"
    path.write_text(json.dumps(eval_set(case("a", final_session_state={"x": [1, None, "no"]}), case("b"))))
    return path


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".json", ".YAML", ".jsonl", ".JSONL"])
def test_there_and_back(source: Path, tmp_path: Path, suffix: str) -> None:
    there, back = tmp_path / f"b.evalset{suffix}", tmp_path / "c.evalset.json"
    convert(source, there)
    convert(there, back)
    assert load_eval_set(there) == load_eval_set(back) == load_eval_set(source)


def test_what_json_looks_like_after_yaml_is_what_adk_writes(source: Path, tmp_path: Path) -> None:
    convert(source, tmp_path / "direct.json")
    convert(source, tmp_path / "b.yaml")
    convert(tmp_path / "b.yaml", tmp_path / "by_yaml.json")
    assert (tmp_path / "by_yaml.json").read_bytes() == (tmp_path / "direct.json").read_bytes()


@pytest.mark.parametrize(
    "document",
    [
        pytest.param([{"query": "q", "reference": "r", "expected_tool_use": [{"tool_name": "t", "tool_input": {}}]}], id="turns"),
        pytest.param([{"name": "n", "data": [{"query": "q"}], "initial_session": {"state": {"x": 1}}}], id="cases"),
        pytest.param(case("a"), id="a bare case"),
        pytest.param([{"eval_id": "a", "prompt": "p", "reference": "r"}], id="rows of a data set"),
    ],
)  # fmt: skip
def test_every_generation_converts(document: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "old.test.json", tmp_path / "old.test.yaml"
    source.write_text(json.dumps(document))
    convert(source, target)
    assert load_eval_set(target) == load_eval_set(source)


def test_lost_comments_are_reported(tmp_path: Path) -> None:
    source = tmp_path / "a.yaml"
    source.write_text("- ask: a # why\n")
    assert convert(source, tmp_path / "b.json").comments_lost
    source.write_text("# yaml-language-server: $schema=s.json\n- ask: a\n")
    assert not convert(source, tmp_path / "b.json").comments_lost
    commented = tmp_path / "c.json"
    commented.write_text('// why\n{"eval_set_id": "s", "eval_cases": []}')
    done = convert(commented, tmp_path / "b.yaml")
    assert done.comments_lost
    assert [warning.message for warning in done.warnings] == ["comments are not JSON"]


def test_an_empty_set_converts(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text('{"eval_set_id": "s", "eval_cases": []}')
    convert(source, tmp_path / "b.yaml")
    assert load_eval_set(tmp_path / "b.yaml").eval_cases == []


@pytest.mark.parametrize("name", ["b", "b.txt", "b.toml", "b.ndjson"])
def test_a_target_of_another_sort_is_refused(source: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(EvalFileError, match=r"name a \.json, \.yaml, \.yml or \.jsonl file"):
        convert(source, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_broken_source_leaves_the_target_unchanged(tmp_path: Path) -> None:
    source, target = tmp_path / "a.yaml", tmp_path / "b.json"
    source.write_text("- asq: a\n")
    target.write_text("mine")
    with pytest.raises(EvalFileError, match="did you mean `ask`"):
        convert(source, target)
    assert target.read_text() == "mine"


def test_read_only_folder_is_reported(source: Path, tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match="cannot be written"):
        convert(source, tmp_path / "gone" / "b.yaml")
    assert list(tmp_path.iterdir()) == [source]


def test_text_with_another_meaning_is_not_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "write_yaml", lambda _: "eval_set: s\ncases:\n- case: a\n  ask: hi\n")
    with pytest.raises(EvalFileError, match="YAML cannot represent this set exactly; nothing was written"):
        convert(source, tmp_path / "b.yaml")
    assert not (tmp_path / "b.yaml").exists()


@pytest.mark.parametrize("text", ["half \ud800", "nul \0"])
def test_value_without_a_yaml_form_is_not_written(text: str) -> None:
    unsayable = EvalSet.model_validate(eval_set(case("a", note=text)))
    with pytest.raises(EvalFileError, match=r"b.yaml"):
        yaml_text(unsayable, "b.yaml")
