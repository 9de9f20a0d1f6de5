"""The problems of a requested run, each with the field of the form that it concerns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from proctor.common.safe_text import clean
from proctor.web.pages.start import StartProblem, StartProblems, StartRun

_OUR_FILE = re.compile(r"^\.proctor/criteria/\w+\.json(:\d+)*: ")
"""The location of a problem in the file of generated criteria, which the user of the page does not know."""


class ProblemsError(Exception):
    """The requested run has problems."""

    def __init__(self, problems: Sequence[StartProblem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(problem.message for problem in self.problems))


async def problems_response(_request: Request, error: Exception) -> JSONResponse:
    """Return 422 with all problems."""
    problems = error.problems if isinstance(error, ProblemsError) else []
    cleaned = [one.model_copy(update={"message": clean(one.message, lines=True)}) for one in problems]
    body = StartProblems(detail="\n".join(one.message for one in cleaned), problems=cleaned)
    return JSONResponse(body.model_dump(), status_code=422)


def attribute_problems(problems: Sequence[Mapping[str, Any]], asked: StartRun | None) -> list[StartProblem]:
    """Return the command's problems, each with its field; without `asked` there is no form."""
    return [_attribute(problem, asked) for problem in problems]


def _attribute(problem: Mapping[str, Any], asked: StartRun | None) -> StartProblem:
    message, kind = _OUR_FILE.sub("", str(problem["message"])), str(problem.get("kind", ""))
    if asked is None:
        return StartProblem(field="", message=message, metric="")
    metric = _metric(message, [str(part) for part in problem.get("path") or ()], asked.criteria or {})
    signs = _signs(message, kind, metric, asked)
    return StartProblem(
        field=next((field for field, holds in signs if holds), ""), message=message, metric=metric
    )


def _metric(message: str, path: Sequence[str], chosen: Collection[str]) -> str:
    if len(path) > 1 and path[0] == "criteria" and path[1] in chosen:
        return path[1]
    named = (
        name for name in chosen if f"{name!r}" in message or f"{name}:" in message or f".{name}" in message
    )
    return next(named, "")


def _signs(message: str, kind: str, metric: str, asked: StartRun) -> list[tuple[str, bool]]:
    """Return fields, and whether a problem seems to concern them; the first match applies."""
    of_metrics = "criteria" if asked.criteria is not None else "config"
    named = any(chosen.path in message for chosen in asked.eval_sets)
    return [
        ("agent", kind == "AgentLoadError"),
        ("judge", message.startswith("judge")),
        (of_metrics, bool(metric) or kind == "CriterionError"),
        ("config", asked.config is not None and asked.config in message),
        ("tags", bool(asked.tags) and "tag" in message),
        ("eval_sets", named or kind == "EvalFileError"),
        ("failed_of", asked.failed_of is not None and asked.failed_of in message),
        (of_metrics, "metric" in message or "criteria" in message),
        ("judge", "judge" in message),
        ("eval_sets", "case" in message),
    ]
