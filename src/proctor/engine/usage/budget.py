"""The budget of a run: hard limits on judge calls and on dollars, checked before each call.

The cost of a call is known when it ends. Each call under way is therefore assumed to cost as much as the most
expensive call so far. Before any price is known one call goes ahead alone. As the first prices may be an exception, more calls
than prices are under way only if the limit covers a hundred times their price. So a limit on dollars is exceeded by less than the
cost of one call, however many calls wait, unless calls under way cost much more than all before them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from proctor.common.safe_text import count_text
from proctor.models.base import ModelError, ModelFault, Reply
from proctor.schema.results.model_usage import Spent

JUDGE = "judge"
_UNCERTAINTY = 100
"""How many times the highest price so far calls may cost while few prices are known."""
_LEAST = 1e-6
"""The assumed cost of a call of a free model, in dollars: it is known."""
_UNKNOWN = (
    "max_cost: the price of {model} is not known, so that this limit cannot be kept; --max-judge-calls (max_judge_calls) "
    "limits calls"
)
_UNKNOWN_OF_AGENT = (
    "max_cost: the price of {model}, which the agent uses, is not known, so that this limit cannot be kept; --max-tokens "
    "(max_tokens) limits what the agent uses, --max-judge-calls (max_judge_calls) what judges do"
)


class RunBudget:
    """The caps of one run; see `Budget`. Used on one event loop."""

    def __init__(self, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        """Set the limits of judge calls and of US dollars; `None`: no limit."""
        self.max_calls, self.max_cost = max_calls, max_cost
        self.calls = 0
        """Calls of judges that were admitted."""
        self.cost = 0.0
        """US dollars that are known to be spent: on judges, simulated users and the agent."""
        self.refused = ""
        """The reason of the first refusal; empty before it."""
        self._spent = ""  # why no further dollar may be spent
        self._under_way = 0
        self._promised = 0.0
        """US dollars that the batches under way may cost."""
        self._dearest = 0.0
        self._priced = 0  # calls of this process whose price is known
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._announced: set[str] = set()
        self._notify: Callable[[str], None] = lambda _: None

    def listen(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the reason when a limit is reached; immediately if it is reached already."""
        self._notify = notify
        self._announced.clear()
        self._announce(self._refusal_reason(JUDGE))

    def continue_from(self, before: RunBudget) -> None:
        """Count what an earlier run of the same command spent: the limits hold for all its runs together."""
        self.calls, self.cost = before.calls, before.cost
        self._spent, self._dearest, self._priced = before._spent, before._dearest, before._priced

    @property
    def total_calls(self) -> int:
        """Calls of judges that count for the limit."""
        return self.calls

    @property
    def total_cost(self) -> float:
        """US dollars that count for the limit."""
        return self.cost

    def check(self) -> None:
        """Notify if a limit is reached that other processes spend, too."""
        self._check_cost()
        self._announce(self._refusal_reason(JUDGE))

    async def admit(self, purpose: str) -> None:
        """Wait until one more call may be made.

        Raises:
            ModelError: none may be made any more; its `fault` is `BUDGET`.
        """
        while not (why := self._refusal_reason(purpose)) and not self._has_room(purpose):
            await self._wait_for_turn()
        self._wake_one()  # the next call checks whether there is room for it, too
        if why:
            self.refused = self.refused or why
            raise ModelError(f"not asked: {why}", fault=ModelFault.BUDGET)
        self.begin(purpose)
        if purpose == JUDGE:
            self._announce(self._refusal_reason(purpose))

    def admit_batch(self, costs: Sequence[float | None]) -> int:
        """Admit the first calls of judges, as many as the limits allow, and return their number.

        `costs`: the most that each may cost, in dollars; `None`: unknown. Once the cost of a call is known, calls count as the
        most expensive one, as those that are made one by one. `refused` has the reason if none is admitted; it is empty if
        only the batches under way leave no room.
        """
        count = 0 if self._refusal_reason(JUDGE) else len(costs)
        if self.max_calls is not None:
            count = max(0, min(count, self.max_calls - self.total_calls))
        if count and self.max_cost is not None:
            count = self._affordable(costs[:count], self.max_cost)
        if not count:
            self.refused = self.refused or self._refusal_reason(JUDGE)
        self.begin(JUDGE, count)
        return count

    def _affordable(self, costs: Sequence[float | None], most: float) -> int:
        """Return how many calls the limit on dollars covers besides those under way; if none, no further dollar is spent."""
        for count, cost in enumerate(costs):
            if cost is None:
                self._spent = _UNKNOWN.format(model="the judge")
                return 0
            most_of_call = self._dearest or cost
            if self.total_cost + self._promised + most_of_call > most:
                if not count and not self._under_way:
                    self._spent = (
                        f"max_cost: ${self.total_cost:.4g} of ${most:g} are spent, and one more request may cost "
                        f"${most_of_call:.2g}"
                    )
                return count
            self._promised += most_of_call
        return len(costs)

    def continue_batch(self, costs: Sequence[float | None]) -> None:
        """Count the calls of a batch that an earlier command submitted; `costs` as for `admit_batch`."""
        self.begin(JUDGE, len(costs))
        self._promised += sum(self._dearest or cost or 0.0 for cost in costs)

    def begin(self, purpose: str, calls: int = 1) -> None:
        """Count calls that are under way now, each of which is settled later; a negative number withdraws calls."""
        self._under_way += calls
        if not self._under_way:
            self._promised = 0.0
        if purpose == JUDGE:
            self.calls += calls

    def settle(self, purpose: str, reply: Reply | None) -> None:
        """Record the end of a call; `None` if it gave no reply."""
        self._under_way -= 1
        if not self._under_way:
            self._promised = 0.0
        if reply is not None and reply.cost is not None:
            self._dearest = max(self._dearest, reply.cost, _LEAST)
            self._priced += 1
            self.spend(reply.cost)
        elif reply is not None and self.max_cost is not None:
            self._spent = self._spent or _UNKNOWN.format(model=reply.model or "a model")
            self._announce(self._spent)
        self._wake_one()

    def spend(self, cost: float) -> None:
        """Count dollars."""
        self.cost += cost
        self._check_cost()

    def _check_cost(self) -> None:
        if self.max_cost is not None and self.total_cost >= self.max_cost:
            self._spent = self._spent or f"max_cost: ${self.total_cost:.4g} of ${self.max_cost:g} are spent"
            self._announce(self._spent)

    def spend_on_agent(self, spent: Iterable[Spent]) -> None:
        """Count what the agent spent in a trial; an unknown price ends all spending, as it does for judges."""
        for usage in spent:
            self.spend(usage.cost)
            if usage.unpriced and self.max_cost is not None:
                self._spent = self._spent or _UNKNOWN_OF_AGENT.format(
                    model=usage.model or "a model without a name"
                )
                self._announce(self._spent)

    def _refusal_reason(self, purpose: str) -> str:
        if (
            not self._spent
            and purpose == JUDGE
            and self.max_calls is not None
            and (calls := self.total_calls) >= self.max_calls
        ):
            return f"max_judge_calls: judges were asked {count_text(calls, 'time')}"
        return self._spent

    def _has_room(self, _purpose: str) -> bool:
        if self.max_cost is None or not self._under_way:
            return True
        if not self._is_price_known(self.max_cost):
            return False
        return self.cost + (self._under_way + 1) * self._dearest <= self.max_cost

    def _is_price_known(self, most: float) -> bool:
        """Return whether enough prices are known for one more call besides those under way."""
        if not self._dearest:
            return False
        calls = self._under_way + 1
        return calls <= self._priced + 1 or self.total_cost + _UNCERTAINTY * calls * self._dearest <= most

    def _announce(self, limit: str) -> None:
        if limit and limit not in self._announced:
            self._announced.add(limit)
            self._notify(limit)

    async def _wait_for_turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self._wake_one()  # pass on the turn of a call that was cancelled
            raise

    def _wake_one(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
