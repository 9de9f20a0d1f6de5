"""The cost of an adapter: a turn of the toy agent run by Proctor, compared with the framework driven directly.

    python benchmarks/adapters.py             every kind that is installed here (`make frameworks`, `make adk`)
    python benchmarks/adapters.py LangGraph   one of them
    python benchmarks/adapters.py --here KIND N   measures one in this interpreter, and prints JSON

A turn is two answers of the scripted model and one call of a tool, in a separate session. Proctor's part is a whole run:
plan, evidence, one metric, verdict. CPU time of the process, the best of `ROUNDS`, both sides in turn. The other end of a
protocol is a separate process and not counted.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import json
import shlex
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT)]

TEXT = "What is the weather in Oslo?"
TURNS = 300
ROUNDS = 5

Drive = Callable[[], Awaitable[Any]]


def _function(agent: Any) -> Drive:
    async def drive() -> Any:
        return [*agent(TEXT, {})]

    return drive


def _pydantic_ai(agent: Any) -> Drive:
    return lambda: agent.run(TEXT, deps={})


def _openai_agents(agent: Any) -> Drive:
    runner = import_module("agents").Runner
    return lambda: runner.run(agent, TEXT, context={})


def _langgraph(agent: Any) -> Drive:
    return lambda: agent.ainvoke({"messages": [("user", TEXT)]})


def _google_adk(agent: Any) -> Drive:
    runners, types = import_module("google.adk.runners"), import_module("google.genai.types")
    message = types.Content(role="user", parts=[types.Part(text=TEXT)])

    async def drive() -> Any:
        runner = runners.InMemoryRunner(agent=agent, app_name="toy")
        session = await runner.session_service.create_session(app_name="toy", user_id="u")
        return [
            event async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)
        ]

    return drive


def _client_of(url: str) -> Callable[[], Any]:
    """A client of a server for whichever loop runs: its connections are kept, as Proctor keeps them."""
    httpx = import_module("httpx")
    made: dict[int, Any] = {}

    def client() -> Any:
        loop = id(asyncio.get_running_loop())
        if loop not in made:
            made.clear()
            made[loop] = httpx.AsyncClient(base_url=url, timeout=60)
        return made[loop]

    return client


async def _streamed(client: Any, path: str, body: Any, headers: dict[str, str] | None = None) -> list[Any]:
    async with client.stream("POST", path, json=body, headers=headers) as reply:
        return [json.loads(line[5:]) async for line in reply.aiter_lines() if line.startswith("data:")]


def _adk_http(agent: str) -> Drive:
    client = _client_of(agent.removeprefix("adk+http:").rpartition("/")[0])

    async def drive() -> Any:
        made = (await client().post("/apps/toy/users/u/sessions", json={})).json()
        message = {"role": "user", "parts": [{"text": TEXT}]}
        body = {"appName": "toy", "userId": "u", "sessionId": made["id"], "newMessage": message}
        return await _streamed(client(), "/run_sse", body)

    return drive


def _a2a_http(agent: str) -> Drive:
    client = _client_of(agent.removeprefix("a2a+http:"))

    async def drive() -> Any:
        message = {"messageId": str(time.monotonic_ns()), "role": "ROLE_USER", "parts": [{"text": TEXT}]}
        call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}}
        return await _streamed(client(), "/", call, {"A2A-Version": "1.0"})

    return drive


def _http_sse(agent: str) -> Drive:
    client = _client_of(agent.removeprefix("http+sse:").removesuffix("/chat"))
    session = {"id": "s", "app_name": "toy", "user_id": "u", "state": {}}
    message = {"role": "user", "parts": [{"text": TEXT}]}
    body = {"type": "turn", "protocol": 1, "turn": 0, "session": session, "message": message, "text": TEXT}
    return lambda: _streamed(client(), "/chat", body)


def _openai_http(agent: str) -> Drive:
    url, _, model = agent.removeprefix("openai+http:").partition("?model=")
    client = _client_of(url)
    body = {"model": model, "messages": [{"role": "user", "content": TEXT}]}

    async def drive() -> Any:
        return (await client().post("/chat/completions", json=body, headers={"X-Session-Id": "s"})).json()

    return drive


def _cmd(agent: str) -> Drive:
    """A program, driven through its pipes only; one for all turns."""
    process = subprocess.Popen(
        shlex.split(agent.removeprefix("cmd:")), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(process.kill)
    session = {"id": "s", "app_name": "toy", "user_id": "u", "state": {}}
    message = {"role": "user", "parts": [{"text": TEXT}]}
    request = {"type": "turn", "protocol": 1, "turn": 0, "session": session, "message": message, "text": TEXT}

    async def drive() -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline())]
        while answers[-1].get("type") != "done":
            answers.append(json.loads(process.stdout.readline()))
        return answers

    return drive


def _isolated(_agent: Any) -> Drive:
    return _function(import_module("tests.agents.frameworks.toys.function").root_agent)


DIRECT: dict[str, Callable[[Any], Drive]] = {
    "function": _function,
    "adk_http": _adk_http,
    "a2a_http": _a2a_http,
    "http_sse": _http_sse,
    "cmd_python": _cmd,
    "cmd_node": _cmd,
    "isolated": _isolated,
    "openai_http": _openai_http,
    "google_adk": _google_adk,
    "with_pydantic_ai": _pydantic_ai,
    "openai_agents": _openai_agents,
    "with_langgraph": _langgraph,
}
"""How each toy is driven without Proctor."""


def measure(toy: str, turns: int = TURNS, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the CPU microseconds of a turn, driven directly and by Proctor."""
    module = import_module(f"tests.agents.frameworks.toys.{toy}")
    with module.serve() if hasattr(module, "serve") else nullcontext(module.root_agent) as agent:
        return _measured(agent, DIRECT[toy](agent), turns, rounds)


