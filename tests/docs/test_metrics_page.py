"""Every metric has its section in docs/reference/metrics, and every section its metric."""

import re
from pathlib import Path

from proctor.common.registry import load_object
from proctor.metrics.base import COMMON_OPTIONS
from proctor.metrics.builtin import METRICS

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "metrics"
TEXT = "\n".join(
    page.read_text(encoding="utf-8") for page in sorted(FOLDER.glob("*.md")) if page.name != "options.md"
)
AVAILABLE = [*METRICS]


def test_every_metric_has_its_section() -> None:
    sections = [
        title for title in re.findall(r"^## (.+)$", TEXT, re.MULTILINE) if "_" in title or title in METRICS
    ]
    assert sorted(sections) == sorted(AVAILABLE)


def test_every_option_is_on_the_page() -> None:
    options = {option for name in AVAILABLE for option in load_object(METRICS[name]).facts.options}
    assert [
        option
        for option in sorted(options | {*COMMON_OPTIONS})
        if f"`{option}`" not in TEXT and f'"{option}"' not in TEXT
    ] == []
