"""A secret in the command of a `cmd:` agent is hidden everywhere, for any output of the program."""

import asyncio
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.agents.process.line_reader import Tail
from proctor.common.secrets import HIDDEN, secrets_in
from proctor.web.pages.built_page import FOLDER
from tests.web.pages.single_file import make_page

SECRET = "s3cr:et/with 'signs'"

PROGRAM = """
import json, os, sys

how, secret = sys.argv[1], sys.argv[-1].partition("=")[2]
print("started with", *sys.argv, file=sys.stderr, flush=True)
if how == "before":
    sys.exit("no " + secret)
for line in sys.stdin:
    if json.loads(line)["type"] != "turn":
        continue
    if how == "crash":
        print("last words: " + secret, file=sys.stderr, flush=True)
        os._exit(3)
    elif how == "long":
        sys.exit("x" * 9 + secret + "y" * (4096 - len(secret) // 2) )
    elif how == "junk":
        print("junk", secret, flush=True)
    elif how == "half":
        print('{"type": "event", "text": "' + secret, end="", flush=True)
        sys.exit(1)
    elif how == "error":
        print(json.dumps({"type": "error", "code": "E", "message": "no: " + secret}), flush=True)
    elif how == "unknown":
        print(json.dumps({"type": "event", secret: secret}), flush=True)
        print(json.dumps({"type": secret}), flush=True)
    else:
        call = {"name": "f", "args": {"a": [secret], secret: 1}}
        parts = [{"text": "hello " + secret}, {"functionCall": call}]
        event = {"content": {"role": "model", "parts": parts}, "stateDelta": {"k": secret}}
        print(json.dumps({"type": "event", **event}), flush=True)
        print(json.dumps({"type": "event", "text": "done with " + secret}), flush=True)
        print(json.dumps({"type": "done", "state": {secret: secret}}), flush=True)
"""

EVAL_SET = {
    "eval_set_id": "s",
    "eval_cases": [
        {
            "eval_id": "c",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": "hi"}]},
                    "final_response": {"parts": [{"text": "hello"}]},
                }
            ],
        }
    ],
}


def shown_of(tmp_path: Path, *arguments: str) -> str:
    """All that a run prints, keeps and reports of an agent with these arguments."""
    program = tmp_path / "echo.py"
    program.write_text(PROGRAM)
    (tmp_path / "s.evalset.json").write_text(json.dumps(EVAL_SET))
    command = f"cmd:{shlex.join([sys.executable, str(program), *arguments])}"
    reports = [f"--report={name}={name}.out" for name in ("json", "html", "junit", "markdown")]
    proctor = [sys.executable, "-m", "proctor"]
    words = [*proctor, "eval", "--agent", command, "--set", "s.evalset.json", "-v", *reports]
    variables = {**os.environ, FOLDER: str(make_page(tmp_path / "page"))}
    ran = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    output = [ran.stdout, ran.stderr, *(path.read_text() for path in tmp_path.glob("*.out"))]
    for arguments_ in (["runs"], ["export", "latest", "--format", "jsonl"]):
        again = subprocess.run(
            [*proctor, *arguments_], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        output += [again.stdout, again.stderr]
    return "\n".join(output)


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    "how",
    [
        "before",
        "crash",
        *(
            pytest.param(how, marks=pytest.mark.slow)
            for how in ("long", "junk", "half", "error", "unknown", "answer")
        ),
    ],
)
def test_what_a_program_echoes_shows_no_secret(how: str, tmp_path: Path) -> None:
    output = shown_of(tmp_path, how, f"--key={SECRET}")
    assert HIDDEN in output
    for part in (SECRET, "s3cr", "signs"):
        assert part not in output


@pytest.mark.parametrize(
    ("command", "secrets"),
    [
        ("./x --key=SECRET", ["SECRET"]),
        ("./x --api-key SECRET1 --fast", ["SECRET1"]),
        ("./x '--key=two words'", ["two%20words", "two words"]),
        ("env MY_TOKEN=abcdef ./x", ["abcdef"]),
        ("./x http://me:pass@host/", ["pass"]),
        ("./x 'http://host/?token=abcd&q=1'", ["abcd"]),
        ("./x -H 'Authorization: Bearer abc.def'", ["abc.def"]),
        ("./x sk-proj-0123456789abcdef", ["sk-proj-0123456789abcdef"]),
        ("./x --auth=true --key=ab --token=basic --keys=abcdef", []),
        ("./x --key=/etc/hosts --password --verbose", []),
        ("./x --key=***", []),
    ],
)
def test_the_secrets_of_a_command(command: str, secrets: list[str]) -> None:
    assert secrets_in(shlex.split(command)) == secrets


@pytest.mark.parametrize("cut", range(len("SECRET")))
def test_secret_cut_at_the_start_of_the_last_output_leaves_no_rest(cut: int) -> None:
    async def words() -> str:
        tail = Tail(["SECRET"])
        tail.data_received(b"SECRET" + b"x" * (4096 - len("SECRET") + cut))
        return tail.text()

    text = asyncio.run(words())
    assert not set("SECRT") & set(text)
    assert text.endswith("x" * 4000)


@pytest.mark.slow
def test_output_of_a_program_without_secrets_is_unchanged(tmp_path: Path) -> None:
    assert "done with hello" in shown_of(tmp_path, "answer", "--name=hello")
