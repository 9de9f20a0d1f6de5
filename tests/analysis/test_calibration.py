"""Holding a judge against people: which verdict a label means, what is reported, what is kept, what is refused."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import proctor
from proctor.analysis.calibration.calibration_report import calibration_data, write_calibration
from proctor.errors import SetupError, StoreError
from proctor.schema.analysis.calibration import CalibrationReport, HumanLabel, badge_of
from proctor.schema.results.score import JudgedBy
from proctor.stats.agreement import Confusion, cohen_kappa, corrected_rate
from proctor.stores.sql.store import SqlStore
from tests.analysis.judged_runs import METRIC, MODEL, PROMPT, Judged, judged_run

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write labels: pairs of a case and people's verdicts, with further columns where they are given."""

    def written(*rows: tuple[str, object], **columns: object) -> Path:
        path = tmp_path / "labels.json"
        path.write_text(json.dumps([{"eval_id": name, "label": label, **columns} for name, label in rows]))
        return path

    return written


def calibrated(store: SqlStore, labels: Path | None, **options: Any) -> CalibrationReport:
    return proctor.calibrate_sync("run1", labels, store=store, **{"held_out": 1.0, **options})


def cases(**verdicts: bool | None) -> list[Judged]:
    return [Judged(name, ((verdict,),)) for name, verdict in verdicts.items()]


class TestFigures:
    def test_verdicts_of_judge_and_people_are_counted(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=True, c=False, d=False, e=True))
        found = calibrated(store, write(("a", 1), ("b", 0), ("c", 1), ("d", 0)))
        agreement = found.calibration.agreement
        assert agreement.confusion == Confusion(1, 1, 1, 1)
        assert agreement.labels == 4
        assert agreement.kappa.value == cohen_kappa(Confusion(1, 1, 1, 1)).value == 0

    def test_the_pass_rate_is_of_the_whole_run_and_corrected_by_the_labels(
        self, tmp_path: Path, write: Write
    ) -> None:
        random = Random(5)
        truth = {f"case{i}": random.random() < 0.7 for i in range(200)}
        judged = {name: random.random() < (0.9 if right else 0.2) for name, right in truth.items()}
        store = judged_run(tmp_path / "s.db", cases(**judged))
        found = calibrated(store, write(*list(truth.items())[:80]))
        expected = corrected_rate(sum(judged.values()), 200, found.calibration.agreement.confusion)
        assert found.verdicts == 200
        assert found.pass_rate == expected
        assert found.pass_rate.corrected.low <= sum(truth.values()) / 200 <= found.pass_rate.corrected.high

    def test_without_labels_of_both_classes_nothing_is_stated_of_the_corrected_rate(
        self, tmp_path: Path, write: Write
    ) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=False))
        found = calibrated(store, write(("a", 1)))
        data: Any = calibration_data(found)["pass_rate"]
        assert {**data, "judged": ...} == {
            "verdicts": 2,
            "without_verdict": 0,
            "judged": ...,
            "corrected": {"value": None, "low": None, "high": None},
            "unclipped": None,
        }
        text = io.StringIO()
        write_calibration(found, text)
        assert "1 label of trials" in text.getvalue()

    def test_disagreements_can_be_read(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(rome=True, oslo=False, bern=True))
        labels = write(("rome", "fail"), ("oslo", "fail"), ("bern", "pass"), note="wrong day")
        (one,) = calibrated(store, labels).disagreements
        assert (one.label.title, one.label.passes, one.judge_passes) == ("rome", False, True)
        assert (one.asked, one.answered) == ("question 1 of rome", "answer 1")
        assert one.reason == "because it is True"
        assert one.label.note == "wrong day"


