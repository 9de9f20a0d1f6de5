"""How many new trials of the cases that moved an inconclusive comparison proposes."""

import pytest
import scipy

from proctor.analysis.compare.absent_cases import LEFT_OUT
from proctor.analysis.compare.error_rates import POWER
from proctor.analysis.compare.next_steps import (
    FEWEST_TRIALS,
    MOST_TRIALS,
    as_scored,
    next_steps,
    trials_to_show,
)
from proctor.runs.setup.judge_and_user import AN_OBJECT
from proctor.schema.analysis.comparison import (
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Trials,
)
from proctor.schema.results.manifest import AgentManifest, Manifest, ScoringManifest, SetManifest

LEVEL = 0.02
COMMAND = "proctor eval bot.py desk.json:case --trials 5"


def moved(base: tuple[int, int], candidate: tuple[int, int], *, missing: int = 0) -> ChangedCase:
    """A case that fell; each run as (passed, failed) trials."""
    return ChangedCase(
        "desk", "case", CaseChange.NOW_FAILS, Trials(*base), Trials(*candidate, missing), "", None
    )


def power(trials: int, base: float, now: float, level: float) -> float:
    """The probability that scipy's Fisher test of both runs is significant."""
    total = sum(
        scipy.stats.binom.pmf(before, trials, base) * scipy.stats.binom.pmf(passed, trials, now)
        for before in range(trials + 1)
        for passed in range(trials + 1)
        if scipy.stats.fisher_exact(
            [[passed, trials - passed], [before, trials - before]], alternative="less"
        ).pvalue
        <= level
    )
    return float(total)


@pytest.mark.parametrize(
    ("cases", "base", "now"),
    [
        pytest.param([moved((5, 0), (2, 3))], 1.0, 0.4, id="5/5 to 2/5"),
        pytest.param([moved((4, 0), (1, 3))], 1.0, 0.25, id="4/4 to 1/4"),
        pytest.param([moved((5, 0), (2, 3))] * 3, 1.0, 0.4, id="three cases, with correction"),
        pytest.param([moved((5, 0), (4, 1)), moved((5, 0), (1, 4))], 1.0, 0.2, id="the case that fell most"),
        pytest.param([moved((4, 1), (1, 4))], 0.8, 0.2, id="both are flaky"),
    ],
)
def test_fewest_trials_that_show_the_change_in_80_percent(
    cases: list[ChangedCase], base: float, now: float
) -> None:
    trials = trials_to_show(cases, LEVEL)

    assert trials is not None
    assert trials > FEWEST_TRIALS
    assert power(trials, base, now, LEVEL / len(cases)) >= POWER
    assert power(trials - 1, base, now, LEVEL / len(cases)) < POWER


@pytest.mark.parametrize(
    ("case", "trials"),
    [
        pytest.param(moved((1, 0), (0, 1)), FEWEST_TRIALS, id="one trial: five new ones"),
        pytest.param(moved((5, 0), (0, 5)), FEWEST_TRIALS, id="always passed, always fails"),
        pytest.param(moved((3, 2), (2, 3)), None, id="more than 50 trials"),
        pytest.param(moved((1, 0), (0, 0), missing=1), FEWEST_TRIALS, id="no rate of the candidate"),
    ],
)
def test_limits_of_the_proposal(case: ChangedCase, trials: int | None) -> None:
    assert trials_to_show([case], LEVEL) == trials
    assert trials is None or trials <= MOST_TRIALS


def manifest(source: str, commit: str | None, reference: str = "bot.py") -> Manifest:
    """A run of the set `desk.json`."""
    agent = AgentManifest(reference=reference, source_hash=source, commit=commit)
    return Manifest(
        run_id="run", created_at=0.0, agent=agent, sets=[SetManifest(eval_set_id="desk", path="desk.json")]
    )


