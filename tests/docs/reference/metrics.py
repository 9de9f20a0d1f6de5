"""The reference page of all options of metrics, from their facts."""

import json
from collections.abc import Iterator

from proctor.common.registry import load_object
from proctor.metrics.base import MetricFacts, example_of, metric_options, needs_of, range_of
from proctor.metrics.builtin import METRICS

PAGE = "reference/metrics/options.md"

HEAD = """# Options of metrics

`make reference` writes this page from the output of `proctor metrics NAME`. [Metrics](index.md) describes what each metric measures,
what it cannot see, and the options that every metric accepts.
"""


def available() -> list[MetricFacts]:
    """The facts of every built-in metric of this version."""
    return [load_object(path).facts for path in METRICS.values()]


def pages() -> dict[str, str]:
    """Return the text of the page by its path in `docs`."""
    return {PAGE: "\n".join([HEAD, *(line for facts in available() for line in _section(facts))])}


def _section(facts: MetricFacts) -> Iterator[str]:
    yield f"## {facts.name}"
    yield ""
    yield facts.description
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| kind | {facts.kind} |"
    yield f"| needs | {needs_of(facts)} |"
    if facts.gates:
        yield f"| scores | {range_of(facts)} |"
    else:
        yield "| decides | nothing: it is always reported, and takes no threshold |"
    if facts.default_threshold is not None:
        yield f"| threshold | {facts.default_threshold:g} unless the criterion sets another |"
    for name, meaning in metric_options(facts).items():
        if name in facts.options:
            yield f"| option `{name}` | {meaning.replace('|', chr(92) + '|')} |"
    yield f"| from | {facts.source} |"
    yield ""
    if facts.gates:
        yield "```json config"
        yield json.dumps({"criteria": example_of(facts)}, indent=2, ensure_ascii=False)
        yield "```"
        yield ""
