"""How many new trials of the cases that moved an inconclusive comparison proposes."""

import pytest
from scipy import stats

from proctor.analysis.compare.detectable import POWER
from proctor.analysis.compare.next_steps import FEWEST_TRIALS, MOST_TRIALS, trials_to_show
from proctor.schema.analysis.comparison import CaseChange, ChangedCase, Trials

LEVEL = 0.02


def moved(base: tuple[int, int], candidate: tuple[int, int], *, missing: int = 0) -> ChangedCase:
    """A case that fell; each run as (passed, failed) trials."""
    return ChangedCase(
        "desk", "case", CaseChange.NOW_FAILS, Trials(*base), Trials(*candidate, missing), "", None
    )


def power(trials: int, base: float, now: float, level: float) -> float:
    """The probability that scipy's Fisher test of both runs is significant."""
    total = sum(
        stats.binom.pmf(before, trials, base) * stats.binom.pmf(passed, trials, now)
        for before in range(trials + 1)
        for passed in range(trials + 1)
        if stats.fisher_exact(
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