class TestHeldOut:
    def test_which_labels_are_held_out_follows_from_the_ids(self, tmp_path: Path, write: Write) -> None:
        names = {f"case{i}": True for i in range(400)}
        store = judged_run(tmp_path / "s.db", cases(**names))
        found = calibrated(store, write(*names.items()), held_out=0.25)
        again = calibrated(store, write(*reversed(names.items())), held_out=0.25)
        assert found.calibration.agreement == again.calibration.agreement
        assert found.rest is not None
        assert found.calibration.agreement.labels + found.rest.labels == 400
        assert 70 <= found.calibration.agreement.labels <= 130

    def test_more_held_out_keeps_those_that_were(self, tmp_path: Path, write: Write) -> None:
        names = {f"case{i}": False for i in range(100)}  # people answer this for all, the judge the opposite
        store = judged_run(tmp_path / "s.db", cases(**dict.fromkeys(names, True)))
        held = []
        for share in (0.25, 0.5, 1.0):
            found = calibrated(store, write(*names.items()), held_out=share)
            held.append({one.label.key for one in found.disagreements if one.held_out})
        assert held[0] < held[1] < held[2]

    def test_all_of_them_leave_no_rest(self, tmp_path: Path, write: Write) -> None:
        assert calibrated(judged_run(tmp_path / "s.db", cases(a=True)), write(("a", 1))).rest is None

    @pytest.mark.parametrize("share", [0, -0.5, 1.5])
    def test_a_share_that_is_none_is_refused(self, tmp_path: Path, write: Write, share: float) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True))
        with pytest.raises(SetupError, match="held_out must be above 0 and at most 1"):
            calibrated(store, write(("a", 1)), held_out=share)


class TestWhatALabelMeans:
    def test_a_turn(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a", ((True, False, True),))])
        found = calibrated(store, write(("a", 0), turn=2))
        assert found.calibration.unit == "turn"
        assert found.calibration.agreement.confusion == Confusion(0, 0, 0, 1)
        assert found.verdicts == 3

    def test_a_trial(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a", ((True,), (False,)))])
        assert calibrated(store, write(("a", 0), trial=2)).calibration.agreement.both_fail == 1

    def test_a_rubric_of_the_only_turn(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(
            tmp_path / "s.db", [Judged("a", rubrics={"polite": 1.0, "short": 0.0, "odd": None})]
        )
        found = calibrated(store, write(("a", 1), rubric_id="short"))
        assert found.calibration.unit == "rubric"
        assert found.calibration.agreement.judge_fails == 1
        assert found.disagreements[0].reason == "short 0.0"
        assert (found.verdicts, found.without_verdict) == (2, 1)

    def test_a_case_of_several_sets(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a"), Judged("a", ((False,),), "others")])
        assert calibrated(store, write(("a", 0), eval_set_id="others")).calibration.agreement.both_fail == 1

    def test_one_for_the_metric_goes_before_one_for_any(self, tmp_path: Path) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a")])
        proctor.label_run("run1", [HumanLabel(eval_id="a", passes=False)], store=store)
        proctor.label_run("run1", [HumanLabel(eval_id="a", passes=True, metric=METRIC)], store=store)
        assert calibrated(store, None).calibration.agreement.both_pass == 1

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            pytest.param({"eval_id": "rom"}, "the run has no case 'rom'. Did you mean 'rome'?", id="a case"),
            pytest.param({"eval_set_id": "x"}, "the case 'rome' is in trips, not in 'x'", id="a set"),
            pytest.param({}, "the case 'rome' has 2 trials: name the labelled one", id="which trial"),
            pytest.param({"trial": 3}, "has 2 trials, there is no trial 3", id="a trial"),
            pytest.param({"trial": 1, "turn": 4}, "has 3 turns, there is no turn 4", id="a turn"),
        ],
    )
    def test_missing_case_is_reported_with_its_line(
        self, tmp_path: Path, write: Write, columns: dict[str, Any], message: str
    ) -> None:
        three = (True, True, True)
        store = judged_run(tmp_path / "s.db", [Judged("rome", (three, three))])
        path = write((columns.pop("eval_id", "rome"), 1), **columns)
        with pytest.raises(SetupError) as caught:
            calibrated(store, path)
        assert message in str(caught.value)
        assert f"{path}:1:2" in str(caught.value)

    def test_rubric_without_a_verdict_is_reported(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a", rubrics={"polite": 1.0})])
        with pytest.raises(
            SetupError, match=r"the case 'a' was not scored by a rubric 'x'. There is: polite."
        ):
            calibrated(store, write(("a", 1), rubric_id="x"))

    def test_kinds_are_not_mixed(self, tmp_path: Path) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=True))
        labels = [HumanLabel(eval_id="a", passes=True), HumanLabel(eval_id="b", passes=True, turn=0)]
        proctor.label_run("run1", labels, store=store)
        with pytest.raises(
            SetupError, match=r"the labels are of several kinds: a trial as a whole .*, a turn"
        ):
            calibrated(store, None)


class TestWithoutAVerdict:
    def test_case_is_left_out_and_reported_never_counted(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=None, c=False))
        found = calibrated(store, write(("a", 1), ("b", 1), ("c", 0)))
        assert found.calibration.agreement.confusion == Confusion(1, 0, 0, 1)
        assert [label.title for label in found.unjudged] == ["b"]
        assert (found.verdicts, found.without_verdict) == (2, 1)

    def test_without_any_verdict_there_is_no_calibration(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=None, b=True))
        with pytest.raises(SetupError, match="not one of 1 label with a verdict is held out"):
            calibrated(store, write(("a", 1)))


