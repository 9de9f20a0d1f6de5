"""Eval files that people published: read, or refused with the real problem; never worse than google-adk."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpus_table import adk_reads, entries, refusal, table
from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.save import save_eval_set
from proctor.files.eval_sets.source import load_eval_set, open_eval_set

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus"


# What is wrong with each file that is refused: the words that must be in the message.
REFUSED = {
    "Benidrissa__googleagent-adk/tests__simple_test.evalset.json": "there is `data`, which a case of this format does not know",
    "benjamintaiwo__DSA-tutor-multi-agent/evaluation__evalset.json": "another tool's layout (its `test_cases` have `id`, `name`, `input`",
    "jcarah__accelerate_context_engineering_workshop/retail-ai-location-strategy__app__eval_config.json": "this lists `metrics`; a config has `criteria`",
    "jmiller94102__Hypothesis_Pro_McKinsey_Replacement/evaluation__strategic_consultant.evalset.json": "its `test_cases` have `id`, `name`, `description`",
    "lilyth-y__zonos/conversation_scenarios.json": "a list of objects with `day`, `conversations`",
    "minkhant1996__vertexai-agent-evaluation/evals__founder_validation_eval.json": "evalCases[0]: `evalId` is missing (there is `name`",
    "msteiner-google__adk-samples/data__golden_dataset_template.json": "final_response.parts[0].text: expected text, got an object",
    "nbalawat__adk-samples/python__agents__commercial-banking-onboarding__eval__data__commercial_banking_onboarding.test.json": "a list of objects with `id`, `name`",
    "nbalawat__adk-samples/python__agents__wealth-management__eval__data__wealth_management.test.json": "a list of objects with `id`, `name`",
    "nbalawat__adk-samples/python__agents__wealth-management__eval__data__test_config.json": "criteria.tool_trajectory_avg_score: `threshold` is missing",
    "njraladdin__adk-typescript/tests__integration__fixture__customer_support_ma__customer-support.test.json": "its `tests` have `name`, `turns`",
    "trpc-group__trpc-agent-python/examples__optimization__eval_optimize_loop__sample_output__evaluations__baseline_train.json": "a report of trpc-agent",
    "trpc-group__trpc-agent-python/examples__optimization__eval_optimize_loop__sample_output__evaluations__candidate_validation.json": "a report of trpc-agent",
    "vmishra__Google-ADK-Cookbook/examples__18-eval-suite__eval__regression.evalset.json": "`user_content` is missing (there is `user`",
}


def corpus(*kinds: str, readable: bool = False) -> list[Any]:
    if not CORPUS.is_dir():
        return [pytest.param({}, marks=pytest.mark.skip(reason="the folder ../shared is missing"))]
    return [
        pytest.param(entry, id=entry["file"])
        for entry in entries(CORPUS)
        if (not kinds or entry["kind"] in kinds) and not (readable and entry["file"] in REFUSED)
    ]


@pytest.mark.nightly(check=103)
@pytest.mark.parametrize("entry", corpus())
def test_a_published_file_reads_or_is_refused_with_the_real_problem(entry: dict[str, Any]) -> None:
    error = refusal(CORPUS, entry)
    assert error is None or not adk_reads(entry), f"google-adk reads this: {error}"
    if error is None:
        assert entry["file"] not in REFUSED
        return
    assert REFUSED[entry["file"]] in str(error)
    assert all(problem.line and problem.column for problem in error.problems)
    assert all(str(problem).isprintable() for problem in error.problems)


@pytest.mark.nightly(check=75)
@pytest.mark.parametrize("entry", corpus())
def test_check_recognises_the_kind_of_every_file(entry: dict[str, Any]) -> None:
    report = check_file(CORPUS / entry["file"])
    assert report.readable or not adk_reads(entry)
    assert json.loads(json.dumps(report.to_json()))["file"] == str(CORPUS / entry["file"])
    lines = (CORPUS / entry["file"]).read_text(encoding="utf-8").split("\n")
    for problem in report.problems:
        assert problem.column <= len(lines[problem.line - 1]) + 1
        assert str(problem).isprintable()


@pytest.mark.parametrize("entry", corpus("evalset", "test-new", readable=True))
def test_what_google_adk_loses_is_kept(entry: dict[str, Any], tmp_path: Path) -> None:
    """Saved and read again a set is the same, and every key and text of the original is still in the file."""
    original = load_eval_set(CORPUS / entry["file"])
    save_eval_set(original, tmp_path / "copy.json")
    assert load_eval_set(tmp_path / "copy.json") == original
    for place in entry["adk_verdict"].get("round_trip_manager", {}).get("lost", []):
        assert f'"{place.rpartition(".")[2]}"' in (tmp_path / "copy.json").read_text(encoding="utf-8")


def test_files_in_the_managers_own_layout_are_written_back_unchanged(shared: Path, tmp_path: Path) -> None:
    unchanged = 0
    for entry in entries(shared / "corpus"):
        if entry["adk_verdict"].get("round_trip_manager", {}).get("status") == "identical":
            original = shared / "corpus" / entry["file"]
            save_eval_set(load_eval_set(original), tmp_path / "copy.json")
            copy = json.loads((tmp_path / "copy.json").read_text(encoding="utf-8"))
            assert copy == json.loads(original.read_text(encoding="utf-8")), entry["file"]
            unchanged += 1
    assert unchanged == 24


@pytest.mark.nightly(check=55)
@pytest.mark.parametrize("entry", corpus("evalset", "test-new", "test-old", "evalset-old", readable=True))
def test_a_case_at_a_time_is_the_same_as_all_at_once(entry: dict[str, Any]) -> None:
    opened = open_eval_set(CORPUS / entry["file"], allow_empty=True)
    assert [opened.case(i) for i in reversed(range(len(opened)))][::-1] == load_eval_set(
        CORPUS / entry["file"]
    ).eval_cases
    assert all(opened.place(name).line >= 1 for name in opened.ids())


@pytest.mark.slow
def test_the_table_counts_every_file(shared: Path) -> None:
    last = table(shared / "corpus").splitlines()[-1]
    assert last == "| all | 229 | 190 / 39 | 215 / 14 | 0 |"
