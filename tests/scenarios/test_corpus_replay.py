"""Every published eval set against itself: replayed it passes; with a fault built in it fails, and the fault is named."""

import json
from itertools import chain
from pathlib import Path

import pytest

import proctor
from proctor.errors import SetupProblems
from tests.cli.project import proctor as proctor_command
from tests.scenarios.corpus_replay import CONFIG, FAULTS, Corpus, answer_text, count, read_corpus, table

pytestmark = pytest.mark.slow  # replays every published set

UNASSERTED = 98
"""How many of them assert nothing."""
APPLIES = {
    "drop-call": 121,
    "add-call": 291 - UNASSERTED,
    "swap-calls": 46,
    "change-arg": 121,
    "other-text": 159,
}
"""How many of the recorded cases have something that the fault can change."""
LEFT_SILENT = {"drop-call": 21, "change-arg": 1}
"""How many of these are an error, as the fault leaves the agent nothing to do in a turn."""


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Corpus:
    return read_corpus(shared / "corpus")


def test_what_is_run_and_what_is_left_out(corpus: Corpus) -> None:
    assert (len(corpus.published), len(corpus.refused)) == (130, 12)
    assert sum(len(one.recorded) for one in corpus.published) == 291
    assert len(corpus.turns) == 495
    assert sum(one.scenarios for one in corpus.published) == 15


def test_conversation_without_turns_is_refused(shared: Path, corpus: Corpus) -> None:
    (undecided,) = [one for one in corpus.published if one.without_turns]
    assert undecided.without_turns == ["case9ef3cd"]
    with pytest.raises(SetupProblems, match="'case9ef3cd': its conversation has no turns"):
        proctor.evaluate_sync("replay", shared / "corpus" / undecided.file, config=CONFIG)


def test_every_asserting_case_passes_for_an_agent_that_meets_it(shared: Path, corpus: Corpus) -> None:
    tally = count(shared / "corpus", corpus, "")
    assert tally.wrong == []
    assert tally.as_wanted == 291


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_case_that_a_fault_applies_to_fails_and_names_it(
    shared: Path, corpus: Corpus, fault: str
) -> None:
    """And the others pass: the fault changes nothing that they state."""
    tally = count(shared / "corpus", corpus, fault)
    assert tally.wrong == []
    applied = APPLIES[fault] - LEFT_SILENT.get(fault, 0)
    assert (tally.applied, tally.named) == (applied, applied)
    assert (tally.as_wanted, tally.not_applied) == (291, 291 - applied)
    assert tally.unasserted == UNASSERTED


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(("fault", "code"), [("", 3), ("drop-call", 1), ("other-text", 1)])
def test_the_same_from_the_command_line_all_sets_at_once(
    corpus: Corpus, shared: Path, tmp_path: Path, fault: str, code: int
) -> None:
    """The sets that can be run whole: all but those with a scenario or a case that nothing decides."""
    sets = [one for one in corpus.published if one.recorded and not one.scenarios and not one.without_turns]
    assert len(sets) == 122
    (tmp_path / "strict.json").write_text(json.dumps(CONFIG))
    done = proctor_command(
        "eval", "--agent", f"replay:{fault}" if fault else "replay", *chain(*(["--set", str(shared / "corpus" / one.file)] for one in sets)),
        "--config", "strict.json", "--allow-duplicate-ids", "--allow-unknown-keys", "--allow-unasserted", "--format", "json",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    outcomes = {(case["eval_set_id"], case["eval_id"]): case["outcome"] for case in run["cases"]}
    assert sum(run["counts"].values()) == 289
    assert set(outcomes.values()) == {"passed", "skipped", "error", *(["failed"] if fault else [])}


def test_the_counts_are_those_of_the_expectations(corpus: Corpus) -> None:
    cases = [case.conversation or [] for one in corpus.published for case in one.recorded]
    assert sum(any(turn.tool_calls for turn in turns) for turns in cases) == APPLIES["drop-call"]
    assert sum(any(answer_text(turn) for turn in turns) for turns in cases) == APPLIES["other-text"]


@pytest.mark.nightly
@pytest.mark.slow
def test_the_table(shared: Path) -> None:
    assert "| replay | - | - | 98 | 193 | 0 |" in table(shared / "corpus")
