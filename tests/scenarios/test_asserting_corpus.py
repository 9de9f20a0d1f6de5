"""An agent that does nothing passes none of the published cases, but for those that only forbid something."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor import Content, Event, Session
from proctor.schema.results.run_result import Outcome, RunResult
from tests.scenarios.corpus_replay import CONFIG, Corpus, read_corpus

NEGATIVE = "negative only"
CASES = 291


def dots(message: str) -> str:
    return "..."


class Silent:
    """Ends its turn without an event."""

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        for event in list[Event]():
            yield event


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Corpus:
    return read_corpus(shared / "corpus")


def runs(shared: Path, corpus: Corpus, agent: Any) -> list[RunResult]:
    return [
        proctor.evaluate_sync(
            agent,
            shared / "corpus" / one.file,
            config=CONFIG,
            only={one.eval_set_id: [case.eval_id for case in one.recorded]},
            allow_duplicate_ids=True,
            allow_unasserted=True,
            allow_unknown_keys=True,
        )
        for one in corpus.published
        if one.recorded
    ]


@pytest.mark.slow
@pytest.mark.parametrize("agent", [dots, Silent()], ids=["answers with dots", "answers nothing"])
def test_an_agent_that_does_nothing_passes_only_what_is_named_negative(
    shared: Path, corpus: Corpus, agent: Callable[..., Any]
) -> None:
    outcomes: Counter[Outcome] = Counter()
    passed: list[str] = []
    for result in runs(shared, corpus, agent):
        outcomes.update(case.outcome for case in result.cases)
        named = " ".join(warning for warning in result.warnings if NEGATIVE in warning)
        passed += [case.eval_id for case in result.cases if case.passed and repr(case.eval_id) not in named]
    assert passed == []
    assert sum(outcomes.values()) == CASES
    assert outcomes[Outcome.SKIPPED] > 50


@pytest.mark.slow
def test_without_the_option_the_unasserted_ones_are_refused_by_name(shared: Path, corpus: Corpus) -> None:
    refused = 0
    for one in corpus.published:
        if not one.recorded:
            continue
        try:
            result = proctor.evaluate_sync(
                dots,
                shared / "corpus" / one.file,
                config=CONFIG,
                only={one.eval_set_id: [case.eval_id for case in one.recorded]},
                allow_duplicate_ids=True,
                allow_unknown_keys=True,
            )
        except proctor.SetupProblems as problems:
            refused += sum("asserts nothing" in str(each) for each in problems.problems)
        else:
            assert not any(case.outcome is Outcome.SKIPPED for case in result.cases)
    assert refused > 50
