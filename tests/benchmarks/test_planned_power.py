"""Runs of the size that `proctor plan` recommends find the drop as often as promised."""

import pytest

from benchmarks.planned_power import SETTINGS, Setting, power
from proctor.stats.intervals import wilson

pytestmark = pytest.mark.slow
COMPARISONS = 100
_FEW_CASES = [one for one in SETTINGS if one.detect >= 0.2 or one.name == "steady, 1 trial"]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("setting", _FEW_CASES, ids=lambda setting: setting.name)
def test_the_power_is_what_was_promised(setting: Setting) -> None:
    found = power(setting, COMPARISONS)
    assert wilson(round(found.share * COMPARISONS), COMPARISONS, confidence=0.999)[1] >= setting.power
    assert found.cases < 120
