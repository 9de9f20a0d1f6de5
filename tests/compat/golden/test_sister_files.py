"""Eval sets of related implementations: every file that their readers accept is accepted here."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import EvalFileError
from proctor.files.eval_sets.source import load_eval_set_text


def cases(shared: Path, name: str, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((shared / "golden" / "sister" / name).read_text("utf-8"))[
        "cases"
    ]
    assert len(found) == count
    return found


def read(document: Any) -> Any:
    return load_eval_set_text(json.dumps(document), "sister.json")


def test_every_document_that_adk_rs_takes_is_read_with_all_its_cases(shared: Path) -> None:
    taken = [case for case in cases(shared, "adk_rs_load.json", 18) if case["accepted"]]
    assert len(taken) == 11
    for case in taken:
        document = case["document"]
        assert len(read(document).eval_cases) == len(document["eval_cases"]), case["id"]


def test_only_the_set_without_a_conversation_is_refused_as_by_adk_rs(shared: Path) -> None:
    refused = {}
    for case in cases(shared, "adk_rs_load.json", 18):
        try:
            read(case["document"])
        except EvalFileError as error:
            refused[case["id"]] = str(error)
    assert list(refused) == ["edge/no_conversation"]
    assert "exactly one of `conversation` and `conversation_scenario`" in refused["edge/no_conversation"]


def test_every_set_that_adk_ts_runs_is_read(shared: Path) -> None:
    for case in cases(shared, "ts_runner.json", 33):
        document = case["evalSet"]
        assert len(read(document).eval_cases) == len(document["evalCases"]), case["id"]


def test_document_that_is_not_an_eval_set_is_still_refused() -> None:
    """The control: generous is not the same as blind."""
    with pytest.raises(EvalFileError, match="expected an eval set"):
        read({"cases": []})
