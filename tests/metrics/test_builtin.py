"""Every metric of the format is known by name, and loads only when asked for."""

import subprocess
import sys

import pytest

from proctor.common.registry import METRICS
from proctor.errors import UnknownNameError
from proctor.metrics.builtin import METRICS as TABLE
from proctor.schema.format.criterion import PrebuiltMetrics

ADK = [metric.value for metric in PrebuiltMetrics]


def test_all_names_of_the_format_are_known_in_its_order() -> None:
    assert list(TABLE)[: len(ADK)] == ADK


@pytest.mark.parametrize("name", TABLE)
def test_facts_are_complete(name: str) -> None:
    facts = METRICS.get(name).facts
    assert facts.name == name
    assert facts.description.endswith(".")
    assert facts.source


@pytest.mark.parametrize("name", [name for name in TABLE if "judge" in METRICS.get(name).facts.needs])
def test_metric_with_a_judge_is_marked_as_such(name: str) -> None:
    assert METRICS.get(name).facts.kind == "judge"
    assert hasattr(METRICS.get(name), "use")


def test_a_misspelled_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'tool_trajectory_avg_score'"):
        METRICS.get("tool_trajectory_average_score")


@pytest.mark.slow
def test_listing_names_loads_no_metric() -> None:
    code = (
        "import sys; from proctor.common.registry import METRICS; METRICS.names(); "
        "print(sorted(m for m in sys.modules if m.startswith('proctor.metrics')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['proctor.metrics', 'proctor.metrics.builtin']"
