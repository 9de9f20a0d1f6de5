"""The gate for searches: what it accepts, and how it spends its budget of looks, also if processes die or run at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.analysis.acceptance.accept_candidate import is_proven
from proctor.errors import NoLooksLeftError, ProctorError, SetupError, SetupProblems
from proctor.schema import EvalSet
from proctor.schema.analysis.comparison import Change, Comparison
from tests.analysis.acceptance.gate import CONFIG, held_out_set, never, only_odd, right, unstable
from tests.analysis.compare.comparisons import case, compared

ROOT = Path(__file__).resolve().parents[3]


def accept(
    candidate: object, baseline: object, store: str, held_out: EvalSet | None = None, **arguments: Any
) -> proctor.Acceptance:
    """Two looks, so that sixteen cases prove an improvement."""
    whole = {"config": CONFIG, "trials": 1, "budget_of_looks": 2, **arguments}
    return proctor.accept_candidate_sync(
        candidate, baseline, held_out or held_out_set(), store=store, **whole
    )


@pytest.mark.parametrize(
    ("candidate", "baseline", "accepted", "reason"),
    [
        pytest.param(right, only_odd, True, "accepted: +50 points for cases like these (97.5 % CI: +", id="better"),
        pytest.param(only_odd, only_odd, False, "not accepted: an improvement is not proven; 0 points", id="equal"),
        pytest.param(only_odd, right, False, "not accepted: a case, the pass rate or a metric is significantly worse; -50 points", id="worse"),
        pytest.param(unstable, only_odd, False, "not accepted: an improvement is not proven, and 8 verdicts are missing", id="errors where the baseline fails"),
    ],
)  # fmt: skip
def test_decision(
    candidate: object, baseline: object, *, accepted: bool, reason: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "s.db")
    found = accept(candidate, baseline, path)
    assert (found.accepted, bool(found)) == (accepted, accepted)
    assert found.sentence.startswith(reason)
    assert found.sentence.endswith("; look 1 of 2")
    assert (found.looks_used, found.looks_left, found.level, found.alpha) == (1, 1, 0.025, 0.05)
    runs = [record.run_id for record in proctor.list_runs(path)]
    assert [found.comparison.candidate.run_id, found.comparison.base.run_id] == runs


def _improved(trials: str = "P") -> tuple[list[Any], list[Any]]:
    """A comparison in which twelve failing cases pass; and one more case, which passes and then has these trials."""
    base = [case(str(number), "F", scores={"tone": 0.5}) for number in range(12)]
    now = [case(str(number), "P", scores={"tone": 0.5}) for number in range(12)]
    return [*base, case("more", "P" * len(trials), scores={"tone": 0.5})], [*now, case("more", trials, scores={"tone": 0.5})]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "outcome", "proven"),
    [
        pytest.param({}, Change.IMPROVEMENT, True, id="only better"),
        pytest.param({"more": "FFFFFFFF"}, Change.REGRESSION, False, id="one case is proven to be worse"),
        pytest.param({"more": "EEEEEEEE"}, Change.ERROR, False, id="one case may be worse"),
        pytest.param({"tone": 0.1}, Change.REGRESSION, False, id="a metric is worse"),
    ],
)
def test_nothing_may_be_worse(change: Mapping[str, Any], outcome: Change, *, proven: bool) -> None:
    base, now = _improved(change.get("more", "P"))
    for one in now if "tone" in change else ():
        one.metrics["tone"].score = change["tone"]
    found = compared(base, now, confidence=0.95, ranges={"tone": (0.0, 1.0)})
    assert found.general is not None
    assert (found.general.low > 0, found.outcome, is_proven(found)) == (True, outcome, proven)


def test_a_comparison_without_verdicts_proves_nothing() -> None:
    found: Comparison = compared([case("a", "P")], [case("b", "P")])
    assert not is_proven(found)


# --- the budget --------------------------------------------------------------------------------------------------------


def _edited(change: Callable[[dict[str, Any]], object]) -> EvalSet:
    whole = held_out_set().model_dump()
    change(whole)
    return EvalSet.model_validate(whole)


def _rename_cases(whole: dict[str, Any]) -> None:
    for one in whole["eval_cases"]:
        one["eval_id"] = f"new_{one['eval_id']}"


def _expect_other_answers(whole: dict[str, Any]) -> None:
    for one in whole["eval_cases"]:
        one["conversation"][0]["final_response"]["parts"][0]["text"] += "!"
        one["conversation"][0]["invocation_id"] = "new"


def _replace_most(whole: dict[str, Any]) -> None:
    for number, one in enumerate(whole["eval_cases"][1:]):
        one["conversation"][0]["user_content"]["parts"][0]["text"] = f"{1000 + number} + 1"


@pytest.mark.slow
@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    ("held_out", "config"),
    [
        pytest.param(held_out_set(), CONFIG, id="the same"),
        pytest.param(_edited(lambda whole: whole.update(eval_set_id="other")), CONFIG, id="the set is renamed"),
        pytest.param(_edited(_rename_cases), CONFIG, id="the cases are renamed"),
        pytest.param(_edited(lambda whole: whole["eval_cases"].reverse()), CONFIG, id="another order"),
        pytest.param(_edited(lambda whole: whole["eval_cases"].pop()), CONFIG, id="a case less"),
        pytest.param(_edited(_expect_other_answers), CONFIG, id="other expectations"),
        pytest.param(_edited(_replace_most), CONFIG, id="all cases but one are new"),
        pytest.param(held_out_set(), {"criteria": {"response_match_score": 0.4}}, id="other criteria"),
    ],
)  # fmt: skip
def test_no_edit_gives_a_new_budget(held_out: EvalSet, config: Mapping[str, Any], tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    accept(only_odd, only_odd, path)
    assert (accept(only_odd, only_odd, path)).looks_left == 0
    with pytest.raises(NoLooksLeftError, match="all 2 looks at these held-out cases are used up"):
        accept(right, only_odd, path, held_out, config=config)
    assert len([*proctor.list_runs(path)]) == 4


@pytest.mark.slow
def test_other_cases_have_their_own_budget(tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    sets = held_out_set(), held_out_set(first=100), held_out_set()
    assert [accept(only_odd, only_odd, path, held_out).looks_used for held_out in sets] == [1, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"alpha": 0.06}, {"budget_of_looks": 3}], ids=["alpha", "budget"])
def test_alpha_and_budget_stay_as_they_were_chosen(change: Mapping[str, Any], tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    accept(only_odd, only_odd, path)
    with pytest.raises(SetupError, match=r"earlier looks .* had alpha 0\.05 and budget_of_looks 2"):
        accept(right, only_odd, path, **change)
    assert (accept(only_odd, only_odd, path)).looks_used == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({"alpha": 0}, "alpha: expected a probability above 0 and below 0.25, got 0", id="alpha 0"),
        pytest.param({"alpha": 0.25}, "alpha: expected a probability above 0 and below 0.25", id="alpha too large"),
        pytest.param({"alpha": "5 %"}, "got '5 %'", id="alpha as text"),
        pytest.param({"budget_of_looks": 0}, "budget_of_looks: expected at least 1, got 0", id="no looks"),
        pytest.param({"budget_of_looks": 251}, "alpha 0.05 allows at most 250 looks, got 251", id="too many looks"),
        pytest.param({"trials": 0}, "trials: expected at least 1, got 0", id="no trials"),
        pytest.param({"options": {"limit": 3}}, "options: limit cannot be given here", id="fewer cases"),
        pytest.param({"held_out": held_out_set(cases=5)}, "5 cases cannot prove an improvement at the level 0.025 .* At least 7 cases", id="too few cases"),
        pytest.param({"held_out": EvalSet(eval_set_id="none", eval_cases=[])}, "no case", id="no case"),
        pytest.param({"config": {"criteria": {"response_match_scor": 1.0}}}, "response_match_scor", id="an unknown metric"),
        pytest.param({"candidate": "no_such_module_at_all"}, "no_such_module_at_all", id="an unknown agent"),
    ],
)  # fmt: skip
def test_a_configuration_error_uses_no_look(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = str(tmp_path / "s.db")
    candidate = arguments.pop("candidate", right)
    with pytest.raises(ProctorError, match=message) as caught:
        accept(candidate, only_odd, path, **arguments)
    assert isinstance(caught.value, SetupError | SetupProblems)
    assert (accept(only_odd, only_odd, path)).looks_used == 1


@pytest.mark.slow
def test_an_agent_that_cannot_start_has_used_its_look(tmp_path: Path) -> None:
    class Closed:
        async def open(self) -> None:
            raise RuntimeError("no")

        async def answer(self, _text: str) -> str:
            return ""

    path = str(tmp_path / "s.db")
    with pytest.raises(ProctorError):
        accept(right, Closed(), path)
    assert (accept(only_odd, only_odd, path)).looks_used == 2


def test_an_open_store_stays_open_and_the_synchronous_form_does_the_same(tmp_path: Path) -> None:
    store = proctor.open_store(str(tmp_path / "s.db"))
    found = proctor.accept_candidate_sync(
        right, only_odd, held_out_set(), config=CONFIG, trials=2, store=store, budget_of_looks=2
    )
    assert found
    assert [look.budget for look in store.looks()] == [2]
    assert found.comparison.candidate.num_runs == 2
    store.close()


# --- processes ---------------------------------------------------------------------------------------------------------


def _start(path: Path, candidate: Callable[..., Any], budget: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    words = [
        sys.executable,
        "-m",
        "tests.analysis.acceptance.gate",
        str(path),
        candidate.__name__,
        str(budget),
    ]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)  # fmt: skip


def _begin(processes: list[subprocess.Popen[str]]) -> None:
    """Let processes begin at the same time, once all of them are ready."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


@pytest.mark.slow
def test_a_look_that_is_killed_is_used(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    process = _start(path, never, budget=2)
    _begin([process])
    assert process.stdout is not None
    assert process.stdout.readline() == "called\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    found = accept(right, only_odd, str(path))
    assert found.looks_used == 2
    with pytest.raises(NoLooksLeftError):
        accept(right, only_odd, str(path))


@pytest.mark.slow
def test_processes_at_the_same_time_never_get_the_same_look(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    proctor.open_store(str(path)).close()
    processes = [_start(path, right, budget=3) for _ in range(5)]
    _begin(processes)
    ends = [process.communicate(timeout=240) for process in processes]
    assert [process.returncode for process in processes] == [0] * 5, ends
    assert sorted(out.strip() for out, _ in ends) == ["look 1", "look 2", "look 3", "used up", "used up"]
