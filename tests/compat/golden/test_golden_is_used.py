"""Every recorded vector is asserted somewhere, or it waits, by name, for the part that it is about."""

import re
from pathlib import Path

LATER = {
    "simulated_users.json": "simulated users",
}
USED = {
    "agent_evaluator.json": 16, "bytes.json": 5, "cli.json": 15, "config.json": 21, "efficiency.json": 72,
    "judge_final_response_match_v2.json": 84, "judge_hallucinations.json": 48, "judge_rubrics.json": 137, "judge_user_simulator_quality.json": 76,
    "eval_selectors.json": 25, "events_to_invocations.json": 70, "identifiers.json": 15, "manager_eval_sets.json": 7,
    "migration.json": 49, "result_reading.json": 10, "rest.json": 53, "rouge_invocations.json": 70, "rouge_pairs.json": 288,
    "serialization_evalset.json": 15, "service_runs.json": 16, "trajectory.json": 194, "validation.json": 61,
}  # fmt: skip
"""How many vectors each file has; all of them are compared (of cli.json the ten of `eval`)."""


def test_no_file_is_forgotten(shared: Path) -> None:
    assert {path.name for path in (shared / "golden").glob("*.json")} == {*USED, *LATER}


def test_each_file_is_named_in_a_test_that_reads_it(shared: Path, root: Path) -> None:
    tests = [
        path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*.py") if path != Path(__file__)
    ]
    unread = [name for name in USED if not any(_reads(text, name) for text in tests)]
    assert unread == []


def _reads(text: str, name: str) -> bool:
    """`"migration.json"`, or `vectors("migration")`."""
    stem = name.removesuffix(".json")
    return f'"{name}"' in text or bool(re.search(rf'vectors\(\s*"{stem}"', text))


def test_no_file_shrank(shared: Path) -> None:
    for name, count in USED.items():
        text = (shared / "golden" / name).read_text(encoding="utf-8")
        assert f'"count":{count},' in text, name
