"""Eval sets of every sort, made by hypothesis: all JSON values, and the short forms of YAML."""

from typing import Any

from hypothesis import strategies as st

_ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TRICKY = [
    "", " ", "no", "on", "null", "~", "1", "1e3", "007", "0x1F", ".5", ".inf", "19:00", "2024-01-01", "a: b", "a #b",
    "- a", "{a}", "[a", "a]", "'", '"', "\\", "\t", "a\n", "\na", " a\nb ", "a\n\n b", "\r\n", "|", ">", "&a", "*a",
    "!a", "%a", "@a", "`a", "?", "? a", ":", "<<", "=", "---", "...", "#", "\u2028", "\x85", "\x7f", "\ufeff", "😀", "é",
    "a=b", "f(a=1)", "f(", ")", ",", "a, b", "\x1b[31m", "x" * 130, "word " * 40,
]  # fmt: skip
TEXTS = st.text(_ANY, max_size=8) | st.sampled_from(TRICKY)
NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
_SECONDS = st.floats(0, 1e10, exclude_max=True)
# keys of one's own, some of them words of the YAML form
_OWN = st.dictionaries(
    st.sampled_from(["x", "xNote", "ask", "tools", "case", "app", "extra", "<<", "1"]), JSON, max_size=2
)


def _object(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    known = st.fixed_dictionaries(required, optional=optional)
    return st.builds(lambda fields, own: {**own, **fields}, known, st.just({}) | _OWN)


def _message(role: str) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly one text of the usual role, as people write them."""
    usual = TEXTS.map(lambda text: {"parts": [{"text": text}], "role": role})
    part = _object({}, text=TEXTS, thought=st.booleans(), function_call=CALLS)
    return usual | _object({}, parts=st.lists(part, max_size=2), role=TEXTS)


_NAMES = st.sampled_from(["get_weather", "f", "name", "two words", "", "ns:x"])
CALLS = st.fixed_dictionaries({"name": _NAMES, "args": OBJECTS}) | _object(
    {}, id=TEXTS, name=_NAMES, args=OBJECTS
)
_RESPONSES = _object({}, id=TEXTS, name=TEXTS, response=OBJECTS)
_TEXTS = st.tuples(
    TEXTS,
    st.lists(st.builds(lambda text: {"text": text}, TEXTS) | _object({}, thought=st.booleans()), max_size=2),
)
_OLDER = _object(
    {},
    tool_uses=st.lists(CALLS, max_size=2),
    tool_responses=st.lists(_RESPONSES, max_size=2),
    intermediate_responses=st.lists(_TEXTS.map(list), max_size=2),
)
_EVENTS = st.lists(_object({"author": TEXTS}, content=_message("model")), max_size=2)
_DATA = _OLDER | st.fixed_dictionaries({"invocation_events": _EVENTS})
_RUBRICS = TEXTS.map(lambda text: {"criterion": text}) | _object(
    {"rubric_id": TEXTS, "rubric_content": _object({}, text_property=TEXTS)}, type=TEXTS, description=TEXTS
)
_TURNS = _object(
    {"user_content": _message("user")},
    final_response=_message("model"),
    intermediate_data=_DATA,
    invocation_id=TEXTS,
    duration=_SECONDS,
    rubrics=st.lists(_RUBRICS, max_size=2),
)
_CONVERSATIONS = st.fixed_dictionaries({"conversation": st.lists(_TURNS, max_size=2)})
_PERSONAS = st.sampled_from(["EXPERT", "NOVICE"]) | _object(
    {"id": TEXTS, "description": TEXTS, "behaviors": st.just([])}
)
_SCENARIOS = st.fixed_dictionaries(
    {
        "conversation_scenario": _object(
            {"starting_prompt": TEXTS, "conversation_plan": TEXTS}, user_persona=_PERSONAS
        )
    }
)
_ABOUT = _object(
    {},
    tags=st.lists(TEXTS, max_size=2) | JSON,
    session_input=_object({"app_name": TEXTS, "user_id": TEXTS}, session_id=TEXTS, state=OBJECTS),
    final_session_state=st.none() | OBJECTS,
    rubrics=st.lists(_RUBRICS, max_size=2),
    creation_timestamp=_SECONDS,
)
_CASES = st.builds(lambda what, about: {**about, **what}, _CONVERSATIONS | _SCENARIOS, _ABOUT)


def _numbered(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**case, "eval_id": f"{index} é"} for index, case in enumerate(cases)]


SETS = _object(
    {"eval_set_id": TEXTS, "eval_cases": st.lists(_CASES, max_size=2).map(_numbered)},
    name=TEXTS,
    description=TEXTS,
    creation_timestamp=_SECONDS,
)
