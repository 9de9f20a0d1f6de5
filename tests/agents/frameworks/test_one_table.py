"""One toy agent in every framework and protocol: identical verdicts, trajectories, final responses, final states."""

import pytest

from tests.agents.frameworks.comparison import NotHereError, answers, differences, line, outcome
from tests.agents.frameworks.one_table import BEGIN, END, PAGE
from tests.agents.frameworks.rows import ROWS, Row

EXPECTED = {
    "weather": "passed",
    "two_calls_at_once": "passed",
    "sub_agent": "passed",
    "memory": "passed",
    "state_given": "passed",
    "must_fail": "failed",
    "must_be_an_error": "error",
}


@pytest.mark.slow
def test_the_first_row_is_what_the_set_is_made_for() -> None:
    found = outcome(ROWS[0])
    assert {name: case["verdict"] for name, case in found.items()} == EXPECTED
    assert found["state_given"]["state"] == {"home": "Oslo"}
    assert found["sub_agent"]["authors"] == ["assistant", "units"]
    assert found["two_calls_at_once"]["turns"][0]["calls"] == [
        ["get_weather", {"city": "Oslo"}, {"condition": "rain", "celsius": 7}],
        ["get_weather", {"city": "Rome"}, {"condition": "sun", "celsius": 24}],
    ]
    assert found["must_be_an_error"]["failure"] == "agent raised"


@pytest.mark.nightly(check=3)
@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.toy)
def test_row_is_the_same_and_is_in_the_table(row: Row) -> None:
    try:
        found = outcome(row)
    except NotHereError as error:
        pytest.skip(str(error))
    assert "differs" not in answers(row, found).values(), differences(found)
    assert line(row, found) in _shown(), "run: python tests/agents/frameworks/one_table.py"


def test_the_table_has_a_line_for_each_row_and_no_other() -> None:
    kinds = [text.split("|")[1].strip() for text in _shown()[2:]]
    assert kinds == [row.kind for row in ROWS]


def _shown() -> list[str]:
    page = PAGE.read_text(encoding="utf-8")
    between = page.partition(BEGIN)[2].partition(END)[0]
    return between.strip().splitlines()
