"""Faults of the catalogue (in brackets its numbers) in workers: contained, reported, and without effect on others.

The short counts run always; those of the catalogue at night.
"""

import re
import time
from pathlib import Path

import pytest

import proctor
from proctor.schema.evidence.trial import FailureKind
from tests.agents.process import agents_to_isolate
from tests.agents.process.conftest import Pids, eval_set, failure_of, run, texts_of, times, trial_of

pytestmark = pytest.mark.slow  # starts processes

BLOCKS = f"{agents_to_isolate.__file__}:blocks"
TIMEOUT = 4.0
"""Seconds; it has to be enough for a worker to start on a busy machine."""


@times(1)
def test_worker_over_its_memory_limit_is_an_error_and_the_run_continues(times: int) -> None:
    """[6]"""
    for _ in range(times):
        result = run(BLOCKS, ["ok"], ["memory"], ["ok"], isolate_memory="256MB", concurrency=1)
        failure = failure_of(result, 1)
        assert (failure.type, failure.kind) == ("MemoryError", FailureKind.RAISED)
        assert "its memory is limited to 256 MB" in failure.message
        assert [result.cases[case].passed for case in (0, 2)] == [True, True]


def test_memory_limit_below_the_size_of_the_agent_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text("KEPT = bytearray(2**30)\ndef agent(text): return 'ok'\n")
    with pytest.raises(proctor.SetupError, match=r"(?s)MemoryError.*limited to 256 MB"):
        run(f"{tmp_path / 'large.py'}:agent", ["hi"], isolate_memory="256MB")


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("harm", "kind", "message"),
    [
        ("exit", FailureKind.CRASHED, r"ended \(exit code 7\) before its answer was done"),
        ("segfault", FailureKind.CRASHED, r"crashed \(SIGSEGV\) before its answer was done"),
        ("close-all", FailureKind.CRASHED, "before its answer was done"),
        ("stop-loop", FailureKind.RAISED, ""),
        ("large", FailureKind.RAISED, "x…"),
    ],
)
def test_what_ends_or_breaks_a_worker_is_one_trial_s_failure(
    harm: str, kind: FailureKind, message: str
) -> None:
    """[17, 21]"""
    result = run(BLOCKS, ["ok"], [harm], ["ok"], isolate=True, concurrency=1)
    failure = failure_of(result, 1)
    assert failure.kind is kind, failure.message
    assert re.search(message, failure.message), failure.message
    assert [result.cases[case].passed for case in (0, 2)] == [True, True]


@pytest.mark.nightly(check=1)
@times(1)
@pytest.mark.parametrize("hang", ["never", "sleep", "swallow", "c-loop"])
def test_any_hang_ends_at_its_deadline_and_the_others_keep_theirs(hang: str, times: int) -> None:
    """[18] The others, at the same time, keep theirs: none is late by more than a tenth of the limit.

    The tenth is measured by the nightly run, which has the machine for itself; a busy one has more grace.
    """
    grace = TIMEOUT * (0.1 if times > 1 else 4)
    for _ in range(times):
        began = time.monotonic()
        result = run(BLOCKS, [hang], ["ok"], ["ok"], ["ok"], isolate=True, timeout=TIMEOUT, concurrency=2)
        took = time.monotonic() - began
        failure = failure_of(result)
        assert (failure.kind, failure.message) == (
            FailureKind.TIMED_OUT,
            f"no answer within the time of one turn ({TIMEOUT:g} s)",
        )
        turn = trial_of(result).turns[0]
        assert turn.duration is not None
        assert TIMEOUT <= turn.duration <= TIMEOUT + grace
        assert all(result.cases[case].passed for case in (1, 2, 3))
        for case in (1, 2, 3):
            duration = trial_of(result, case).turns[0].duration
            assert duration is not None
            assert duration <= grace
        assert took < 5 + TIMEOUT + 4 * grace  # and workers are started, too


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize("what", ["none", "bytes", "object", "unknown", "circle", "number", "list"])
def test_garbage_is_an_error(what: str) -> None:
    """[19]"""
    agent = f"{agents_to_isolate.__file__}:garbage"
    assert failure_of(run(agent, [what], isolate=True)).kind is FailureKind.BROKE_CONTRACT


@pytest.mark.nightly(check=2)
@times(1, 10)
@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("return 'x' * 100_000_000", FailureKind.BROKE_CONTRACT, "a line of more than 33,554,432 bytes"),
        ("return 'x' * 2_000_000", FailureKind.UNUSABLE_ANSWER, "2,000,000 characters cut to 1,048,576"),
        ("for _ in range(1_000_000): yield 'x'", FailureKind.BROKE_CONTRACT, "more than 10000 events"),
        ("while True: yield 'x'", FailureKind.BROKE_CONTRACT, "more than 10000 events"),
    ],
)  # fmt: skip
def test_an_answer_that_is_too_much_is_an_error_and_takes_no_memory_here(
    text: str, kind: FailureKind, message: str, times: int, tmp_path: Path
) -> None:
    """[20]"""
    before = _most_memory()
    (tmp_path / "much.py").write_text(f"def agent(text):\n    {text}\n")
    for _ in range(times):
        result = run(f"{tmp_path / 'much.py'}:agent", ["hi"], isolate=True, timeout=30)
        failure = failure_of(result)
        assert (failure.kind, message in failure.message) == (kind, True), failure
    assert _most_memory() < max(500, before + 100)


def _most_memory() -> int:
    """Return the peak memory of this process, in MiB; 0 where it is unknown."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return 0
    lines = status.read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


@pytest.mark.nightly(check=2)
@times(1)
@pytest.mark.parametrize("harm", ["streams", "surroundings", "threads", "tasks"])
def test_what_a_trial_does_to_its_process_is_not_there_for_the_next(
    harm: str, times: int, capfd: pytest.CaptureFixture[str]
) -> None:
    """[21]"""
    for _ in range(times):
        result = run(BLOCKS, [f"{harm} ok"], ["look ok"], isolate=True, concurrency=1)
        assert result.passed
        assert texts_of(result, 1) == ["look ok "]
    assert "not json" not in "".join(capfd.readouterr())


def test_what_an_agent_started_ends_with_its_worker(pids: Pids, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIDS_OF_TEST", str(pids.folder))
    result = run(BLOCKS, ["fork"], ["ok"], isolate=True)
    assert failure_of(result).kind is FailureKind.CRASHED
    assert len(pids()) == 1
    assert pids.left() == []


@pytest.mark.nightly
@times(1)
def test_no_session_sees_another(times: int) -> None:
    """[22]"""
    for _ in range(times):
        cases = eval_set(*[["who", "again"]] * 200)
        for number, case in enumerate(cases["eval_cases"]):
            case["session_input"]["state"] = {"id": f"<{number}>"}
        result = proctor.evaluate_sync(
            BLOCKS, cases, isolate=True, concurrency=20, config={"criteria": {"response_match_score": 0.5}}
        )
        texts = [texts_of(result, case) for case in range(200)]
        assert texts == [[f"who <{number}>", f"again <{number}>"] for number in range(200)]