class TestCasesWithoutAVerdictOfTheMetric:
    """A label is of what an agent did; not every metric has something to do with that."""

    def test_case_is_left_out_and_reported(self, tmp_path: Path, write: Write) -> None:
        run = [*cases(a=True, b=False), Judged("silent", metric="rouge", ballots=False)]
        store = judged_run(tmp_path / "s.db", run)
        found = calibrated(store, write(("a", 1), ("b", 0), ("silent", 1)))
        assert found.calibration.agreement.labels == 2
        assert [label.title for label in found.unsaid] == ["silent"]
        out = io.StringIO()
        write_calibration(found, out)
        assert "labels left out: 1, the metric does not apply\n  silent\n" in out.getvalue()

    def test_a_slip_in_a_rubrics_id_is_none_of_that(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a", rubrics={"polite": 1.0})])
        message = r"labels.json:1:2: the case 'a' was not scored by a rubric 'polit'. Did you mean 'polite'\?"
        with pytest.raises(SetupError, match=message):
            calibrated(store, write(("a", 1), rubric_id="polit"))
        with pytest.raises(SetupError, match="not scored by a rubric 'polit'"):
            proctor.label_run("run1", [HumanLabel(eval_id="a", passes=True, rubric_id="polit")], store=store)


class TestWhichMetric:
    def test_the_only_one_that_asked_a_model(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a"), Judged("b", metric="rouge", ballots=False)])
        assert calibrated(store, write(("a", 1))).calibration.metric == METRIC

    def test_of_several_one_must_be_named(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a"), Judged("b", metric="safety_v1")])
        with pytest.raises(SetupError, match=f"several metrics that ask a model: .* {METRIC}, safety_v1"):
            calibrated(store, write(("a", 1)))
        assert calibrated(store, write(("b", 1)), metric="safety_v1").calibration.metric == "safety_v1"

    @pytest.mark.parametrize(
        ("name", "message"),
        [("rouge", "rouge asked no model in it"), ("safty_v1", "safty_v1 is not among its metrics")],
    )
    def test_impossible_metric_is_reported(
        self, tmp_path: Path, write: Write, name: str, message: str
    ) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a"), Judged("b", metric="rouge", ballots=False)])
        with pytest.raises(SetupError, match=message):
            calibrated(store, write(("a", 1)), metric=name)

    def test_run_without_a_judge_gets_advice(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("b", metric="rouge", ballots=False)])
        with pytest.raises(SetupError, match="has no verdict of a model: `proctor score run1 --config FILE`"):
            calibrated(store, write(("b", 1)))

    @pytest.mark.parametrize("other", [{"model": "gpt-5"}, {"prompt": "fedcba987654"}])
    def test_two_judges_in_one_run_are_refused(
        self, tmp_path: Path, write: Write, other: dict[str, Any]
    ) -> None:
        store = judged_run(tmp_path / "s.db", [Judged("a"), Judged("b", **other)])
        with pytest.raises(SetupError, match="are those of several judges"):
            calibrated(store, write(("a", 1)))


class TestLabelsInTheStore:
    def test_they_count_where_no_file_is_given(self, tmp_path: Path) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=False))
        proctor.label_run("run1", [HumanLabel(eval_id="a", passes=True)], store=store)
        proctor.label_run("run1", [HumanLabel(eval_id="b", passes=True)], store=store)
        assert calibrated(store, None).calibration.agreement.confusion == Confusion(1, 1, 0, 0)

    def test_a_file_of_them_can_be_put_there(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=False))
        assert len(proctor.label_run("latest", write(("a", 1), ("b", 0)), store=store)) == 2
        assert calibrated(store, None).calibration.agreement.labels == 2

    def test_missing_labels_give_advice_to_make_them(self, tmp_path: Path) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True))
        with pytest.raises(SetupError, match=r"run1 has no labels .*`proctor judge label run1 CASE --pass`"):
            calibrated(store, None)


