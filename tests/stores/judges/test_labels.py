"""Labels and calibrations in a store: kept with their run, replaced, checked, and distinguished from missing ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.errors import StoreError, UnknownNameError
from proctor.schema.analysis.calibration import Agreement, Calibration, Figure
from proctor.stores.labels import StoredLabel
from proctor.stores.sql import database
from proctor.stores.sql.labels import label_checksum
from proctor.stores.sql.store import SqlStore
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import Heard, manifest, planned, scoring

LABELS = [
    StoredLabel(position=0, number=0, passes=True),
    StoredLabel(position=0, number=1, passes=False, turn=0, note="rude \ud83d\x00"),
    StoredLabel(position=0, number=1, passes=True, turn=0, rubric_id="polite"),
    StoredLabel(position=2, number=0, passes=False, metric="safety_v1"),
]
CALIBRATION = Calibration(
    metric="m",
    model="gpt-5",
    prompt="abc",
    threshold=0.5,
    run_id="run1",
    agreement=Agreement(both_pass=7, both_fail=2, kappa=Figure(value=0.5, low=0.25, high=0.75)),
)


def store_with_a_run(path: Path) -> SqlStore:
    store = open_sqlite_store(f"sqlite:///{path}")
    store.begin(manifest(), planned(3), scoring(), Heard()).close()
    return store


def test_labels_come_back_in_order(tmp_path: Path) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    store.label("run1", LABELS[::-1])
    found = open_sqlite_store(f"sqlite:///{tmp_path / 's.sqlite3'}", read_only=True).labels("run1")
    assert found[0] == LABELS[0]
    assert found[2:] == LABELS[2:]
    assert found[1].note == "rude \ufffd\ufffd"


def test_a_later_label_of_the_same_thing_takes_its_place(tmp_path: Path) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    store.label("run1", LABELS[:2])
    store.label("run1", [StoredLabel(position=0, number=0, passes=False)])
    assert [label.passes for label in store.labels("run1")] == [False, False]


def test_a_label_is_forgotten_and_those_of_other_things_stay(tmp_path: Path) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    store.label("run1", LABELS)
    assert (
        store.unlabel("run1", [StoredLabel(position=0, number=1, passes=True, turn=0, note="whatever")]) == 1
    )
    assert [label.rubric_id for label in store.labels("run1") if label.number == 1] == ["polite"]
    assert len(store.labels("run1")) == 3
    assert store.unlabel("run1", [StoredLabel(position=0, number=1, passes=True, turn=0)]) == 0


def test_each_person_has_a_label_for_the_same_thing(tmp_path: Path) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    ann, ben = (
        StoredLabel(position=0, number=0, passes=name == "ann", labeller=name) for name in ("ann", "ben")
    )
    store.label("run1", [ben, ann])
    store.label("run1", [replace(ben, note="wrong day")])
    assert store.labels("run1") == [ann, replace(ben, note="wrong day")]
    assert store.unlabel("run1", [ann]) == 1
    assert [label.labeller for label in store.labels("run1")] == ["ben"]


def test_a_check_prevents_a_change_and_each_change_is_later(tmp_path: Path) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    times = [store.label("run1", LABELS[:1]) for _ in range(20)]
    assert times == sorted(set(times))
    assert store.labels("run1")[0].labelled_at == times[-1]

    def refuse(present: Sequence[StoredLabel]) -> None:
        raise ValueError([label.labelled_at for label in present])

    for change in (store.label, store.unlabel):
        with pytest.raises(ValueError, match=str(times[-1])):
            change("run1", [StoredLabel(position=0, number=0, passes=False)], refuse)
    assert store.labels("run1") == LABELS[:1]


def test_labels_go_with_their_run_and_calibrations_stay(tmp_path: Path) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    store.label("run1", LABELS)
    store.calibrate(CALIBRATION)
    store.delete(["run1"])
    with pytest.raises(UnknownNameError):
        store.labels("run1")
    assert store.calibrations() == [CALIBRATION]
    assert store._database.rows("SELECT COUNT(*) FROM labels") == [(0,)]
    store.begin(manifest(), planned(3), scoring(), Heard()).close()
    assert store.labels("run1") == []


def test_calibrations_are_kept_in_order(tmp_path: Path) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    later = CALIBRATION.model_copy(update={"model": "other"})
    store.calibrate(CALIBRATION)
    store.calibrate(later)
    assert store.calibrations() == [CALIBRATION, later]


def test_what_is_for_reading_only_takes_none(tmp_path: Path) -> None:
    store_with_a_run(tmp_path / "s.sqlite3").close()
    store = open_sqlite_store(f"sqlite:///{tmp_path / 's.sqlite3'}", read_only=True)
    with pytest.raises(StoreError, match="reading only"):
        store.label("run1", LABELS)
    with pytest.raises(StoreError, match="reading only"):
        store.calibrate(CALIBRATION)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("UPDATE labels SET passes = 1 - passes", id="a label"),
        pytest.param("UPDATE labels SET turn = turn + 1", id="what it is about"),
        pytest.param("UPDATE labels SET labeller = 'ben'", id="who gave it"),
        pytest.param(
            "UPDATE calibrations SET calibration = replace(calibration, '0.5', '0.9')", id="a figure"
        ),
    ],
)
def test_a_flipped_bit_is_noticed(tmp_path: Path, damage: str) -> None:
    store = store_with_a_run(tmp_path / "s.sqlite3")
    store.label("run1", LABELS[:1])
    store.calibrate(CALIBRATION)
    with sqlite3.connect(tmp_path / "s.sqlite3") as raw:
        raw.execute(damage)
    with pytest.raises(StoreError, match="damaged"):
        store.calibrations() if "calibrations" in damage else store.labels("run1")


def test_a_store_of_an_earlier_version_has_none_and_learns_to_keep_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite3"
    first = database.schema_files()[:1]
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "schema_files", lambda: first)
        store_with_a_run(path).close()
    reading = open_sqlite_store(f"sqlite:///{path}", read_only=True)
    assert (reading.labels("run1"), reading.calibrations()) == ([], [])
    reading.close()
    store = open_sqlite_store(f"sqlite:///{path}")
    store.label("run1", LABELS[:1])
    assert store.labels("run1") == LABELS[:1]


def test_labels_of_a_version_without_labellers_are_read_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite3"
    before = database.schema_files()[:11]
    old = StoredLabel(position=0, number=1, passes=False, turn=0, note="rude")
    with monkeypatch.context() as earlier:
        earlier.setattr(database, "schema_files", lambda: before)
        store_with_a_run(path).close()
    with closing(sqlite3.connect(path)) as raw, raw:
        row = (0, 1, 0, "", "", 0, 5.0, "rude")
        columns = "run, position, number, turn, rubric_id, metric, passes, labelled_at, note, crc"
        run = raw.execute("SELECT seq FROM runs").fetchone()[0]
        crc = label_checksum(run, (*row, ""))
        raw.execute(f"INSERT INTO labels ({columns}) VALUES (?{', ?' * 9})", (run, *row, crc))
    reading = open_sqlite_store(f"sqlite:///{path}", read_only=True)
    assert reading.labels("run1") == [old]
    reading.close()
    store = open_sqlite_store(f"sqlite:///{path}")
    store.label("run1", [replace(old, labeller="ann")])
    assert store.labels("run1") == [old, replace(old, labeller="ann")]
    assert store.labels("run1")[0].labelled_at == 5.0