@pytest.mark.parametrize(
    ("base", "candidate", "text"),
    [
        pytest.param(
            manifest("old", "c0ffee"), manifest("new", "beef"), "baseline (first check out commit c0ffee): ", id="another commit"
        ),
        pytest.param(
            manifest("old", "c0ffee"), manifest("new", "c0ffee+"), "baseline (first check out commit c0ffee): ", id="now modified"
        ),
        pytest.param(
            manifest("old", f"{'c0ffee' * 6}dead+"), manifest("new", "beef"),
            "baseline (first check out commit c0ffeec0ffee and its uncommitted changes): ", id="modified before, the first 12 digits"
        ),
        pytest.param(
            manifest("old", None), manifest("new", None), "baseline (first check out the old source): ", id="commit unknown"
        ),
        pytest.param(manifest("same", None), manifest("same", None), "baseline: ", id="the same source"),
        pytest.param(
            manifest("old", "c0ffee", "old.py"), manifest("new", "c0ffee"), "baseline: ", id="two agents, one commit"
        ),
        pytest.param(
            manifest("old", "c0ffee", "old.py"), manifest("new", "beef"), "baseline (at commit c0ffee): ", id="two agents, two commits"
        ),
    ],
)  # fmt: skip
def test_base_command_names_the_source_to_check_out(base: Manifest, candidate: Manifest, text: str) -> None:
    runs = ComparedRun("a", "bot", 1), ComparedRun("b", "bot", 1)
    found = Comparison(*runs, Change.INCONCLUSIVE, "", 0.05, 0.95, cases=[moved((1, 0), (0, 1))])

    steps = list(next_steps(found, base, candidate, LEVEL))

    assert f"{text}proctor eval {base.agent.reference} desk.json:case --trials 5" in steps
    assert "candidate: proctor eval bot.py desk.json:case --trials 5" in steps


def test_commands_have_the_options_that_decide_what_is_run_and_how_it_is_scored() -> None:
    runs = ComparedRun("a", "bot", 1), ComparedRun("b", "bot", 1)
    found = Comparison(*runs, Change.INCONCLUSIVE, "", 0.05, 0.95, cases=[moved((1, 0), (0, 1))])
    now = manifest("new", "beef")
    now.options = {
        "config": "strict.json",
        "user": "customer.py:customer",
        "metrics": ["exact_match", "known_tools"],
        "no_judge": True,
        "timeout": 20.0,
        "trial_timeout": None,
        "concurrency": 4,
        "store": "runs.db",
    }

    steps = [*next_steps(found, manifest("old", "c0ffee"), now, LEVEL)]

    same = "--timeout=20.0 --user=customer.py:customer --config=strict.json --metrics=exact_match,known_tools --no-judge"
    assert f"candidate: proctor eval bot.py desk.json:case --trials 5 {same}" in steps


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"user": AN_OBJECT}, id="a simulated user in Python"),
        pytest.param({"setup": AN_OBJECT}, id="a hook in Python"),
        pytest.param({"config": {"criteria": {}}}, id="a config in Python"),
    ],
)
def test_no_command_where_it_would_run_something_else(options: dict[str, object]) -> None:
    runs = ComparedRun("a", "bot", 1), ComparedRun("b", "bot", 1)
    found = Comparison(*runs, Change.INCONCLUSIVE, "", 0.05, 0.95, cases=[moved((1, 0), (0, 1))])
    now = manifest("new", "beef")
    now.options = options

    assert "proctor eval" not in "".join(next_steps(found, manifest("old", "c0ffee"), now, LEVEL))


@pytest.mark.parametrize(
    ("trials", "last"),
    [
        pytest.param(5, f"compare new trials of the candidate with it: {COMMAND}", id="enough trials"),
        pytest.param(
            1, "store baselines with at least four trials of each case (--trials=4)", id="too few trials"
        ),
    ],
)
def test_a_base_that_cannot_be_run_again(trials: int, last: str) -> None:
    runs = ComparedRun("a", "bot", 1, trials), ComparedRun("b", "bot", 1)
    found = Comparison(*runs, Change.INCONCLUSIVE, "", 0.05, 0.95, cases=[moved((trials, 0), (0, 1))])
    baseline = manifest("old", None)
    baseline.agent.reference = None

    steps = [*next_steps(found, baseline, manifest("new", None), LEVEL)]

    assert steps[-1] == f"if the baseline cannot be run again{':' if trials == 1 else ','} {last}"
    assert len(steps) == 2


