"""The allotment of a run: reservations never exceed a limit, and those of a killed process count as spent."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.stores.base import NOTHING, Allotment, Amounts, Caps, Demand
from proctor.stores.shared_runs import Membership
from proctor.stores.sql import leases
from proctor.stores.sql.leases import Holder
from proctor.stores.sql.run_budget import granted, settle
from proctor.stores.sql.store import SqlStore
from proctor.stores.sql.writer import Writer
from tests.stores.sample_runs import Heard, manifest, planned, scoring
from tests.stores.shared_runs.test_shared_runs import CASES, write_part

CAPS = Caps(max_cost=0.001, max_judge_calls=100, max_tokens=1_000)
"""1,000 micro-dollars."""


def joined(store: SqlStore, part: int, caps: Caps = CAPS) -> Membership:
    member = store.join(
        manifest("run1", cases=CASES), planned(CASES), scoring(), part=part, parts=2, caps=caps
    )
    member.set_ready()
    return member


def allotment_of(member: Membership) -> Allotment:
    assert member.allotment is not None
    return member.allotment


def demand(
    store: SqlStore, part: int, allotment: Allotment, calls: int, *, micros: int = 0, chunk: int = 0
) -> int:
    """Demand calls as the writer of a member does, and return how many it may make in all."""
    spent = allotment.spent()
    allotment.demand = Demand(
        Amounts(micros, calls), Amounts(spent.micros, spent.calls), Amounts(chunk, chunk)
    )
    with store._database.transaction() as transaction:
        settle(transaction, allotment, store._line("run1").seq, part, store.name)
    allotment.demand = None
    return allotment.allotted.calls


def spend(allotment: Allotment, *amounts: int) -> None:
    spent = Amounts(*amounts)
    allotment.spent = lambda: spent


@contextmanager
def process_that_died(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take runs and parts for a process that does not exist any more."""
    me = leases.this_process()
    with monkeypatch.context() as patched:
        patched.setattr(leases, "this_process", lambda: Holder(me.host, me.machine, 1 << 22, "1"))
        yield


def test_what_one_member_holds_no_other_one_gets(store: SqlStore) -> None:
    one, two = allotment_of(joined(store, 1)), allotment_of(joined(store, 2))
    assert demand(store, 1, one, 60) == 60
    assert demand(store, 2, two, 60) == 0  # 40 are left, and the other member may return some
    assert demand(store, 2, two, 40) == 40
    assert not two.is_rest
    spend(one, 0, 60, 0)
    demand(store, 1, one, 61)
    spend(two, 0, 40, 0)
    demand(store, 2, two, 41)
    assert (two.allotted.calls, two.is_rest, two.others.calls) == (40, True, 60)


def test_a_member_that_waits_holds_nothing_that_another_one_waits_for(store: SqlStore) -> None:
    one, two = allotment_of(joined(store, 1)), allotment_of(joined(store, 2))
    one.dearest = 1
    demand(store, 1, one, 100, micros=1)  # every call
    demand(store, 2, two, 0, micros=900)  # most of the money
    assert two.allotted == Amounts(900, 0)
    demand(store, 2, two, 1, micros=900)  # waits for a call, and returns the money
    assert two.allotted == NOTHING
    assert demand(store, 1, one, 100, micros=900) == 100
    assert one.allotted == Amounts(900, 100)


def test_the_rest_goes_to_the_last_member_even_if_it_needs_more(store: SqlStore) -> None:
    one, two = allotment_of(joined(store, 1)), allotment_of(joined(store, 2))
    spend(one, 700, 0, 0)
    demand(store, 1, one, 0, micros=700)
    demand(store, 2, two, 0, micros=500)
    assert (two.allotted.micros, two.is_rest) == (300, True)


