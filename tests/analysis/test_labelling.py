"""What people label next, what their labels show so far, and how far two people agree."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor.analysis.calibration.calibration_report import calibration_data, write_calibration
from proctor.analysis.calibration.judge_verdicts import JudgedItem
from proctor.analysis.calibration.label_order import (
    is_held_out,
    labelling_progress,
    most_informative,
    next_to_label,
    second_to_label,
)
from proctor.analysis.calibration.labellers import labeller_pairs, labels_of_metric, settle_labels
from proctor.errors import SetupError
from proctor.schema.analysis.calibration import Agreement, Figure, HumanLabel, Key, Labelled
from proctor.stats.agreement import Confusion, cohen_kappa
from tests.analysis.judged_runs import METRIC, Judged, judged_run


def key(name: str) -> Key:
    return "set", name, 0, -1, ""


def item(
    name: str, *, passes: bool | None = True, agreement: float = 1.0, distance: float = 0.5
) -> JudgedItem:
    return JudgedItem(key(name), passes, agreement=agreement, distance=distance)


def labelled(name: str, who: str, *, passes: bool, metric: str = "") -> Labelled:
    return Labelled(key(name), passes, metric, labeller=who)


class TestOrder:
    def test_votes_that_disagree_come_first_then_scores_near_the_threshold(self) -> None:
        items = [
            item("sure"),
            item("near", distance=0.1),
            item("split", agreement=0.6),
            item("split and near", agreement=0.6, distance=0.2),
        ]
        names = [one.key[1] for one in most_informative(items)]
        assert names == ["split and near", "split", "near", "sure"]

    def test_among_equals_passes_and_fails_alternate(self) -> None:
        items = [item(f"pass{i}") for i in range(30)] + [item(f"fail{i}", passes=False) for i in range(3)]
        first = [one.passes for one in most_informative(items)[:7]]
        assert first == [False, True, False, True, False, True, True]

    def test_half_of_the_next_are_held_out_and_drawn_without_their_verdicts(self) -> None:
        passing = [item(f"case{i}") for i in range(200)]
        mixed = [item(f"case{i}", passes=i % 5 > 0, agreement=0.5 + i / 400) for i in range(200)]
        held = [
            [one.key for one in next_to_label(items, (), 20, held_out=0.5) if is_held_out(one.key, 0.5)]
            for items in (passing, mixed)
        ]
        assert held[0] == held[1], "of held-out cases the verdicts and the votes decide nothing"
        assert len(held[0]) == 10

    @given(st.sets(st.integers(0, 60), max_size=40), st.integers(1, 30), st.sampled_from([0.25, 0.5, 1.0]))
    def test_every_verdict_comes_once(self, done: set[int], count: int, share: float) -> None:
        items = [item(f"case{i}", passes=None if i % 7 == 0 else i % 3 == 0) for i in range(50)]
        known = {key(f"case{i}") for i in done}
        wanted = {one.key for one in items if one.passes is not None} - known
        found = [one.key for one in next_to_label(items, known, count, held_out=share)]
        assert len(found) == len(set(found)) == min(count, len(wanted))
        assert set(found) <= wanted

    def test_a_second_person_gets_what_others_labelled_held_out_cases_first(self) -> None:
        without_verdict = item("case40", passes=None)
        items = [*(item(f"case{i}") for i in range(40)), without_verdict]
        others, mine = {without_verdict.key, *(one.key for one in items[:30])}, {items[0].key}
        held = [one for one in others - mine - {without_verdict.key} if is_held_out(one, 0.5)]
        found = second_to_label(items, others, mine, len(held), held_out=0.5)
        assert {one.key for one in found} == set(held)
        assert without_verdict not in second_to_label(items, others, mine, 40, held_out=0.5)


@pytest.mark.parametrize(
    "pairs", [[], [(True, True)]], ids=["no labels", "one and the same verdict throughout"]
)
def test_a_figure_that_is_not_defined_has_no_interval(pairs: list[tuple[bool, bool]]) -> None:
    agreement = Agreement.of(pairs)
    assert (
        agreement.kappa.model_dump()
        == agreement.tnr.model_dump()
        == {"value": None, "low": None, "high": None}
    )


class TestPeople:
    def test_the_majority_counts_and_a_tie_is_left_out(self) -> None:
        labels = [labelled("a", who, passes=who != "ann") for who in ("ann", "ben", "eve")]
        labels += [labelled("b", who, passes=who == "ann") for who in ("ann", "ben")]
        labels += [labelled("c", "", passes=True)]
        settled = settle_labels(labels)
        assert [(one.key[1], one.labeller, one.passes) for one in settled.counted] == [
            ("a", "ben", True),
            ("c", "", True),
        ]
        assert [len(one) for one in settled.disputed] == [3, 2]
        assert settled.undecided == [key("b")]

    def test_a_label_for_the_metric_replaces_that_of_the_same_person_for_any(self) -> None:
        labels = [labelled("a", "ann", passes=True, metric="m"), labelled("a", "ann", passes=False)]
        labels += [labelled("a", "ben", passes=False), labelled("a", "ben", passes=True, metric="other")]
        found = {(one.labeller, one.passes) for one in labels_of_metric(labels, "m")}
        assert found == {("ann", True), ("ben", False)}

    @given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
    def test_kappa_is_that_of_the_common_labels_whoever_is_first(
        self, verdicts: list[tuple[bool, bool]]
    ) -> None:
        def kappa(first: str, second: str) -> Figure:
            labels = [labelled("only one", "ann", passes=True)]
            for number, both in enumerate(verdicts):
                for who, passes in zip((first, second), both, strict=True):
                    labels.append(labelled(f"case{number}", who, passes=passes))
            [found] = labeller_pairs(labels)
            return found.kappa

        one, other = kappa("ann", "ben"), kappa("ben", "ann")
        assert one == Figure.of(cohen_kappa(Confusion.of(verdicts)))
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


class TestProgress:
    def test_only_held_out_cases_are_the_evidence(self) -> None:
        items = {key(f"case{i}"): item(f"case{i}") for i in range(60)}
        labels = [labelled(name[1], "", passes=True) for name in items]
        progress = labelling_progress(items, labels, held_out=0.5)
        held = sum(is_held_out(name, 0.5) for name in items)
        assert (progress.agreement.both_pass, progress.other_labels) == (held, 60 - held)

    def test_more_labels_leave_fewer_to_give(self) -> None:
        items = {key(f"case{i}"): item(f"case{i}", passes=i % 2 == 0) for i in range(400)}
        wanted = []
        for count in (0, 10, 400):
            labels = [labelled(f"case{i}", "", passes=i % 2 == 0) for i in range(count)]
            progress = labelling_progress(items, labels, held_out=1.0)
            wanted.append(progress.wanted)
            assert progress.wanted >= max(progress.wanted_passes, progress.wanted_fails)
        assert wanted[0] > wanted[1] > wanted[2] == 0


class TestCalibrationByTwoPeople:
    """`judge calibrate` takes the labels of several people, from a file or from the store."""

    ROWS = (
        ("a", "ann", 1),
        ("a", "ben", 1),
        ("b", "ann", 0),
        ("b", "ben", 0),
        ("c", "ann", 1),
        ("c", "ben", 0),
    )

    @pytest.mark.parametrize("stored", [False, True], ids=["a file", "the store"])
    def test_common_labels_count_once_and_kappa_is_printed(self, tmp_path: Path, stored: bool) -> None:
        store = judged_run(tmp_path / "s.db", [Judged(name) for name in "abc"])
        path = tmp_path / "labels.json"
        path.write_text(json.dumps([{"eval_id": c, "labeller": who, "label": v} for c, who, v in self.ROWS]))
        if stored:
            proctor.label_run("run1", path, store=store)
        report = proctor.calibrate_sync("run1", None if stored else path, store=store, held_out=1.0)
        assert report.calibration.agreement.confusion == Confusion(1, 0, 1, 0)
        [pair] = report.labellers
        assert (pair.first, pair.second, pair.confusion) == ("ann", "ben", Confusion(1, 1, 0, 1))
        out = io.StringIO()
        write_calibration(report, out)
        assert "ann and ben       3       1  0.40 (95 % CI: -0.54 to 0.86)" in out.getvalue()
        assert "  c: ann passes it, ben fails it (no majority: left out)\n" in out.getvalue()
        data: dict[str, Any] = json.loads(json.dumps(calibration_data(report)))
        assert [one["kappa"]["value"] for one in data["labellers"]] == [pair.kappa.value]
        assert [one["counted"] for one in data["disputes"]] == [None]

    def test_if_people_agree_on_nothing_there_is_no_calibration(self, tmp_path: Path) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a")])
        for who in ("ann", "ben"):
            label = HumanLabel(eval_id="a", passes=who == "ann", labeller=who)
            proctor.label_run("run1", [label], store=store)
        with pytest.raises(SetupError, match="1 label left out: people label it differently"):
            proctor.calibrate_sync("run1", store=store, held_out=1.0)


def test_of_labels_of_several_kinds_one_is_chosen(tmp_path: Path) -> None:
    store = judged_run(tmp_path / "s.db", [Judged("a"), Judged("b")])
    labels = [HumanLabel(eval_id="a", passes=True), HumanLabel(eval_id="b", passes=True, turn=0)]
    proctor.label_run("run1", labels, store=store)
    report = proctor.calibrate_sync("run1", store=store, held_out=1.0, metric=METRIC, unit="turn")
    assert (report.calibration.unit, report.calibration.agreement.labels) == ("turn", 1)
    with pytest.raises(SetupError, match="unit must be trial, turn or rubric, got 'case'"):
        proctor.calibrate_sync("run1", store=store, unit="case")
