"""Votes: as few as decide, and never another outcome than that of all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from proctor.judges.base import Ballot, Vote
from proctor.judges.votes import (
    agreement,
    ballot_details,
    cast,
    decides,
    is_majority_settled,
    majority,
    undecided_failure,
    unusable_answer_failure,
)
from proctor.models.base import ModelError, ModelFault
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.trial import Failure, FailureKind
from tests.judges.judge_requests import NO, YES, ask, question

Said = bool | None
"""The verdict of a vote; `None`: none."""

VERDICTS = {"y": True, "n": False, "-": None}


def outcome(verdicts: Sequence[Said]) -> tuple[bool | None, int]:
    """The outcome of these votes (`None`: undecided), cast as they are in a run, and how many were asked for."""

    async def vote(number: int) -> Vote[bool]:
        await asyncio.sleep(0)
        verdict = verdicts[number]
        return Vote(
            verdict=verdict, problem=None if verdict is not None else unusable_answer_failure("nothing", None)
        )

    votes, is_decided = asyncio.run(cast(vote, len(verdicts), is_majority_settled))
    return majority([one.verdict for one in votes if one.verdict is not None]) if is_decided else None, len(
        votes
    )


def outcome_of_all(votes: Sequence[Said]) -> bool | None:
    """By the rule, of all votes: the majority, if it is the same for all values of the missing verdicts."""
    ends = {majority([missing if one is None else one for one in votes]) for missing in (True, False)}
    return ends.pop() if len(ends) == 1 and any(one is not None for one in votes) else None


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=11))
def test_stopping_early_never_changes_the_outcome(votes: list[Said]) -> None:
    assert outcome(votes)[0] == outcome_of_all(votes)


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=1, max_size=11))
def test_votes_that_agree_are_the_smallest_majority_and_no_more(votes: list[bool]) -> None:
    smallest = len(votes) // 2 + 1
    agreeing = [votes[0]] * len(votes)
    assert outcome(agreeing)[1] == smallest
    assert smallest <= outcome(votes)[1] <= len(votes)


OUTCOMES = {
    "three that agree of five": ("yyynn", True, 3),
    "two of three": ("yynyy", True, 5),
    "one against two, and two more": ("ynnyy", True, 5),
    "a no of the majority": ("nnnyy", False, 3),
    "a tie is a no": ("yynn", False, 4),
    "a tie of two": ("yn", False, 2),
    "two noes of four stop nothing before the third": ("nnny", False, 3),
    "one alone": ("y", True, 1),
    "a single vote without verdict": ("-", None, 1),
    "one that failed does not discard the others": ("y-yyy", True, 5),
    "two of five failed": ("y-y-y", True, 5),
    "three of five failed": ("y--y-", None, 5),
    "three of five failed, and the two agree": ("yy---", None, 5),
    "all failed": ("-----", None, 5),
    "two of five failed, and one of the others differs": ("yny--", None, 5),
    "two of five failed, and the last could still make it a yes": ("nny--", None, 5),
    "one of five failed, and the others are three to one": ("yny-y", True, 5),
    "one of five failed, and the others are two to two": ("ynyn-", None, 5),
    "half of four is not enough for a yes": ("yy--", None, 4),
    "half of four is enough for a no: a tie is a no": ("nn--", False, 3),
    "a tie of three votes, one of them failed": ("yn-", None, 3),
}


@pytest.mark.parametrize(("votes", "expected", "asked"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_votes_come_to_and_how_many_are_asked_for(votes: str, expected: bool | None, asked: int) -> None:
    assert outcome([VERDICTS[one] for one in votes]) == (expected, asked)


def test_votes_that_differ_in_a_run_cost_two_calls_more() -> None:
    for script, calls, verdict in (
        ([YES] * 5, 3, True),
        ([YES, NO, NO, YES, YES], 5, True),
        ([NO] * 5, 3, False),
    ):
        model = ScriptedModel(script)
        ballot = ask(model, samples=5)
        assert (len(model.asked), ballot.is_decided, majority(ballot.verdicts)) == (calls, True, verdict)


def test_votes_are_asked_for_at_once() -> None:
    under_way = most = 0

    async def counted_answer(_messages: object, options: object) -> dict[str, object]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return {**options.echo, **YES}  # type: ignore[attr-defined] # it is ModelOptions

    ask(ScriptedModel(counted_answer), samples=9)
    assert most == 5


@pytest.mark.parametrize(
    ("fault", "calls"), [(ModelFault.UNAUTHORIZED, 3), (ModelFault.BUDGET, 3), (ModelFault.UNAVAILABLE, 5)]
)
def test_no_vote_is_requested_after_the_ballot_is_decided(fault: ModelFault, calls: int) -> None:
    model = ScriptedModel(ModelError("no", fault=fault))
    assert not ask(model, samples=5).is_decided
    assert len(model.asked) == calls


def test_undecided_ballot_lists_its_votes() -> None:
    ballot = ask(
        [YES, ModelError("overloaded", fault=ModelFault.UNAVAILABLE), *[{"verdict": "?"}] * 12], samples=5
    )
    failure = undecided_failure(ballot, 2)
    assert (failure.where, failure.kind, failure.turn) == ("judge", FailureKind.UNUSABLE_ANSWER, 2)
    assert failure.message.startswith(
        "1 of 5 votes of the judge scripted gave a verdict, too few to decide: "
    )
    assert "overloaded" in failure.message
    assert not failure.infrastructure


def test_an_outage_of_the_provider_is_infrastructure() -> None:
    failure = undecided_failure(ask(ModelError("overloaded", fault=ModelFault.UNAVAILABLE), samples=3))
    assert (failure.kind, failure.infrastructure) == (FailureKind.NO_REPLY, True)


def test_every_answer_is_in_the_details() -> None:
    ballot = ask([YES, {"verdict": "?"}, NO, YES], question(prompt="Is it?"), samples=3)
    details = ballot_details(ballot)
    assert (details["model"], details["planned"], details["asked"]) == ("scripted", 3, 3)
    assert details["agreement"] == pytest.approx(2 / 3)
    assert details["prompt"] == ballot.prompt
    assert [vote["verdict"] for vote in details["votes"]].count(True) == 2
    assert sum(len(vote["answers"]) for vote in details["votes"]) == 4
    assert not any(vote["cached"] for vote in details["votes"])


@given(st.lists(st.booleans(), min_size=1))
def test_agreement_is_the_share_of_the_larger_side(votes: list[bool]) -> None:
    share = max(votes.count(True), votes.count(False)) / len(votes)
    assert agreement(votes) == share
    assert agreement([]) is None


@given(st.lists(st.booleans(), max_size=9), st.integers(0, 9))
def test_settled_means_that_no_continuation_changes_the_majority(votes: list[bool], more: int) -> None:
    ends = {majority([*votes, *[True] * yes, *[False] * (more - yes)]) for yes in range(more + 1)}
    if is_majority_settled(votes, more):
        assert ends == {majority(votes)}
    else:
        assert ends != {majority(votes)} or not votes


def test_votes_without_a_verdict_decide_nothing() -> None:
    assert not decides([], 5, is_majority_settled)
    assert not decides([], 0, is_majority_settled)


def test_one_that_breaks_ends_the_others() -> None:
    ended: list[int] = []

    async def vote(number: int) -> Vote[bool]:
        if number == 1:
            raise RuntimeError("an internal mistake")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)
        return Vote(problem=Failure(where="judge"))

    with pytest.raises(RuntimeError):
        asyncio.run(cast(vote, 5, is_majority_settled))
    assert sorted(ended) == [0, 2]


def test_a_ballot_knows_its_verdicts() -> None:
    votes: list[Vote[bool]] = [Vote(verdict=False), Vote(problem=Failure(where="judge")), Vote(verdict=True)]
    assert Ballot(votes=votes, planned=3, is_decided=True).verdicts == [False, True]
