"""Small eval sets for the tests of this folder."""

from typing import Any


def content(text: str, role: str = "user") -> dict[str, Any]:
    return {"parts": [{"text": text}], "role": role}


def turn(text: str = "hi", **more: Any) -> dict[str, Any]:
    return {"user_content": content(text), **more}


def case(eval_id: str = "a", **more: Any) -> dict[str, Any]:
    return {"eval_id": eval_id, "conversation": [turn()], **more}


def eval_set(*cases: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"eval_set_id": "s", "eval_cases": list(cases) or [case()], **more}
