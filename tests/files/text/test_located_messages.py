"""A sentence that begins with a place is a finding at that place."""

from typing import Any

import pytest

from proctor.files.text.validation_messages import locate_message, near_key

DOCUMENT = {
    "a": {"b": [{"c": 1}, {"c.d": 2, "c": {"d": 3}}]},
    "a.b": {"x": 0},
    "sessionInput": {"trajectoryRules": [{"never": "x"}]},
    "weird key: with [1]": {"y": 1},
    "": 1,
    "n": 5,
}


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("a: wrong", ("a",), "wrong"),
        ("a.b[0].c: wrong", ("a", "b", 0, "c"), "wrong"),
        ("a.b[1].c.d: wrong", ("a", "b", 1, "c.d"), "wrong"),
        ("a.b.x: wrong", ("a.b", "x"), "wrong"),
        (
            "session_input.trajectory_rules[0].never: wrong",
            ("sessionInput", "trajectoryRules", 0, "never"),
            "wrong",
        ),
        ("sessionInput.trajectoryRules[0]: wrong", ("sessionInput", "trajectoryRules", 0), "wrong"),
        ("weird key: with [1].y: wrong", ("weird key: with [1]", "y"), "wrong"),
        ("a.b[7].c: wrong", ("a", "b"), "[7].c: wrong"),
        ("a.missing.deep[2]: got x: y.", ("a",), "missing.deep[2]: got x: y"),
        ("n.more: wrong", ("n",), "more: wrong"),
        ("missing[0].x: wrong", (), "missing[0].x: wrong"),
        ("no place at all", (), "no place at all"),
        ("it is about: two things", (), "it is about: two things"),
        ("a", (), "a"),
        ("ab: wrong", (), "ab: wrong"),
    ],
)
def test_the_document_decides_where_a_place_ends(text: str, path: Any, message: str) -> None:
    finding = locate_message(text, DOCUMENT, ("base",))
    assert (finding.path, finding.message) == (("base", *path), message)


@pytest.mark.parametrize(
    ("key", "known", "near"),
    [
        pytest.param("finalRespons", ("final_response", "final_state"), "final_response", id="a letter less"),
        pytest.param("rui", ("uri", "data"), "uri", id="swapped letters of a short key"),
        pytest.param("comment", ("uri", "data"), "", id="another word"),
    ],
)
def test_a_misspelled_key_is_recognised(key: str, known: tuple[str, ...], near: str) -> None:
    assert near_key(key, known) == near
