"""The page *State of public eval sets* shows what the command prints, and the command counts what the audit reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.audit_corpus import audit_files, set_files, tables
from benchmarks.corpus_table import CORPUS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "public-eval-sets.md"
Json = dict[str, Any]


def case(eval_id: str, answer: str, *calls: Json) -> Json:
    turn = {
        "user_content": {"parts": [{"text": f"Ask {eval_id}"}]},
        "final_response": {"parts": [{"text": answer}]},
    }
    return {"eval_id": eval_id, "conversation": [{**turn, "intermediate_data": {"tool_uses": list(calls)}}]}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two projects: one has a config that any agent passes, in the folder above the set; the other has none."""
    files: list[tuple[str, str, str, Json]] = [
        ("a", "tests/sets/a.evalset.json", "evalset", {
            "eval_set_id": "a",
            "eval_cases": [case("call", "It has 42 seats.", {"name": "find", "args": {"id": 1}}), case("idle", "...")],
        }),
        ("a", "tests/eval_config.json", "config", {"criteria": {"tool_trajectory_avg_score": 0.5}}),
        ("a", "other/test_config.json", "config", {"criteria": {"exact_match": 1.0}}),
        ("b", "b.evalset.json", "evalset", {"eval_set_id": "b", "eval_cases": []}),
    ]  # fmt: skip
    index = []
    for repo, path, kind, data in files:
        name = f"{repo}/{path.replace('/', '__')}"
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(data))
        index.append({"file": name, "repo": repo, "path": path, "kind": kind})
    (tmp_path / "index.json").write_text(json.dumps(index))
    return tmp_path


def test_the_config_of_a_set_is_in_the_nearest_folder_of_its_project(corpus: Path) -> None:
    assert [one.config and one.config.name for one in set_files(corpus)] == ["tests__eval_config.json", None]


def test_the_tables_count_files_cases_agents_and_mutants(corpus: Path) -> None:
    files, classes = tables(corpus)
    rows = {cells[0].strip(): [each.strip() for each in cells[1:]] for cells in _cells(files)}
    assert rows["files"] == ["2", "1"]
    assert rows["… that cannot be run: not the format, no case, or an error in the config"] == ["1", "0"]
    assert rows["… audited"] == ["2", "2"]
    assert rows["audited cases that an agent passes that does nothing"] == ["1", "1"]
    assert rows["verdicts *passed* of such agents in runs"] == ["1", "4"]  # the own config compares no text
    assert rows["… that the audit does not report"] == ["0", "0"]
    assert "| wrong numbers | 1 of 1 | 100.0 % (21–100 %) |  | 0 of 1 | 0.0 % (0–79 %) | blind |" in classes


def test_a_pass_that_the_audit_does_not_report_is_counted(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [one for one in set_files(corpus) if one.config]
    monkeypatch.setattr("benchmarks.audit_corpus.IDLE", {"unknown": lambda _: "..."})
    assert audit_files(files, own=False).unreported == 1


def _cells(table: str) -> list[list[str]]:
    return [line.strip("|").split("|") for line in table.splitlines()[2:]]


@pytest.mark.nightly
@pytest.mark.slow  # audits 200 files, and runs five agents on them
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the folder ../shared is missing")
def test_the_page_shows_the_tables_that_the_command_prints() -> None:
    page = PAGE.read_text(encoding="utf-8")
    files, classes = tables(CORPUS)
    assert files in page
    assert classes in page
    assert "| … that the audit does not report | 0 | 0 |" in files
    assert "| classes of a set below 95 % that its audit does not name | 0 | 0 |" in files
