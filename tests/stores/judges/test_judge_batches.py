"""Batches of judges in a store: recorded before their submission, once, and gone when they have no key left."""

from dataclasses import replace

import pytest

from proctor.errors import StoreError
from proctor.stores.judge_batches import StoredBatch
from proctor.stores.sql import batch_records, leases
from proctor.stores.sql.leases import Holder
from proctor.stores.sql.store import SqlStore
from tests.stores.sample_runs import write_run

BATCH = StoredBatch(
    id="first",
    model="claude-haiku-4-5",
    group='{"endpoint": "x"}',
    created_at=1_000.0,
    secret="00" * 16,
    keys=tuple(f"{number:032x}-0" for number in range(200)),
)


def test_a_batch_is_read_as_it_was_recorded(store: SqlStore) -> None:
    assert store.judge_batches() == []
    assert store.add_judge_batch(BATCH, known=())
    assert store.judge_batches() == [BATCH]
    named = replace(BATCH, reference="batch_1", keys=BATCH.keys[:3])
    store.update_judge_batch(named)
    assert store.judge_batches() == [named]
    store.update_judge_batch(replace(named, keys=()))
    assert store.judge_batches() == []
    store.update_judge_batch(named)
    assert store.judge_batches() == [], "a batch whose answers another process has stored does not come back"


def test_a_batch_is_recorded_only_if_the_process_knows_all_others(store: SqlStore) -> None:
    second = replace(BATCH, id="second", created_at=999.0)
    assert store.add_judge_batch(BATCH, known=())
    assert not store.add_judge_batch(second, known=())
    assert store.add_judge_batch(second, known=["first"])
    assert [batch.id for batch in store.judge_batches()] == ["second", "first"]


@pytest.mark.parametrize(
    ("holder", "age", "reference", "expected"),
    [
        pytest.param(Holder("elsewhere", "another boot", 1, "1"), 10, "", True, id="another machine, recently"),
        pytest.param(Holder("elsewhere", "another boot", 1, "1"), 1_000, "", False, id="another machine, long ago"),
        pytest.param(Holder("elsewhere", "another boot", 1, "1"), 10, "batch_1", False, id="confirmed"),
        pytest.param(None, 10, "", False, id="this process"),
        pytest.param(replace(leases.this_process(), pid=2**22 + 1), 10, "", False, id="a process that has ended"),
    ],
)  # fmt: skip
def test_a_batch_is_being_submitted_while_its_process_may_live(
    store: SqlStore,
    monkeypatch: pytest.MonkeyPatch,
    holder: Holder | None,
    age: float,
    reference: str,
    *,
    expected: bool,
) -> None:
    now = store._database.rows("SELECT unix_now()")[0][0]
    with monkeypatch.context() as patched:
        if holder is not None:
            patched.setattr(batch_records, "this_process", lambda: holder)
        store.add_judge_batch(replace(BATCH, created_at=now - age, reference=reference), known=())
    (batch,) = store.judge_batches()
    assert batch.is_being_submitted is expected


@pytest.mark.slow
def test_answers_are_stored_for_a_run_and_deleted_with_it(store: SqlStore) -> None:
    write_run(store, "run1")
    answers = {f"key-{number}": b"answer" * number for number in range(1, 1_200)}
    store.keep_answers("run1", answers)
    assert all(store.answer(key) == answer for key, answer in answers.items())
    store.delete(["run1"])
    assert store.answer("key-1") is None


def test_a_damaged_batch_is_an_error(store: SqlStore) -> None:
    store.add_judge_batch(BATCH, known=())
    with store._database.transaction() as transaction:
        transaction.execute("UPDATE judge_batches SET reference = 'another'")
    with pytest.raises(StoreError, match="a batch of requests of judges cannot be read"):
        store.judge_batches()