def _measured(agent: Any, drive: Drive, turns: int, rounds: int) -> dict[str, float]:
    import proctor

    cases = _cases(turns)

    def directly() -> None:
        async def main() -> None:
            for _ in range(turns):
                await drive()

        asyncio.run(main())

    def by_proctor() -> None:
        result = proctor.evaluate_sync(agent, cases, config={"criteria": {"tool_trajectory_avg_score": 1.0}})
        assert result.passed, [case.outcome for case in result.cases][:3]

    best = {"directly": float("inf"), "by proctor": float("inf")}
    for _ in range(rounds + 1):  # the first one warms up
        for name, run in (("directly", directly), ("by proctor", by_proctor)):
            best[name] = min(best[name], _cpu(run))
    return {name: seconds / turns * 1e6 for name, seconds in best.items()}


def _cpu(run: Callable[[], None]) -> float:
    gc.collect()
    began = time.process_time()
    run()
    return time.process_time() - began


def _cases(turns: int) -> dict[str, Any]:
    turn = {
        "user_content": {"parts": [{"text": TEXT}]},
        "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Oslo"}}]},
    }
    return {
        "eval_set_id": "s",
        "eval_cases": [{"eval_id": f"c{number}", "conversation": [turn]} for number in range(turns)],
    }


def table(kinds: list[str]) -> None:
    """Measure each in its environment, and print what came out."""
    from tests.agents.frameworks.environments import is_installed, python_of, run_in
    from tests.agents.frameworks.rows import ROWS

    print("| kind | directly | by Proctor | more | ratio |\n|---|---:|---:|---:|---:|")
    for row in ROWS:
        if row.toy not in DIRECT or (kinds and row.kind not in kinds):
            continue
        if not python_of(row.environment).exists() or (row.needs and not is_installed(row.needs)):
            print(f"| {row.kind} | not installed: {row.install or 'make frameworks'} | | | |")
            continue
        done = run_in(row.environment, "benchmarks/adapters.py", "--here", row.toy, str(TURNS))
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        found = json.loads(done.stdout.splitlines()[-1])
        before, now = found["directly"], found["by proctor"]
        print(
            f"| {row.kind} | {before:,.0f} µs | {now:,.0f} µs | {now - before:,.0f} µs | {now / before:.2f} |"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        table(sys.argv[1:])