@pytest.mark.parametrize(
    ("scorings", "expected"),
    [((1, 1), "new.json"), ((2, 1), "new.json"), ((1, 2), "old.json")],
    ids=["as they were run", "the baseline was re-scored", "the candidate was re-scored"],
)
def test_new_trials_of_both_builds_are_scored_alike(scorings: tuple[int, int], expected: str) -> None:
    sides = []
    for name, number in zip(("old", "new"), scorings, strict=True):
        run = manifest(name, None)
        run.options = {"config": f"{name}.json", "timeout": 20.0 if name == "old" else 30.0}
        sides.append((run, ScoringManifest(number=number)))

    assert [one.options for one in as_scored(*sides)] == [
        {"timeout": 20.0, "config": expected}, {"timeout": 30.0, "config": expected}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("missing", "is_resumed"), [(6, False), (7, True)], ids=["only left out", "an error, too"]
)
def test_cases_that_were_left_out_are_not_missing_because_of_errors(missing: int, is_resumed: bool) -> None:
    runs = ComparedRun("a", "bot", 3, 3), ComparedRun("b", "bot", 1, 3)
    case = ChangedCase("desk", "case", CaseChange.MISSING, Trials(3, 0), Trials(0, 0), "", None, LEFT_OUT)
    found = Comparison(
        *runs, Change.ERROR, "", 0.05, 0.95, cases=[case], missing_candidate=missing, left_out=(0, 2)
    )

    steps = [*next_steps(found, manifest("old", None), manifest("new", None), LEVEL)]

    assert steps[0].startswith("run the candidate on all cases: it left out 2 cases (--limit")
    assert steps[1:] == ["get the missing verdicts: proctor resume b --retry-errors"] * is_resumed


def test_the_base_is_run_on_the_cases_that_it_left_out() -> None:
    runs = ComparedRun("a", "bot", 1, 3), ComparedRun("b", "bot", 3, 3)
    case = ChangedCase("desk", "case", CaseChange.MISSING, Trials(0, 0), Trials(0, 3), before=LEFT_OUT)
    found = Comparison(*runs, Change.ERROR, "", 0.05, 0.95, cases=[case], missing_base=6, left_out=(2, 0))

    steps = [*next_steps(found, manifest("old", None), manifest("new", None), LEVEL)]

    assert steps == [
        "run the baseline on all cases: it left out 2 cases (--limit, --tag, --failed, --changed-since or --shard)"
    ]


def test_a_run_of_several_parts_is_completed_before_its_errors_are_repeated() -> None:
    runs = ComparedRun("a", "bot", 2, 3), ComparedRun("b", "bot", 2, 3)
    found = Comparison(*runs, Change.ERROR, "", 0.05, 0.95, missing_base=1, missing_candidate=3)
    both = manifest("old", None), manifest("new", None)

    steps = [*next_steps(found, *both, LEVEL, shared=["b"])]

    assert [step.partition(": ")[2] for step in steps] == [
        "proctor resume b",
        "proctor resume a --retry-errors",
    ]


@pytest.mark.parametrize(
    ("is_baseline", "last"),
    [
        pytest.param(False, "", id="a run"),
        pytest.param(True, ", then store the baseline again", id="a baseline"),
    ],
)
def test_missing_verdicts_of_the_base_are_got_too(*, is_baseline: bool, last: str) -> None:
    runs = ComparedRun("a", "bot", 2, 3), ComparedRun("b", "bot", 2, 3)
    found = Comparison(*runs, Change.ERROR, "", 0.05, 0.95, missing_base=3)
    both = manifest("old", None), manifest("new", None)

    steps = [*next_steps(found, *both, LEVEL, is_baseline=is_baseline)]

    source = " (first check out the old source)"
    assert steps == [
        f"get the missing verdicts of the baseline{source}{last}: proctor resume a --retry-errors"
    ]


def test_every_command_names_the_store_of_the_runs() -> None:
    runs = ComparedRun("a", "bot", 1), ComparedRun("b", "bot", 1)
    cases = [moved((1, 0), (0, 1))]
    found = Comparison(
        *runs, Change.INCONCLUSIVE, "", 0.05, 0.95, cases=cases, missing_base=1, missing_candidate=1
    )
    both = manifest("old", None), manifest("new", None)

    steps = [*next_steps(found, *both, LEVEL, store=" --store=runs.db")]

    commands = [one.partition("proctor ")[2] for one in steps if "proctor " in one]
    assert [one.split()[0] for one in commands] == ["resume", "resume", "compare", "eval", "eval"]
    assert all("--store=runs.db" in one for one in commands)