def test_what_is_granted_in_full_is_not_the_rest(store: SqlStore) -> None:
    one, two = allotment_of(joined(store, 1)), allotment_of(joined(store, 2))
    one.dearest = 100
    demand(store, 1, one, 0, micros=100)
    demand(store, 2, two, 0, micros=900)
    assert (
        not one.is_rest
    )  # a call that costs more than `one` has left would exceed the limit: `two` holds the rest


def test_totals_of_the_other_members_come_with_each_commit(store: SqlStore) -> None:
    first, second = joined(store, 1), joined(store, 2)
    spend(allotment_of(first), 5, 6, 7)
    write_part(first, [0, 2])
    write_part(second, [1, 3], done=1)
    assert allotment_of(second).others == Amounts(5, 6, 7)


def test_what_a_member_did_not_spend_returns_at_its_end(store: SqlStore) -> None:
    first, second = joined(store, 1), joined(store, 2)
    assert demand(store, 1, allotment_of(first), 90) == 90
    spend(allotment_of(first), 0, 10, 0)
    write_part(first, [0, 2], done=1)
    assert demand(store, 2, allotment_of(second), 90) == 90


def test_what_a_killed_member_reserved_counts_as_spent_when_its_part_is_taken_over(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with process_that_died(monkeypatch):
        joined(store, 1)
    two = allotment_of(joined(store, 2))
    with process_that_died(monkeypatch):
        dead = allotment_of(joined(store, 1))
    spend(dead, 0, 10, 0)
    demand(store, 1, dead, 90)
    assert demand(store, 2, two, 11) == 10
    assert (two.is_rest, two.lost) == (True, Amounts(0, 80))
    again = allotment_of(joined(store, 1))
    assert (again.spent(), again.allotted, again.others) == (Amounts(0, 90), Amounts(0, 90), NOTHING)
    assert demand(store, 2, two, 90) == 10


def test_all_members_reserve_as_much_as_the_most_expensive_call_of_any(store: SqlStore) -> None:
    one, two = allotment_of(joined(store, 1)), allotment_of(joined(store, 2))
    one.dearest, two.dearest = 70, 20
    demand(store, 1, one, 0, micros=70)
    demand(store, 2, two, 0, micros=20)
    assert (one.dearest, two.dearest) == (70, 70)


def test_before_a_price_is_known_one_process_holds_money(store: SqlStore) -> None:
    one, two = allotment_of(joined(store, 1)), allotment_of(joined(store, 2))
    demand(store, 1, one, 0, micros=50)
    demand(store, 2, two, 0, micros=50)
    assert (one.allotted.micros, two.allotted.micros, two.is_rest) == (50, 0, False)
    spend(one, 30, 0, 0)
    one.dearest = 30
    demand(store, 1, one, 0, micros=50)  # needs nothing more; the commit shares the price
    demand(store, 2, two, 0, micros=50)
    assert (two.allotted.micros, two.dearest) == (50, 30)


def test_a_process_learns_the_price_of_calls_when_it_takes_over(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined(store, 2)
    with process_that_died(monkeypatch):
        dead = allotment_of(joined(store, 1))
    dead.dearest = 70
    demand(store, 1, dead, 0, micros=70)
    assert allotment_of(joined(store, 1)).dearest == 70


def begun(store: SqlStore, heard: Heard | None = None) -> Writer:
    """Begin a run of one process."""
    return store.begin(manifest("run1", cases=CASES), planned(CASES), scoring(), heard or Heard())


class TestARunOfOneProcess:
    def test_its_caps_hold_after_a_kill_and_what_it_reserved_counts(
        self, store: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with process_that_died(monkeypatch):
            dead = store.limit(begun(store), CAPS)
        assert dead is not None
        spend(dead, 200, 10, 30)
        demand(store, 1, dead, 90, micros=300)
        again = store.limit(store.resume("run1", Heard()), store.caps("run1"))
        assert again is not None
        assert (store.caps("run1"), again.spent()) == (CAPS, Amounts(300, 90, 30))
        assert demand(store, 1, again, 101, micros=300) == 100

    def test_its_caps_end_with_a_process_that_ends_in_order(self, store: SqlStore) -> None:
        writer = begun(store)
        store.limit(writer, CAPS)
        assert store.caps("run1") == CAPS
        writer.close()
        assert store.caps("run1") == Caps()

    def test_what_it_spends_is_written_with_its_commits(self, store: SqlStore) -> None:
        heard = Heard()
        writer = begun(store, heard)
        allotment = store.limit(writer, CAPS)
        assert allotment is not None
        spend(allotment, 5, 6, 7)
        writer.put([], "written")
        heard.wait_for(1)
        assert store._database.row("SELECT spent_micros, calls, tokens FROM purse_parts") == (5, 6, 7)
        writer.close()

    def test_its_caps_are_written_with_the_run(self, store: SqlStore) -> None:
        """A process that is killed right after that, or before the turn of this run of several, leaves them."""
        limited = manifest("run1", cases=CASES)
        limited.options["max_judge_calls"] = 40
        writer = store.begin(limited, planned(CASES), scoring(), Heard())
        assert store.caps("run1") == Caps(max_judge_calls=40)
        writer.close()
        assert store.caps("run1") == Caps()

    def test_a_further_scoring_leaves_its_caps(
        self, store: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with process_that_died(monkeypatch):
            store.limit(begun(store), CAPS)
        store.begin_scoring("run1", scoring(), Heard()).close()
        assert store.caps("run1") == CAPS

    def test_a_cap_may_be_larger_than_any_number_of_the_database(self, store: SqlStore) -> None:
        writer = begun(store)
        store.limit(writer, Caps(max_cost=1e18))
        assert store.caps("run1").max_cost == pytest.approx(2**63 / 1_000_000)
        writer.close()

    def test_without_caps_it_has_no_purse(self, store: SqlStore) -> None:
        writer = begun(store)
        assert store.limit(writer, Caps()) is None
        writer.close()


def test_limits_are_raised_and_what_was_spent_counts(store: SqlStore) -> None:
    member, _ = joined(store, 1), joined(store, 2)
    spend(allotment_of(member), 0, 100, 0)
    demand(store, 1, allotment_of(member), 100)
    member.release()
    store.set_caps("run1", Caps(max_judge_calls=150))
    assert store.caps("run1") == Caps(max_judge_calls=150)
    again = allotment_of(joined(store, 1))
    assert demand(store, 1, again, 150) == 150
    assert again.spent().calls == 100


def test_a_run_without_limits_has_no_purse(store: SqlStore) -> None:
    assert joined(store, 1, Caps()).allotment is None
    assert store.caps("run1") == Caps()


@pytest.mark.parametrize(
    "end", [pytest.param("complete", id="complete"), pytest.param("deleted", id="deleted")]
)
def test_the_purse_is_deleted_with(store: SqlStore, end: str) -> None:
    first, second = joined(store, 1), joined(store, 2)
    if end == "complete":
        write_part(first, [0, 2])
        write_part(second, [1, 3])
    else:
        first.release()
        second.release()
        store.delete(["run1"])
    for table in ("purses", "purse_parts"):
        assert store._database.rows(f"SELECT * FROM {table}") == []


Numbers = st.integers(0, 1_000)


@pytest.mark.slow
@given(Numbers, st.lists(st.tuples(st.integers(0, 3), Numbers, Numbers), max_size=30), st.integers(1, 4))
def test_allotments_never_exceed_the_limit(cap: int, demands: list[Any], parts: int) -> None:
    allotted = [0] * parts
    for who, more, chunk in demands:
        own = who % parts
        target = allotted[own] + 1 + more
        available = cap - (sum(allotted) - allotted[own])
        allotted[own] = granted(available, allotted[own], target, chunk, parts)
        assert sum(allotted) <= cap
        assert allotted[own] >= target or sum(allotted) == cap
