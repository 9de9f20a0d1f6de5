"""Content models equal those of google-genai with the same content, on either side of the comparison."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from proctor.schema.format import content as ours

pytestmark = pytest.mark.filterwarnings("ignore")  # google-genai warns about itself

CALL = {"name": "f", "args": {"a": 1, "deep": {"b": [None, 1.5, "x"]}}, "id": "c1"}
SAME: list[tuple[str, dict[str, Any]]] = [
    ("FunctionCall", CALL),
    ("FunctionCall", {"name": "f"}),
    ("FunctionCall", {"name": "f", "args": {}}),
    ("FunctionCall", {"name": "f", "args": {"none": None}}),
    ("FunctionResponse", {"name": "f", "response": {"ok": True}, "id": "c1"}),
    ("FunctionResponse", {"name": "f", "scheduling": "SILENT"}),
    ("Part", {"text": "x"}),
    ("Part", {"text": "", "thought": True, "thought_signature": b"\x00\xff"}),
    ("Part", {"function_call": CALL}),
    ("Part", {"inline_data": {"mime_type": "image/png", "data": b"\xfb\xef"}}),
    ("Part", {"executable_code": {"code": "1", "language": "PYTHON"}}),
    ("Part", {"code_execution_result": {"outcome": "OUTCOME_OK", "output": "1"}}),
    ("Content", {}),
    ("Content", {"role": "model", "parts": [{"text": "x"}, {"function_call": CALL}]}),
    ("GenerateContentResponseUsageMetadata", {"prompt_token_count": 3, "total_token_count": 4}),
]
DIFFERENT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("FunctionCall", CALL, {**CALL, "id": "c2"}),
    ("FunctionCall", CALL, {**CALL, "args": {}}),
    ("FunctionCall", {"name": "f"}, {"name": "f", "args": {}}),
    ("FunctionCall", {"name": "f", "args": {"a": None}}, {"name": "f", "args": {}}),
    ("FunctionCall", {"name": "f"}, {"name": "g"}),
    ("FunctionResponse", {"name": "f"}, {"name": "f", "response": {}}),
    ("Part", {"text": "x"}, {"text": "x", "thought": True}),
    ("Content", {"parts": [{"text": "x"}]}, {"parts": [{"text": "x"}], "role": "user"}),
    ("Content", {"parts": []}, {}),
]


@pytest.fixture(scope="module")
def theirs() -> Any:
    return pytest.importorskip("google.genai.types", reason="google-genai is not installed")


@pytest.mark.parametrize(("kind", "fields"), SAME, ids=str)
def test_the_same_content_is_equal_in_both_directions(theirs: Any, kind: str, fields: dict[str, Any]) -> None:
    mine, other = getattr(ours, kind)(**fields), getattr(theirs, kind)(**fields)
    assert (mine == other, other == mine) == (True, True)
    assert (mine != other, other != mine) == (False, False)
    assert [mine] == [other]
    assert [other] == [mine]
    assert mine in [theirs.Part(text="another"), other]
    assert other in [ours.Part(text="another"), mine]
    assert {"call": mine} == {"call": other}
    assert ([mine].index(other), [other].count(mine)) == (0, 1)


@pytest.mark.parametrize(("kind", "left", "right"), DIFFERENT, ids=str)
def test_different_content_is_different_in_both_directions(
    theirs: Any, kind: str, left: dict[str, Any], right: dict[str, Any]
) -> None:
    for first, second in [(left, right), (right, left)]:
        mine, other = getattr(ours, kind)(**first), getattr(theirs, kind)(**second)
        assert (mine == other, other == mine) == (False, False)
        assert (mine != other, other != mine) == (True, True)


def test_models_of_another_name_are_different(theirs: Any) -> None:
    assert ours.FunctionCall(name="f") != theirs.FunctionResponse(name="f")
    assert theirs.FunctionResponse(name="f") != ours.FunctionCall(name="f")
    assert ours.Content() != theirs.Part()
    assert theirs.Part() != "x"
    assert ours.Part() != 1


def test_each_library_compares_its_own_models_as_before(theirs: Any) -> None:
    assert theirs.FunctionCall(**CALL) == theirs.FunctionCall(**CALL)
    assert theirs.FunctionCall(name="f") != theirs.FunctionCall(name="g")
    assert ours.FunctionCall(**CALL) == ours.FunctionCall(**CALL)
    assert ours.FunctionCall(name="f") != ours.FunctionCall(name="g")


def test_neither_can_be_hashed_as_before(theirs: Any) -> None:
    """So no set or dict can hold two that are equal and apart."""
    for model in (ours.FunctionCall(name="f"), theirs.FunctionCall(name="f")):
        with pytest.raises(TypeError, match="unhashable"):
            hash(model)


ORDERS = {
    "google-genai first": "from google.genai import types\nfrom proctor.schema.format.content import FunctionCall",
    "Proctor first": "from proctor.schema.format.content import FunctionCall\nfrom google.genai import types",
    "google.genai.types by itself": "from proctor.schema.format.content import FunctionCall\nimport google.genai.types as types",
    "the top-level name": "from proctor import FunctionCall\nfrom google.genai import types",
}


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_imports_does_not_matter(order: str) -> None:
    script = (
        f"{ORDERS[order]}\n"
        "import inspect, sys\n"
        "mine, other = FunctionCall(name='f', args={'a': 1}), types.FunctionCall(name='f', args={'a': 1})\n"
        "print(mine == other, other == mine, 'class FunctionCall' in inspect.getsource(types))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True True True\n"


@pytest.mark.slow
def test_google_genai_is_not_imported_for_it() -> None:
    script = "import sys\nfrom proctor.schema.format.content import FunctionCall as F\nF(name='f') == F(name='g')\nprint(any(m.startswith('google') for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
