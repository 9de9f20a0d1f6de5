"""The commands on a store in PostgreSQL: they print what they print on a SQLite file."""

import re
from pathlib import Path

import pytest

from tests.cli.project import in_this_process
from tests.stores.postgres.server import PostgresServer

_SET = """
cases:
  - id: one
    ask: Ann
    expect: Hello Ann
  - id: two
    ask: Bob
    expect: Hello Bo
"""
_COMMANDS = [
    "eval agent.py greet.evalset.yaml",
    "eval agent.py greet.evalset.yaml --trials 3",
    "runs",
    "show latest",
    "show latest two",
    "compare latest~1 latest",
    "score latest --config strict.json",
    "history",
    "resume latest",
    "export json latest",
    "prune --keep 1 --yes",
    "runs",
]
_VARIES = [
    (r"(?m)^(FIGURES|MEASURE  trial_seconds|MEASURE  invocation_duration_v1).*\n", ""),
    (r"\b[a-z0-9]{10}\b(?=\W|$)", "RUN_ID"),
    (r"(run=|RUN  |run |  )[a-z0-9]{6}\b", r"\1RUN"),
    (r"20\d\d-\d\d-\d\d[T ][\d:.+Z]+", "TIME"),
    (r"-?\d+(\.\d+)?(e-\d+)? ?m?s\b", "SECONDS"),
    (r"-?\d+(\.\d+)?e-\d+|-?\d+\.\d+", "N"),
]


def _outputs(url: str) -> list[tuple[int, str, str]]:
    found = []
    for command in _COMMANDS:
        result = in_this_process(*command.split(), "--store", url)
        found.append((result.returncode, result.stdout, result.stderr))
    return found


def _without_times(text: str) -> str:
    for pattern, replacement in _VARIES:
        text = re.sub(pattern, replacement, text)
    return text


@pytest.mark.slow
def test_commands_print_the_same_as_on_a_file(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text("def root_agent(text: str) -> str:\n    return 'Hello ' + text\n")
    Path("greet.evalset.yaml").write_text(_SET)
    Path("strict.json").write_text('{"criteria": {"response_match_score": 1.0}}')
    on_server, in_file = _outputs(postgres.new_url()), _outputs("sqlite:runs.db")
    for command, (code, printed, errors), (expected_code, expected, _) in zip(
        _COMMANDS, on_server, in_file, strict=True
    ):
        assert code == expected_code, errors
        assert "Traceback" not in errors
        assert "p4ss" not in printed + errors
        shown = re.sub(r"postgresql://\w+@127\.0\.0\.1:\d+/[^\s:]+", "runs.db", printed)
        assert _without_times(shown) == _without_times(expected), command
