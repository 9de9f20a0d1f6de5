"""`cmd:`: unrequested output of a process is not part of an answer, and is reported."""

import pytest

from proctor.schema.evidence.trial import FailureKind
from tests.agents.process.conftest import Pids, failure_of, run
from tests.agents.process.test_command import LOOP, Program


@pytest.mark.parametrize(
    "more", ['{"text": "ok"}', '{"type": "done"}', '{"type": "error", "message": "boom"}', "oops"]
)
def test_more_than_was_asked_breaks_the_protocol_in_the_last_turn_too(
    more: str, program: Program, pids: Pids
) -> None:
    agent = program(LOOP + f"    say(text='ok'); print('{{\"type\": \"done\"}}\\n' + {more!r}, flush=True)\n")
    result = run(agent, ["a"], ["b", "c"], concurrency=1)
    for case in (0, 1):
        assert failure_of(result, case).kind is FailureKind.BROKE_CONTRACT
        assert "behind the 'done' of its answer" in failure_of(result, case).message
    assert len(pids()) == 2
    assert pids.left() == []
