"""The toy as a program in JavaScript that speaks JSON lines (`cmd:`). What it answers to what is written down for it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.agents.frameworks.toys.http_sse import answers

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "cmd_node.mjs"
SET = HERE.parent / "toy.evalset.json"


@contextmanager
def serve() -> Iterator[str]:
    """Write the script, and give the AGENT string; Proctor starts it."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("node is not installed")
    with TemporaryDirectory() as folder:
        script = Path(folder, "script.json")
        script.write_text(json.dumps(dict(_script())))
        yield f"cmd:{node} {PROGRAM} {script}"


def _script() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Return every turn of the set, by message and state: the actions of the behaviour that all toys share."""
    for case in json.loads(SET.read_text())["eval_cases"]:
        state = dict(case.get("session_input", {}).get("state", {}))
        for turn in case["conversation"]:
            text = turn["user_content"]["parts"][0]["text"]
            expected = list(answers({"text": text, "session": {"state": state}}))
            yield f"{text}\n{json.dumps(state, separators=(',', ':'))}", expected
            for answer in expected:
                state.update(answer.get("state_delta", {}))
