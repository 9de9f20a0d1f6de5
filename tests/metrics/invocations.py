"""Makes invocations and case views for tests."""

from typing import Any

from proctor.metrics.base import CaseView
from proctor.schema.format.content import Content, FunctionCall, Part, user_text
from proctor.schema.format.invocation import IntermediateData, Invocation

Calls = list[tuple[str, dict[str, Any] | None]]


def turn(
    answer: str | None = None, calls: Calls | None = None, *, thought: str | None = None, **fields: Any
) -> Invocation:
    """One invocation; `calls=None` leaves `intermediate_data` null."""
    parts = [Part(text=thought, thought=True)] if thought is not None else []
    if answer is not None:
        parts.append(Part(text=answer))
    data = None
    if calls is not None:
        data = IntermediateData(tool_uses=[FunctionCall(name=name, args=args) for name, args in calls])
    return Invocation(
        user_content=user_text("q"),
        final_response=Content(role="model", parts=parts) if parts else None,
        intermediate_data=data,
        **fields,
    )


def view(actual: list[Invocation], expected: list[Invocation] | None = None, **fields: Any) -> CaseView:
    return CaseView(eval_id="case", actual=actual, expected=expected, **fields)
