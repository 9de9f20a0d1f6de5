"""Caps on calls and dollars: however many want to ask at once, a cap is kept to within one call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, strategies as st

from proctor.engine.usage.budget import RunBudget
from proctor.engine.usage.shared_budget import SharedBudget
from proctor.models.base import ModelError, ModelFault, Reply
from proctor.stores.base import NOTHING, Allotment, Amounts, Caps


async def ask(budget: RunBudget, cost: float | None, *, purpose: str = "judge", fails: bool = False) -> bool:
    """Make one call that takes a moment; returns whether it was admitted."""
    try:
        await budget.admit(purpose)
    except ModelError as error:
        if error.fault is not ModelFault.BUDGET:
            raise
        return False
    reply = None
    try:
        await asyncio.sleep(0)
        reply = None if fails else Reply(text="yes", model="some-model", cost=cost)
    finally:
        budget.settle(purpose, reply)
    return True


def all_at_once(budget: RunBudget, costs: Sequence[float | None]) -> list[bool]:
    async def asked() -> list[bool]:
        return list(await asyncio.gather(*(ask(budget, cost) for cost in costs)))

    return asyncio.run(asyncio.wait_for(asked(), 10))


class TestCalls:
    @pytest.mark.parametrize("most", [1, 7, 199])
    def test_exactly_so_many_are_made(self, most: int) -> None:
        budget = RunBudget(max_calls=most)
        assert sum(all_at_once(budget, [None] * 200)) == most == budget.calls
        assert budget.refused == f"max_judge_calls: judges were asked {most} time{'' if most == 1 else 's'}"

    def test_played_users_do_not_count(self) -> None:
        budget = RunBudget(max_calls=1)
        asyncio.run(ask(budget, None))
        assert asyncio.run(ask(budget, None, purpose="user"))
        assert not asyncio.run(ask(budget, None))

    def test_a_call_that_failed_was_a_call(self) -> None:
        budget = RunBudget(max_calls=1)
        assert asyncio.run(ask(budget, None, fails=True))
        assert not asyncio.run(ask(budget, None))


class TestDollars:
    @given(st.floats(0.001, 0.02), st.floats(0.001, 1))
    def test_a_cap_is_passed_by_less_than_one_call(self, cost: float, most: float) -> None:
        budget = RunBudget(max_cost=most)
        made = sum(all_at_once(budget, [cost] * 60))
        assert budget.cost == pytest.approx(made * cost)
        assert budget.cost < most + cost
        assert made == 60 or budget.cost >= most

    @given(st.integers(0, 10**6), st.floats(0.05, 1))
    def test_of_unlike_calls_no_more_than_one_is_made_beyond_it(self, seed: int, most: float) -> None:
        random = Random(seed)
        costs = [random.uniform(0.001, 0.003) for _ in range(100)]
        budget = RunBudget(max_cost=most)
        all_at_once(budget, costs)
        assert min(most, sum(costs)) <= budget.cost + 1e-9 <= most + max(costs)

    def test_before_any_price_is_known_one_goes_alone(self) -> None:
        budget, most, now = RunBudget(max_cost=1.0), 0, 0

        async def one() -> None:
            nonlocal most, now
            await budget.admit("judge")
            now += 1
            most = max(most, now if not budget.cost else 0)
            await asyncio.sleep(0)
            now -= 1
            budget.settle("judge", Reply(cost=0.001))

        async def many() -> None:
            await asyncio.gather(*(one() for _ in range(20)))

        asyncio.run(many())
        assert most == 1
        assert budget.cost == pytest.approx(0.02)

    def test_then_many_go_at_once(self) -> None:
        budget, most, now = RunBudget(max_cost=10.0), 0, 0

        async def one() -> None:
            nonlocal most, now
            await budget.admit("judge")
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.1)
            now -= 1
            budget.settle("judge", Reply(cost=0.001))

        async def many() -> None:
            await asyncio.gather(*(one() for _ in range(50)))

        asyncio.run(many())
        assert most >= 40

    def test_but_only_as_many_as_there_is_room_for(self) -> None:
        budget, most, now = RunBudget(max_cost=0.1), 0, 0

        async def one() -> None:
            nonlocal most, now
            await budget.admit("judge")
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1
            budget.settle("judge", Reply(cost=0.01))

        async def many() -> None:
            await asyncio.gather(*(one() for _ in range(50)), return_exceptions=True)

        asyncio.run(many())
        assert 3 <= most <= 5  # when the cost of some is known

    def test_a_price_that_is_not_known_ends_it_and_is_named(self) -> None:
        budget = RunBudget(max_cost=5.0)
        assert sum(all_at_once(budget, [None] * 30)) == 1
        assert budget.refused.startswith("max_cost: the price of some-model is not known")

    def test_without_a_cap_a_price_that_is_not_known_does_not_matter(self) -> None:
        assert all(all_at_once(RunBudget(), [None, 0.5] * 30))

    def test_what_the_agent_spends_counts(self) -> None:
        heard: list[str] = []
        budget = RunBudget(max_cost=0.5)
        budget.listen(heard.append)
        budget.spend(0.25)
        assert heard == []
        budget.spend(0.25)
        assert heard == ["max_cost: $0.5 of $0.5 are spent"]
        assert not asyncio.run(ask(budget, 0.001))

    def test_the_first_price_may_be_an_exception(self) -> None:
        budget, prices = RunBudget(max_cost=0.3), iter([0.01] + [0.1] * 50)

        async def one() -> None:
            await budget.admit("judge")
            await asyncio.sleep(0.01)
            budget.settle("judge", Reply(cost=next(prices)))

        async def many() -> None:
            await asyncio.gather(*(one() for _ in range(51)), return_exceptions=True)

        asyncio.run(many())
        assert 0.3 <= budget.cost < 0.3 + 0.1


class TestWaiting:
    def test_who_is_cancelled_gives_its_turn_to_the_next(self) -> None:
        async def scene() -> list[bool]:
            budget = RunBudget(max_cost=1.0)
            await budget.admit("judge")  # under way, its price not known: the others wait
            waiting = [asyncio.ensure_future(ask(budget, 0.01)) for _ in range(5)]
            await asyncio.sleep(0)
            budget.settle("judge", Reply(cost=0.01))
            waiting[0].cancel()  # just when it was its turn
            await asyncio.gather(*waiting, return_exceptions=True)
            return [not one.cancelled() and one.result() for one in waiting]

        assert asyncio.run(asyncio.wait_for(scene(), 5)) == [False, True, True, True, True]

    def test_all_waiting_calls_fail_when_the_budget_is_spent(self) -> None:
        async def scene() -> int:
            budget = RunBudget(max_cost=0.02)
            await budget.admit("judge")
            waiting = [asyncio.ensure_future(ask(budget, 0.01)) for _ in range(50)]
            await asyncio.sleep(0)
            budget.settle("judge", Reply(cost=0.02))
            return sum(await asyncio.gather(*waiting))

        assert asyncio.run(asyncio.wait_for(scene(), 5)) == 0

    def test_limit_is_reported_once_when_it_is_reached(self) -> None:
        heard: list[str] = []
        budget = RunBudget(max_calls=3)
        budget.listen(heard.append)
        all_at_once(budget, [0.1] * 3)
        assert heard == ["max_judge_calls: judges were asked 3 times"]
        assert budget.refused == ""
        all_at_once(budget, [0.1] * 3)
        assert len(heard) == 1


class TestRestReservedByDeadMembers:
    """Of two limits, the rest of one is reserved by a part whose process has died."""

    @staticmethod
    def budget(allotted: Amounts, lost: Amounts) -> SharedBudget:
        budget = SharedBudget(max_calls=10, max_cost=1.0)
        allotment = Allotment(Caps(max_cost=1.0, max_judge_calls=10), 2, lambda: NOTHING)

        async def commit() -> None:
            allotment.allotted, allotment.lost, allotment.is_rest = allotted, lost, True

        budget.share(allotment, commit)
        return budget

    @pytest.mark.parametrize(
        ("allotted", "lost", "purpose", "reason"),
        [
            pytest.param(
                Amounts(1, 0),
                Amounts(0, 1),
                "judge",
                "max_judge_calls: judges were asked 0 of 10 times; 1 call is",
                id="calls",
            ),
            pytest.param(
                Amounts(0, 1),
                Amounts(500_000, 0),
                "judge",
                "max_cost: $0 of $1 are spent; $0.5 are",
                id="dollars of judges",
            ),
            pytest.param(
                Amounts(0, 0),
                Amounts(500_000, 10),
                "user",
                "max_cost: $0 of $1 are spent; $0.5 are",
                id="dollars of users",
            ),
        ],
    )
    def test_the_reason_names_the_limit(
        self, allotted: Amounts, lost: Amounts, purpose: str, reason: str
    ) -> None:
        budget = self.budget(allotted, lost)
        assert not asyncio.run(ask(budget, None, purpose=purpose))
        assert budget.refused == f"{reason} reserved by parts whose process has died"

    def test_simulated_users_speak_after_the_last_call_of_a_judge(self) -> None:
        budget = self.budget(Amounts(1, 0), Amounts(0, 1))
        assert [asyncio.run(ask(budget, 0.0, purpose=purpose)) for purpose in ("judge", "user")] == [
            False,
            True,
        ]


class TestPricesOfOtherProcesses:
    """A process of a run with a limit of $1 demands what its next call may cost."""

    @staticmethod
    def demanded(*, dearest: int, spent: int = 0) -> int:
        """Return the millionths of a dollar that the first call demands in addition if the run knows this price."""
        budget, demands = SharedBudget(max_cost=1.0), []
        before = Amounts(spent)
        allotment = Allotment(Caps(max_cost=1.0), 1, lambda: before, dearest=dearest)

        async def commit() -> None:
            assert allotment.demand is not None
            demands.append(allotment.demand.target.micros)
            allotment.allotted = allotment.demand.target

        budget.share(allotment, commit)
        assert asyncio.run(ask(budget, 0.3))
        assert len(demands) == 1
        return demands[0] - spent

    def test_a_call_reserves_the_price_of_the_most_expensive_call_of_any_process(self) -> None:
        assert self.demanded(dearest=300_000) == 300_000

    @pytest.mark.parametrize(
        ("spent", "reserved"),
        [
            pytest.param(0, 50_000, id="a twentieth"),
            pytest.param(700_000, 50_000, id="of the limit, so that kills in the first call end"),
            pytest.param(990_000, 10_000, id="at most what is left"),
        ],
    )
    def test_before_a_price_is_known_a_call_reserves_a_part_of_the_limit(
        self, spent: int, reserved: int
    ) -> None:
        assert self.demanded(dearest=0, spent=spent) == pytest.approx(reserved, abs=1)

    def test_what_an_earlier_run_of_the_same_command_spent_counts(self) -> None:
        first, budget = SharedBudget(max_cost=1.0), SharedBudget(max_cost=1.0)
        first.spend(0.9)
        budget.continue_from(first)
        allotment = Allotment(Caps(max_cost=1.0), 1, lambda: NOTHING)
        budget.share(allotment, lambda: asyncio.sleep(0))
        assert budget.total_cost == 0.9

    def test_the_price_of_a_free_model_is_known(self) -> None:
        budget = SharedBudget(max_cost=1.0)
        allotment = Allotment(Caps(max_cost=1.0), 1, lambda: NOTHING)

        async def commit() -> None:
            assert allotment.demand is not None
            allotment.allotted = allotment.demand.target

        budget.share(allotment, commit)
        assert asyncio.run(ask(budget, 0.0))
        assert allotment.dearest == 1
        budget.begin("judge")
        assert asyncio.run(asyncio.wait_for(ask(budget, 0.0), 10))  # while another call is under way
