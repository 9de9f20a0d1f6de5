"""How often a case is run and what its trials come to: planned before the run, carried out by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from proctor.agents.base import Session
from proctor.engine.execution.run import Run
from proctor.engine.execution.run_control import NoProgress, run_sync
from proctor.engine.planning.plan import least_to_pass, make_plan, too_few_trials, undecidable
from proctor.engine.planning.set_plan import EvalSetSource, SetRequest
from proctor.engine.run_options import RunOptions
from proctor.engine.scoring.verdict import decide_share
from proctor.errors import SetupProblems
from proctor.schema.evidence.event import Event
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.schema.results.score import TrialRule
from tests.engine.scripted import case, eval_set, plan_of, run, text_of, turn

P, F, E, U = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE
CRITERIA = {"response_match_score": 0.8}


def config(**trials: Any) -> EvalConfig:
    return EvalConfig.model_validate({"criteria": CRITERIA, "trials": trials or None})


class Coin:
    """Answer "ok" or something else, as each case's script requires, trial after trial."""

    def __init__(self, **scripts: str) -> None:
        self._scripts = scripts
        self.asked: Counter[str] = Counter()

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        name = text_of(message)
        script = self._scripts.get(name, "P")
        act = script[self.asked[name] % len(script)]
        self.asked[name] += 1
        if act == "E":
            raise ConnectionError("down")
        yield Event.said("ok" if act == "P" else "no idea")


def tossed(script: str, **trials: Any) -> RunResult:
    """Run one case whose trials end as `script` requires."""
    given = eval_set(case("coin"))
    return run_sync(lambda: run(Coin(coin=script), given, config(**trials), concurrency=1))


# --- how many --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "stated", "runs"),
    [
        pytest.param(None, None, 1, id="no count given"),
        pytest.param(None, 3, 3, id="from the config"),
        pytest.param(2, 3, 2, id="an option wins over the config"),
        pytest.param(1, 3, 1, id="so does 1"),
        pytest.param(4, None, 4, id="only an option"),
    ],
)
def test_source_of_the_trial_count(option: int | None, stated: int | None, runs: int) -> None:
    plan, _ = plan_of(eval_set(case("c")), config(num_runs=stated) if stated else config(), num_runs=option)
    assert (plan.num_runs, plan.trials, plan.sets[0].summary.num_runs) == (runs, runs, runs)


def test_sets_with_other_configs_have_other_numbers_of_trials() -> None:
    agent = Coin(b="PF")
    wanted = [
        SetRequest(EvalSetSource(eval_set(case("a"), eval_set_id="one")), config(), "one.json"),
        SetRequest(
            EvalSetSource(eval_set(case("b"), eval_set_id="two")),
            config(num_runs=4, min_pass_rate=0.5),
            "two.json",
        ),
    ]
    options = RunOptions(concurrency=1)
    plan = make_plan(wanted, options)
    assert (plan.num_runs, plan.trials) == (4, 5)
    result = run_sync(Run(plan, agent, "coin", options, NoProgress()).__call__)
    assert agent.asked == {"a": 1, "b": 4}
    assert [(one.num_runs, one.rule) for one in result.sets] == [(1, None), (4, TrialRule(0.5))]
    assert [len(one.trials) for one in result.cases] == [1, 4]
    assert result.passed
    assert result.num_runs == 4
    assert result.pass_hat(2) == pytest.approx(1 / 6)  # of the set that has two trials
    assert result.pass_hat(1) == pytest.approx(3 / 4)


# --- what they come to -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "trials", "outcome", "exit_code"),
    [
        pytest.param("PPPPF", {"num_runs": 5, "min_pass_rate": 0.8}, P, 0, id="enough pass"),
        pytest.param("PPPFF", {"num_runs": 5, "min_pass_rate": 0.8}, F, 1, id="too few pass"),
        pytest.param("PPPFE", {"num_runs": 5, "min_pass_rate": 0.8}, E, 3, id="it depends on the one in error"),
        pytest.param("PPFFE", {"num_runs": 5, "min_pass_rate": 0.8}, F, 1, id="it does not depend on it"),
        pytest.param("PPPFP", {"num_runs": 5, "min_pass_rate": 0.9, "confidence": 0.95}, U, 4, id="undecided so far"),
        pytest.param("PPPFP", {"num_runs": 5}, P, 0, id="without a rule the mean decides"),
        pytest.param("PPFFP", {"num_runs": 5}, F, 1, id="without a rule the mean decides, downwards"),
        pytest.param("PPPFP", {"num_runs": 5, "pass_k": 2, "min_pass_rate": 0.5}, P, 0, id="in a row"),
    ],
)  # fmt: skip
def test_a_run_is_judged_by_its_trials(
    script: str, trials: dict[str, Any], outcome: Outcome, exit_code: int
) -> None:
    result = tossed(script, **trials)
    (found,) = result.cases
    assert (found.outcome, result.outcome, result.exit_code) == (outcome, outcome, exit_code)
    assert "".join(trial.outcome.name[0] for trial in found.trials) == script[:5]


