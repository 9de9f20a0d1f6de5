"""The audit with an agent: places where it could see the expected values are named, an honest agent is not accused."""

import json
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.authoring.audit.audit_report import audit_data, audit_text
from proctor.authoring.audit.audit_sentence import shortfall
from proctor.schema.analysis.audit_result import AuditResult, LeakageCheck
from tests.authoring.test_audit import case, turn

MESSAGE, ANSWER = "Please book a table for tonight", "The table is booked for 4 people at 7 pm."
SETS = {
    "eval_set_id": "s",
    "eval_cases": [case("seats", turn(MESSAGE, ANSWER)), case("hi", turn("Hi", "Hello there, my friend!"))],
}
LOOK_UP = """
import json, os, sqlite3
from pathlib import Path
from typing import Any

def root_agent(text):
    {}
    return "?"
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.evalset.json").write_text(json.dumps(SETS))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/answers.jsonl").write_text(json.dumps({"q": MESSAGE, "a": ANSWER}) + "\n")
    os.utime(tmp_path / "other/answers.jsonl", (0, 0))
    tables: dict[str, list[tuple[Any, ...]]] = {
        "answers.db": [(MESSAGE, ANSWER)],
        "shop.db": [("a table", 4), ("Hello there, my friend!", 7)],
    }
    for name, table in tables.items():
        with closing(sqlite3.connect(tmp_path / name)) as database, database:
            database.execute('CREATE TABLE "a ""table""" (first, second)')
            database.executemany('INSERT INTO "a ""table""" VALUES (?, ?)', table)
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "facts.json").write_text(json.dumps({"tables": 4, "greeting": "Hello there, my friend!"}))
    return tmp_path


def check(agent: str | object) -> LeakageCheck:
    found = audit(agent)
    assert found.leakage is not None
    return found.leakage


def audit(agent: str | object) -> AuditResult:
    config = {"criteria": {"response_match_score": 0.8}}
    return proctor.audit_sync("cases.evalset.json", config=config, agent=agent, proposals=False)


@contextmanager
def written(name: str, text: str) -> Iterator[str]:
    Path(f"{name}.py").write_text(text)
    try:
        yield f"{name}.py"
    finally:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("code", "where", "ids"),
    [
        pytest.param("Path('cases.evalset.json').read_text()", "opened the eval set cases.evalset.json", [], id="the eval set"),
        pytest.param("os.close(os.open('cases.evalset.json', 0))", "opened the eval set", [], id="by a descriptor"),
        pytest.param("Path('other/answers.jsonl').read_text()", "opened other/answers.jsonl", ["seats"], id="a copy of the answers"),
        pytest.param("sqlite3.connect('answers.db').execute('SELECT 1')", "opened answers.db", ["seats"], id="a database with the answers"),
        pytest.param(f"return {{{MESSAGE!r}: {ANSWER!r}}}.get(text, '?')", "leak_agent.py has the message", ["seats"], id="a table in its code"),
    ],
)  # fmt: skip
def test_an_agent_that_could_see_the_expected_values_is_named(code: str, where: str, ids: list[str]) -> None:
    with written("leak_agent", LOOK_UP.format(code)) as agent:
        found = audit(agent)
    assert found.leakage is not None
    (leak,) = found.leakage.leaks
    assert where in leak.what
    assert list(leak.eval_ids) == ids
    assert "could see the expected values" in audit_text(found)
    assert "could see expected values" in shortfall(found, 0.0)


def test_a_file_that_is_read_while_the_agent_is_imported_counts() -> None:
    with written(
        "leak_import",
        "from pathlib import Path\ntext = Path('cases.evalset.json').read_text()\ndef root_agent(text): return '?'",
    ) as agent:
        assert "opened the eval set" in check(agent).leaks[0].what


def test_an_answer_in_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOKING", f"say: {ANSWER}")
    (leak,) = check(lambda text: "?").leaks
    assert (leak.what, leak.eval_ids) == (
        "the environment variable BOOKING has the expected answer",
        ["seats"],
    )


HONEST = {
    "a fixed answer, as recorded": f"return {ANSWER!r}",
    "a keyword and a greeting": "return 'Hello there, my friend!' if text == 'Hi' else '?'",
    "facts from a file": "return str(json.loads(Path('facts.json').read_text()))",
    "its own log": f"Path('log.txt').write_text(text + {ANSWER!r}); Path('log.txt').read_text()",
    "a database with facts": "sqlite3.connect('file:shop.db?mode=ro', uri=True).execute('SELECT 1')",
    "its own database": "sqlite3.connect('memory.db').close()",
}


@pytest.mark.parametrize("code", HONEST.values(), ids=list(HONEST))
def test_an_honest_agent_is_not_accused(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", "Hello there, my friend!")
    monkeypatch.setenv("EVAL_SET", "cases.evalset.json")
    with written("leak_honest", LOOK_UP.format(code)) as agent:
        found = audit(agent)
    assert found.leakage is not None
    assert found.leakage.leaks == []
    assert found.leakage.within_reach == ["cases.evalset.json"]
    assert "no sign that it could see expected values" in audit_text(found)
    assert not shortfall(found, 0.0)


def test_only_the_code_of_the_agent_is_read_and_not_that_of_its_caller() -> None:
    caller = (
        f"import proctor\nCASES = {SETS!r}\ndef agent(text): return '?'\n"
        "FOUND = proctor.audit_sync(CASES, agent=agent, proposals=False, config={'criteria': {'exact_match': 1}})\n"
    )
    Path("caller.py").write_text(caller)
    variables: dict[str, AuditResult] = {}
    exec(compile(caller, "caller.py", "exec"), variables)
    leakage = variables["FOUND"].leakage
    assert leakage is not None
    assert leakage.leaks == []


def test_the_check_reports_what_it_does_not_look_at() -> None:
    with written("leak_command", f"TABLE = {{{MESSAGE!r}: {ANSWER!r}}}") as file:
        found = check(f"cmd:{sys.executable} {file}")
    assert "the files that its process opens" in found.not_looked_at
    assert [leak.eval_ids for leak in found.leaks] == [["seats"]]

    def fails(text: str) -> str:
        raise ValueError("no key")

    failed = check(fails)
    assert any("seats" in each and "no key" in each for each in failed.not_looked_at)
    assert any(each.startswith("the texts of 1 case") for each in failed.not_looked_at)


def test_the_data_of_the_audit_has_the_check() -> None:
    data = audit_data(audit(lambda text: "?"))["leakage"]
    assert data["leaks"] == []
    assert any("environment variable" in each for each in data["looked_at"])
