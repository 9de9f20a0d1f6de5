"""Every metric of the format is known by name, and loads only when asked for."""

import subprocess
import sys

import pytest

from proctor.errors import CriterionError, UnknownNameError
from proctor.metrics.builtin import METRICS as TABLE
from proctor.registry import METRICS
from proctor.schema.criterion import BaseCriterion, PrebuiltMetrics

ADK = [metric.value for metric in PrebuiltMetrics]
HERE = [
    "tool_trajectory_avg_score",
    "response_match_score",
    "tool_call_count_v1",
    "inference_call_count_v1",
    "token_usage_v1",
    "invocation_duration_v1",
]


def test_all_names_of_the_format_are_known_in_its_order() -> None:
    assert list(TABLE)[: len(ADK)] == ADK


@pytest.mark.parametrize("name", TABLE)
def test_facts_are_complete(name: str) -> None:
    facts = METRICS.get(name).facts
    assert facts.name == name
    assert facts.description.endswith(".")
    assert facts.source
    assert bool(facts.unavailable) == (name in ADK and name not in HERE)


@pytest.mark.parametrize("name", sorted(set(ADK) - set(HERE)))
def test_a_metric_that_is_not_in_this_build_is_refused_with_the_reason(name: str) -> None:
    metric = METRICS.get(name)
    assert "judge" in metric.facts.needs
    with pytest.raises(CriterionError, match=f"'{name}' cannot run: .*not in this build"):
        metric(BaseCriterion(threshold=0.5))


def test_a_misspelled_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'tool_trajectory_avg_score'"):
        METRICS.get("tool_trajectory_average_score")


def test_listing_names_loads_no_metric() -> None:
    code = (
        "import sys; from proctor.registry import METRICS; METRICS.names(); "
        "print(sorted(m for m in sys.modules if m.startswith('proctor.metrics')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['proctor.metrics', 'proctor.metrics.builtin']"
