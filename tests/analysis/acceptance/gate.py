"""Agents that add two numbers, and a process that tests one of them: `python -m tests.analysis.acceptance.gate STORE CANDIDATE BUDGET`."""

from __future__ import annotations

import asyncio
import sys

import proctor
from proctor.errors import NoLooksLeftError
from proctor.schema import EvalSet

CONFIG = {"criteria": {"response_match_score": 1.0}}


def held_out_set(cases: int = 16, first: int = 0) -> EvalSet:
    """Sums with one."""
    found = [
        {
            "eval_id": f"sum_{number}",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": f"{number} + 1"}]},
                    "final_response": {"parts": [{"text": f"it is {number + 1}"}]},
                }
            ],
        }
        for number in range(first, first + cases)
    ]
    return EvalSet.model_validate({"eval_set_id": "sums", "eval_cases": found})


def right(text: str) -> str:
    """Add."""
    return f"it is {int(text.split(maxsplit=1)[0]) + 1}"


def only_odd(text: str) -> str:
    """Add to odd numbers."""
    return right(text) if int(text.split(maxsplit=1)[0]) % 2 else "no idea"


def unstable(text: str) -> str:
    """Fail on even numbers."""
    if int(text.split(maxsplit=1)[0]) % 2:
        return right(text)
    raise RuntimeError("no connection")


async def never(_text: str) -> str:
    """Report the first call, and never answer."""
    print("called", flush=True)
    await asyncio.Event().wait()
    return ""


def main(path: str, candidate: str, budget: str) -> None:
    """Report that it is ready, wait for a line, then test a candidate, and print its look."""
    agents = {"never": never, "right": right}
    held_out = held_out_set()
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        found = proctor.accept_candidate_sync(
            agents[candidate], never if candidate == "never" else only_odd, held_out, config=CONFIG, trials=1,
            store=path, budget_of_looks=int(budget), options={"timeout": None},
        )  # fmt: skip
        print(f"look {found.looks_used}")
    except NoLooksLeftError:
        print("used up")


if __name__ == "__main__":
    main(*sys.argv[1:])