class TestKept:
    def test_it_is_kept_and_found_again_by_metric_prompt_and_model(
        self, tmp_path: Path, write: Write
    ) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=False))
        report = calibrated(store, write(("a", 1), ("b", 0)))
        (kept,) = store.calibrations()
        assert kept == report.calibration
        assert (kept.metric, kept.model, kept.prompt, kept.threshold) == (METRIC, MODEL, PROMPT, 0.5)
        assert kept.badge.startswith("calibrated: kappa 1.00 (95 % CI: ")
        assert kept.badge.endswith("), 2 labels")

    def test_unless_it_is_only_to_be_shown(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True))
        calibrated(store, write(("a", 1)), keep=False)
        assert store.calibrations() == []

    def test_what_is_another_one_voids_it_and_is_named(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True))
        kept = [calibrated(store, write(("a", 1))).calibration]
        for by, threshold, badge in (
            (
                JudgedBy(METRIC, "gpt-5", PROMPT),
                0.5,
                f"calibration void: the model is gpt-5, it was {MODEL}",
            ),
            (JudgedBy(METRIC, MODEL, "else"), 0.5, "calibration void: the prompt is another one"),
            (JudgedBy(METRIC, MODEL, PROMPT), 0.8, "calibration void: the threshold is 0.8, it was 0.5"),
            (JudgedBy("safety_v1", MODEL, PROMPT), 0.5, ""),
            (JudgedBy(METRIC, MODEL, PROMPT), 0.5, kept[0].badge),
        ):
            assert badge_of(kept, by, threshold) == badge

    def test_the_newest_that_holds_counts(self, tmp_path: Path, write: Write) -> None:
        store = judged_run(tmp_path / "s.db", cases(a=True, b=True))
        calibrated(store, write(("a", 1)))
        calibrated(store, write(("a", 1), ("b", 0)))
        other = store.calibrations()[0].model_copy(update={"model": "gpt-5"})
        badge = badge_of([*store.calibrations(), other], JudgedBy(METRIC, MODEL, PROMPT), 0.5)
        assert badge.endswith("2 labels")


def test_it_is_asynchronous_too(tmp_path: Path, write: Write) -> None:
    store = judged_run(tmp_path / "s.db", cases(a=True))
    report = asyncio.run(proctor.calibrate("run1", write(("a", 1)), store=store, held_out=1.0))
    assert report.calibration.agreement.both_pass == 1


def test_missing_store_is_reported(tmp_path: Path, write: Write) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        proctor.calibrate_sync("latest", write(("a", 1)), store=tmp_path / "none.db")
