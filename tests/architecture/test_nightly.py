"""The nightly suite has the kills, the fuzzing, the injections and the security matrix."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
ATTACKS = re.findall(r"tests/[\w/]+\.py", MAKEFILE.partition("ATTACKS :=")[2].partition(".PHONY")[0])


@pytest.mark.parametrize(
    "subject",
    ["fuzz", "injection", "security/test_middleware", "target_addresses", "generated_requests", "secrets"],
)
def test_make_nightly_runs_the_attacks(subject: str) -> None:
    assert "$(ATTACKS)" in MAKEFILE.partition("\nnightly: $(VENV)")[2].partition("\n\n")[0]
    [path] = [path for path in ATTACKS if subject in path]
    assert (ROOT / path).is_file()


@pytest.mark.parametrize(
    "path", ["tests/scenarios/kill/test_kill.py", "tests/scenarios/kill/test_every_call.py"]
)
def test_kills_are_marked_for_the_night(path: str) -> None:
    assert "pytest.mark.nightly" in (ROOT / path).read_text(encoding="utf-8")
