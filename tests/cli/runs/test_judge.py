"""`proctor judge`: labelling what a run recorded, and holding its judge against the labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analysis.judged_runs import METRIC, Judged, judged_run
from tests.cli.project import in_this_process


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a judged run, where the working folder's project has it, and labels for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".proctor").mkdir()
    judged = {f"case{i}": i % 3 != 0 for i in range(12)}
    cases = [Judged(name, ((passes,),)) for name, passes in judged.items()]
    judged_run(tmp_path / ".proctor" / "store.sqlite3", cases).close()
    lines = [f"{name},{int(passes if name != 'case4' else not passes)}" for name, passes in judged.items()]
    (tmp_path / "labels.csv").write_text("eval_id,label\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_a_calibration_is_shown_with_what_can_be_read() -> None:
    done = in_this_process("judge", "calibrate", "latest", "--labels", "labels.csv", "--held-out", "1")
    assert done.returncode == 0
    assert "people fail             1            4" in done.stdout
    assert (
        "  case4: people fail it, the judge passes it (held out)\n    user   question 1 of case4"
        in done.stdout
    )
    assert "    judge  because it is True" in done.stdout
    assert "(Rogan-Gladen)" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("calibrated: kappa 0.82 (95 % CI: ")


def test_what_is_held_out_is_only_shown_when_asked_for() -> None:
    few = in_this_process("judge", "calibrate", "--labels", "labels.csv", "--held-out", "0.9")
    all_ = in_this_process("judge", "calibrate", "--labels", "labels.csv", "--held-out", "0.9", "-v")
    assert "1 of them held out and not shown" in few.stdout
    assert "case4: people fail it" not in few.stdout
    assert "case4: people fail it, the judge passes it (held out)" in all_.stdout


def test_as_json_it_has_everything() -> None:
    done = in_this_process("judge", "calibrate", "--labels", "labels.csv", "--held-out", "1", "--json")
    report = json.loads(done.stdout)
    assert (report["metric"], report["labels"], report["agreement"]["judge_passes"]) == (METRIC, 12, 1)
    assert report["pass_rate"]["corrected"].keys() == {"value", "low", "high"}
    assert report["disagreements"][0]["eval_id"] == "case4"
    assert report["disagreements"][0]["rationale"] == "because it is True"


def test_labels_can_be_put_in_one_by_one() -> None:
    for case, verdict in (("case0", "--fail"), ("case1", "--pass"), ("case2", "--fail"), ("case2", "--pass")):
        done = in_this_process("judge", "label", "latest", case, verdict, "--note", "so it is")
        assert (done.returncode, done.stdout) == (0, f"{case}: {verdict[2:]}\n")
    done = in_this_process("judge", "calibrate", "--held-out", "1", "--json")
    assert json.loads(done.stdout)["agreement"]["both_pass"] == 2
    assert json.loads(done.stdout)["agreement"]["both_fail"] == 1


def test_turn_of_a_trial_is_labelled() -> None:
    done = in_this_process(
        "judge", "label", "latest", "case0", "--fail", "--turn", "1", "--trial", "1", "--rubric", "x"
    )
    assert done.stdout == "case0, turn 1, rubric x: fail\n"


def test_two_people_label_and_their_kappa_is_shown() -> None:
    for name, verdicts in (("ann", "pff"), ("ben", "ppf")):
        for number, verdict in enumerate(verdicts):
            words = ["--pass" if verdict == "p" else "--fail", "--by", name]
            assert in_this_process("judge", "label", "latest", f"case{number}", *words).returncode == 0
    done = in_this_process("judge", "calibrate", "--held-out", "1", "--unit", "trial")
    assert done.returncode == 0
    assert "ann and ben       3       1  0.40 (95 % CI: " in done.stdout
    assert "  case1: ann fails it, ben passes it (no majority: left out)" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["label", "latest", "case0"], "a label takes --pass or --fail", id="no label"),
        pytest.param(["label", "latest", "cse0", "--pass"], "no case 'cse0'. Did you mean 'case0'", id="a case"),
        pytest.param(["label", "latest", "case0", "--pass", "--turn", "2"], "has 1 turn, there is no turn 2", id="a turn"),
        pytest.param(["label", "other", "case0", "--pass"], "No run named 'other'", id="a run"),
        pytest.param(["calibrate"], "has no labels for final_response_match_v2", id="no labels at all"),
        pytest.param(["calibrate", "--labels", "labels.csv", "--unit", "rubric"], "no label in it of a rubric is for", id="a unit"),
        pytest.param(["calibrate", "--labels", "no.csv"], "no.csv:1:1: no such file", id="no file"),
        pytest.param(["calibrate", "--labels", "labels.csv", "--metric", "x"], "x is not among its metrics", id="a metric"),
        pytest.param(["calibrat"], "No command 'calibrat'. Did you mean 'calibrate'", id="a slip"),
    ],
)  # fmt: skip
def test_error_is_reported_with_exit_code_2(words: list[str], message: str) -> None:
    done = in_this_process("judge", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
