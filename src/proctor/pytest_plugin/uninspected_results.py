"""Fail a test that passes only because it did not await, inspect or evaluate something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proctor.common.safe_text import clean
from proctor.pytest_plugin.collection import item_name
from proctor.pytest_plugin.failures import case_text, line_of
from proctor.pytest_plugin.fixtures import origin_of
from proctor.pytest_plugin.inspected_results import NOT_AWAITED, is_inspected, passed
from proctor.pytest_plugin.session_watch import Watch, is_to_evaluate, parametrized_case
from proctor.schema.format.case import EvalCase
from proctor.schema.results.run_result import RunResult

_MAX_CASES = 3
"""Maximum number of cases shown for one result."""


def fail_if_ignored(watch: Watch, item: pytest.Item, *, has_returned: bool) -> None:
    """Fail the test if it ignored a result, or (`has_returned`: its function has returned) evaluated nothing."""
    __tracebackhide__ = True
    problem = _problem(watch, item, has_returned=has_returned)
    watch.forget()
    if problem:
        pytest.fail(problem, pytrace=False)


def _problem(watch: Watch, item: pytest.Item, *, has_returned: bool) -> str:
    """Return why a test must fail, or an empty string; `has_returned`: the test function has returned."""
    if any(not object.__getattribute__(one, "_awaited") for one in watch.pending):
        return f"nothing was run: {NOT_AWAITED}"
    uninspected = (result for result in watch.results if not is_inspected(result) and not passed(result))
    problems = "\n".join(line for result in uninspected for line in _uninspected(result, item))
    return problems or (_not_evaluated(watch, item) if has_returned else "")


def _uninspected(result: object, item: pytest.Item) -> Iterator[str]:
    yield f"{clean(repr(result))} was not inspected: write `assert result`, or read another of its attributes"
    if not isinstance(result, RunResult):
        return
    for case in [case for case in result.cases if not case.passed][:_MAX_CASES]:
        yield case_text(case, item.config) or line_of(case)


def _not_evaluated(watch: Watch, item: pytest.Item) -> str:
    if watch.has_evaluated or not is_to_evaluate(item):
        return ""
    case = parametrized_case(item)
    if case is None:
        return "its marker names eval sets, and none was evaluated: write `assert evaluate()`"
    if not isinstance(case, EvalCase) or (origin := origin_of(case, item.config)) is None:
        return ""  # a parameter or a fixture of the test itself
    return (
        f"the case {item_name(case.eval_id)} was not evaluated: write `assert evaluate(eval_case)`. A test that only "
        f'reads cases takes them from proctor.load_eval_set("{clean(str(origin.path))}").eval_cases, with '
        "pytest.mark.parametrize"
    )
