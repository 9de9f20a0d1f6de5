"""Every published eval set against itself: replayed it passes; with a fault built in it fails, and the fault is named."""

from pathlib import Path

import pytest

import proctor
from proctor.errors import SetupProblems
from tests.stories.corpus_replay import CONFIG, FAULTS, Corpus, count, read_corpus, said, table

APPLIES = {"drop-call": 121, "add-call": 291, "swap-calls": 46, "change-arg": 121, "other-text": 159}
"""How many of the recorded cases have something that the fault can change."""


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Corpus:
    return read_corpus(shared / "corpus")


def test_what_is_run_and_what_is_left_out(corpus: Corpus) -> None:
    assert (len(corpus.published), len(corpus.refused)) == (130, 12)
    assert sum(len(one.recorded) for one in corpus.published) == 291
    assert len(corpus.turns) == 495
    assert sum(one.scenarios for one in corpus.published) == 15


def test_a_conversation_without_turns_is_refused_because_nothing_decides_it(
    shared: Path, corpus: Corpus
) -> None:
    (undecided,) = [one for one in corpus.published if one.without_turns]
    assert undecided.without_turns == ["case9ef3cd"]
    with pytest.raises(SetupProblems, match="'case9ef3cd': its conversation has no turns"):
        proctor.evaluate_sync("replay", shared / "corpus" / undecided.file, config=CONFIG)


def test_every_recorded_case_passes_when_the_agent_does_what_is_expected(
    shared: Path, corpus: Corpus
) -> None:
    tally = count(shared / "corpus", corpus, "")
    assert tally.wrong == []
    assert tally.as_wanted == 291


@pytest.mark.parametrize("fault", FAULTS)
def test_every_case_that_a_fault_applies_to_fails_and_names_it(
    shared: Path, corpus: Corpus, fault: str
) -> None:
    """And the others pass: the fault changes nothing that they state."""
    tally = count(shared / "corpus", corpus, fault)
    assert tally.wrong == []
    assert (tally.applied, tally.named) == (APPLIES[fault], APPLIES[fault])
    assert (tally.as_wanted, tally.not_applied) == (291, 291 - APPLIES[fault])


def test_the_counts_are_those_of_the_expectations(corpus: Corpus) -> None:
    cases = [case.conversation or [] for one in corpus.published for case in one.recorded]
    assert sum(any(turn.tool_calls for turn in turns) for turns in cases) == APPLIES["drop-call"]
    assert sum(any(said(turn) for turn in turns) for turns in cases) == APPLIES["other-text"]


@pytest.mark.slow
def test_the_table(shared: Path) -> None:
    assert "| replay | - | - | 291 | 0 |" in table(shared / "corpus")