def test_a_flaky_case_is_marked_and_keeps_its_evidence() -> None:
    given = eval_set(case("coin"), case("sound"))
    trials = config(num_runs=3, min_pass_rate=0.6)
    agent = Coin(coin="PFP")
    result = run_sync(lambda: run(agent, given, trials, concurrency=1, keep_evidence="failures"))
    coin, sound = result.cases
    assert result.passed
    assert (coin.flaky, sound.flaky, result.repeats.flaky) == (True, False, 1)
    assert coin.missed.startswith("trial 2: response_match_score 0.00 < 0.8")
    assert [trial.trial is not None for trial in (*coin.trials, *sound.trials)] == [True] * 3 + [False] * 3
    assert result.means["response_match_score"].values == 6


# --- what cannot be decided ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trials", "options", "message"),
    [
        ({"pass_k": 3}, {}, "given: trials: pass_k is 3, and a case has 1 trial: it takes at least 3"),
        ({"pass_k": 3, "num_runs": 5}, {"num_runs": 2}, "given: trials: pass_k is 3, and a case has 2 trials"),
        (
            {"num_runs": 2, "min_pass_rate": 0.5, "confidence": 0.95}, {},
            "given: trials: 2 trials a case can decide nothing at a confidence of 0.95: from 4 trials on a case can pass",
        ),
    ],
)  # fmt: skip
def test_trials_that_can_decide_nothing_are_refused_before_the_run(
    trials: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(SetupProblems) as caught:
        plan_of(eval_set(case("c", turn("c"))), config(**trials), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("trials", "warns"),
    [
        (
            {"num_runs": 5, "min_pass_rate": 0.9, "confidence": 0.95},
            ["given: trials: no case can pass with 5 trials: even if all pass, that does not show 0.9 at a confidence of 0.95; it takes at least 35"],
        ),
        (
            {"num_runs": 2, "min_pass_rate": 0.2, "confidence": 0.95},
            ["given: trials: no case can fail with 2 trials: even if none passes, 0.2 at a confidence of 0.95 is not ruled out"],
        ),
        ({"num_runs": 40, "min_pass_rate": 0.9, "confidence": 0.95}, []),
        ({"num_runs": 5, "min_pass_rate": 0.9}, []),
        ({"num_runs": 5}, []),
    ],
    ids=["cannot pass", "cannot fail", "can do both", "point estimate", "no rule"],
)  # fmt: skip
def test_trials_too_few_for_one_of_the_verdicts_are_warned_of(
    trials: dict[str, Any], warns: list[str]
) -> None:
    plan, _ = plan_of(eval_set(case("c")), config(**trials))
    assert plan.warnings == warns


RULES = st.builds(TrialRule, st.floats(0.01, 1), st.integers(1, 5)) | st.builds(
    TrialRule, st.floats(0.01, 0.99), st.integers(1, 5), st.floats(0.5, 0.99)
)


@given(RULES, st.integers(1, 40))
def test_accepted_rules_are_decidable_and_those_without_warning_both_ways(
    rule: TrialRule, num_runs: int
) -> None:
    reachable = {decide_share(rule, passed, num_runs) for passed in range(num_runs + 1)}
    assert bool(undecidable(rule, num_runs)) == reachable.isdisjoint({P, F})
    assume(not undecidable(rule, num_runs))
    assert bool(too_few_trials(rule, num_runs)) == (not {P, F} <= reachable)


@given(RULES)
def test_from_so_many_trials_on_a_case_can_pass(rule: TrialRule) -> None:
    needed = least_to_pass(rule)
    assume(needed < 10**6)
    assert decide_share(rule, needed, needed) is P
    assert decide_share(rule, needed - 1, needed - 1) is not P
