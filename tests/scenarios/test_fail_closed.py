"""Nothing is green by accident: each way to get a verdict without grounds ends with its exit code and its cause.

The real command line in a separate process. The same project without the fault exits 0 (the first test).
What the command line itself refuses (reports, stores, settings, hooks) is tested in `tests/cli/eval/test_refused_options.py`.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.project import proctor

pytestmark = pytest.mark.slow  # each test starts the command line

AGENT = """
import asyncio, os, subprocess
from proctor import Event

WEATHER = {"Paris": "sunny", "Oslo": "rainy"}

def root_agent(text, session):
    city = text.removeprefix("weather in ")
    session.state["asked"] = city
    return {"tool_calls": [{"name": "get_weather", "args": {"city": city}, "response": {"sky": WEATHER[city]}}],
            "text": f"It is {WEATHER[city]} in {city}."}

async def silent(text):
    return
    yield

async def error_event(text):
    yield Event(error_code="SAFETY", error_message="blocked by the filter")

async def crashing(text):
    raise ValueError("no such city")

async def half(text):
    yield Event.called("get_weather", {"city": text.removeprefix("weather in ")})
    raise ConnectionResetError("the model hung up")

def none(text):
    return None

def exits_with_success(text):
    os._exit(0)

def becomes_another_program(text):
    os.execlp("true", "true")

async def stops_the_loop(text, session):
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    city = text.removeprefix("weather in ")
    yield Event.called("get_weather", {"city": city})
    yield Event.said(f"It is {WEATHER[city]} in {city}.", state_delta={"asked": city})

def exits_as_a_child(text, session):
    if not os.fork():
        os._exit(0)
    if not os.fork():
        os.execlp("true", "true")
    subprocess.run(["true"], check=True)
    return root_agent(text, session)

async def cancels_everything(text):
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(0)
    yield Event.said("done")

async def hangs(text):
    await asyncio.Event().wait()
    yield Event.said("never")

def ends_in_a_thread(text):
    raise SystemExit(0)
"""

METRICS = """
def raising(actual_invocation, expected_invocation, criterion):
    raise LookupError("no such column")

def nan(actual_invocation, expected_invocation, criterion):
    return float("nan")

def none(actual_invocation, expected_invocation, criterion):
    return None

def infinite(actual_invocation, expected_invocation, criterion):
    return float("inf")

def text(actual_invocation, expected_invocation, criterion):
    return "1.0"

def exits(actual_invocation, expected_invocation, criterion):
    raise SystemExit(0)

def too_few(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    return {"overall_score": 1.0, "per_invocation_results": [{"score": 1.0}]}

def too_few_in_a_list(actual_invocations, expected_invocations):
    return [1.0] * (len(actual_invocations) - 1)

def says_passed_without_a_score(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    return {"overall_eval_status": 1, "overall_score": None,
            "per_invocation_results": [{"score": None, "eval_status": 1} for _ in actual_invocations]}

async def never(actual_invocation, expected_invocation, criterion):
    import asyncio
    await asyncio.Event().wait()

def strange(x, y, z):
    return 1.0

def fine(actual_invocation, expected_invocation, criterion):
    return 1.0
"""

BOTH = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}


def weather(city: str, **more: Any) -> dict[str, Any]:
    """A case that the agent passes."""
    sky = {"Paris": "sunny", "Oslo": "rainy"}[city]
    return {
        "eval_id": city.lower(),
        "conversation": [
            {
                "invocation_id": "1",
                "user_content": {"role": "user", "parts": [{"text": f"weather in {city}"}]},
                "final_response": {"role": "model", "parts": [{"text": f"It is {sky} in {city}."}]},
                "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": city}}]},
            }
        ],
        "final_session_state": {"asked": city},
        **more,
    }


class Project:
    """Agent, metrics, an eval set of two cases and a config, all of them right."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("agent.py", AGENT)
        self.write("my_metrics.py", METRICS)
        self.config({"criteria": BOTH})
        self.cases(weather("Paris"), weather("Oslo"))

    def write(self, name: str, text: str) -> None:
        """Write one file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def config(self, document: Any) -> None:
        """Write the config."""
        self.write("test_config.json", json.dumps(document))

    def custom(self, name: str, threshold: float = 0.5, **more: Any) -> None:
        """Let one function of `my_metrics` decide, in addition to the two metrics that pass."""
        self.config(
            {
                "criteria": {**BOTH, name: threshold},
                "custom_metrics": {name: {"code_config": {"name": f"my_metrics.{name}"}, **more}},
            }
        )

    def cases(self, *cases: dict[str, Any], name: str = "cases.evalset.json") -> None:
        """Write an eval set."""
        self.write(name, json.dumps({"eval_set_id": name.partition(".")[0], "eval_cases": cases}, indent=1))

    def eval(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `proctor eval` here."""
        return proctor("eval", *arguments, cwd=self.folder)


Fault = Callable[[Project], list[str]]
UNCHANGED = ["agent.py", "cases.evalset.json"]


def test_the_same_project_without_a_fault_is_green(tmp_path: Path) -> None:
    done = Project(tmp_path).eval(*UNCHANGED)
    assert done.returncode == 0, done.stderr
    assert all(" trials (" in line for line in done.stderr.splitlines()), (
        "nothing but progress, on a busy machine"
    )
    assert "VERDICT  passed: all 2 cases pass" in done.stdout


@pytest.mark.parametrize("name", ["stops_the_loop", "exits_as_a_child"])
def test_harmless_behaviour_is_not_a_fault(tmp_path: Path, name: str) -> None:
    """An agent that stops the event loop: it continues. A child process that ends itself: it may."""
    done = Project(tmp_path).eval(f"agent.py:{name}", "cases.evalset.json")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_exit_handler_of_the_agent_does_not_change_the_verdict(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("agent.py", f"{AGENT}\nimport atexit\natexit.register(os._exit, 0)\n")
    project.cases(weather("Paris", final_session_state={"asked": "Rome"}))
    assert project.eval(*UNCHANGED).returncode == 1


def arguments(*words: str) -> Fault:
    """Only the command line is wrong."""
    return lambda _: [*UNCHANGED, *words]


def agent(name: str, *words: str) -> Fault:
    """Another agent of the same file."""
    return lambda _: [f"agent.py:{name}", "cases.evalset.json", *words]


def file(name: str, text: str) -> Fault:
    """Another agent file or config."""

    def prepare(project: Project) -> list[str]:
        project.write(name, text)
        return UNCHANGED

    return prepare


def metric(name: str, *words: str) -> Fault:
    """One custom metric in addition to two that pass."""

    def prepare(project: Project) -> list[str]:
        project.custom(name)
        return [*UNCHANGED, *words]

    return prepare


def config(document: Any) -> Fault:
    """Another config."""

    def prepare(project: Project) -> list[str]:
        project.config(document)
        return UNCHANGED

    return prepare


def without_state(document: Any) -> Fault:
    """Another config, and cases that state no final session state, which would decide."""

    def prepare(project: Project) -> list[str]:
        project.cases(weather("Paris", final_session_state={}))
        project.config(document)
        return UNCHANGED

    return prepare


def cases(*given: dict[str, Any]) -> Fault:
    """Another eval set."""

    def prepare(project: Project) -> list[str]:
        project.cases(*given)
        return UNCHANGED

    return prepare


def folder_with_a_broken_file(*words: str) -> Fault:
    """A folder of two sets, one of which cannot be read."""

    def prepare(project: Project) -> list[str]:
        project.cases(weather("Paris"), name="sets/good.evalset.json")
        project.write("sets/broken.evalset.json", '{"eval_set_id": "broken", "eval_cases": [{"eval_id": "x"')
        return ["agent.py", "sets", *words]

    return prepare


def only_failed_of_a_green_run(project: Project) -> list[str]:
    """`--failed` names a run, and a case that is gone since."""
    project.config({"criteria": {"tool_trajectory_avg_score": 1.0}})
    project.cases(weather("Paris", eval_id="gone", final_session_state={"asked": "Rome"}))
    assert project.eval(*UNCHANGED, "--report", "json=last.json").returncode == 1
    project.cases(weather("Paris"))
    return [*UNCHANGED, "--failed", "last.json"]


def too_few_turns(project: Project) -> list[str]:
    """A metric that judges one of two turns."""
    (first,), (second,) = weather("Paris")["conversation"], weather("Oslo")["conversation"]
    project.cases({"eval_id": "both", "conversation": [first, second]})
    project.custom("too_few")
    return UNCHANGED


def empty_conversation() -> dict[str, Any]:
    return {"eval_id": "empty", "conversation": []}


def informational(name: str) -> dict[str, Any]:
    return {"criteria": {name: {"threshold": 0.5, "gate": False}}}


def scenario() -> dict[str, Any]:
    return {"eval_id": "plan", "conversation_scenario": {"starting_prompt": "hi", "conversation_plan": "ask"}}


FAULTS: list[tuple[str, Fault, int, list[str]]] = [
    # metrics
    ("a metric raises", metric("raising"), 3, ["raising: metric raised: LookupError: no such column"]),
    ("a metric returns NaN", metric("nan"), 3, ["nan: metric unusable answer: returned nan", "not a score"]),
    (
        "a metric returns infinity",
        metric("infinite"),
        3,
        ["infinite: metric unusable answer: returned inf", "not a score"],
    ),
    ("a metric returns None", metric("none"), 3, ["none: metric unusable answer: returned None"]),
    ("a metric returns a text", metric("text"), 3, ["text: metric unusable answer: returned a str"]),
    ("a metric exits with success", metric("exits"), 3, ["exits", "SystemExit"]),
    (
        "a metric judges too few turns",
        too_few_turns,
        3,
        ["too_few: metric unusable answer: returned 1 per_invocation_results for 2 turn(s)"],
    ),
    ("a metric returns too few scores", metric("too_few_in_a_list"), 3, ["returned 0 scores for 1 turn(s)"]),
    (
        "a metric reports passed without a score",
        metric("says_passed_without_a_score"),
        3,
        ["says_passed_without_a_score"],
    ),
    (
        "a metric never answers",
        metric("never", "--timeout", "0.5"),
        3,
        ["never: metric timed out: no score", "(0.5 s)"],
    ),
    ("a metric with unknown parameters", metric("strange"), 2, ["strange", "unknown parameter 'x'"]),
    ("a metric that is not there", metric("missing"), 2, ["my_metrics", "missing"]),
    (
        "a metric name is misspelled",
        config({"criteria": {"response_match_scor": 0.8}}),
        2,
        ["Did you mean 'response_match_score'"],
    ),
    # configs
    ("the config is missing", arguments("--config", "nowhere.json"), 2, ["nowhere.json"]),
    (
        "the config's key is misspelled",
        config({"critera": BOTH}),
        2,
        ["test_config.json:1:2", "critera", "did you mean `criteria`?"],
    ),
    ("the config is empty", without_state({}), 2, ["'paris'", "nothing decides it"]),
    ("the config has no criteria", without_state({"criteria": {}}), 2, ["'paris'", "nothing decides it"]),
    (
        "no criterion gates",
        without_state(informational("response_match_score")),
        2,
        ["'paris'", "no gating metric"],
    ),
    (
        "an efficiency metric as criterion",
        without_state({"criteria": {"tool_call_count_v1": 1}}),
        2,
        ["tool_call_count_v1"],
    ),
    (
        "the criterion is for other cases",
        without_state({"criteria": {"response_match_score": {"threshold": 0.8, "applies_to": "scenario"}}}),
        2,
        ["'paris'", "nothing decides it: response_match_score: it does not score recorded cases"],
    ),
    (
        "a threshold that cannot fail",
        config({"criteria": {"response_match_score": 0.0}}),
        2,
        ["response_match_score", "cannot fail"],
    ),
    (
        "a threshold below the range",
        config({"criteria": {"tool_trajectory_avg_score": -1}}),
        2,
        ["tool_trajectory_avg_score"],
    ),
    (
        "a threshold that cannot pass",
        config({"criteria": {"tool_trajectory_avg_score": 1.5}}),
        2,
        ["tool_trajectory_avg_score", "cannot pass"],
    ),
    (
        "a threshold is NaN",
        file("test_config.json", '{"criteria": {"response_match_score": NaN}}'),
        2,
        ["test_config.json:1:39", "NaN"],
    ),
    (
        "a threshold is a word",
        config({"criteria": {"response_match_score": "high"}}),
        2,
        ["test_config.json:1:", "response_match_score"],
    ),
    (
        "a match type is unknown",
        config({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "SOMEHOW"}}}),
        2,
        ["match_type", "EXACT"],
    ),
    (
        "all metrics are left out",
        lambda p: (without_state({"criteria": BOTH})(p), [*UNCHANGED, "--metrics", "tool_call_count_v1"])[1],
        3,
        ["SKIPPED", "'paris'", "left out by --metrics"],
    ),
    ("an unknown metric is chosen", arguments("--metrics", "nothing_v1"), 2, ["nothing_v1"]),
    # cases
    (
        "the final state is wrong",
        cases(weather("Paris", final_session_state={"asked": "Rome"})),
        1,
        ["final_session_state", '"Paris"', '"Rome"'],
    ),
    (
        "the final state is missing",
        cases(weather("Paris", final_session_state={"paid": True})),
        1,
        ["`paid`", "missing"],
    ),
    ("the set is empty", cases(), 2, ["cases.evalset.json", "no cases"]),
    ("a conversation is empty", cases(empty_conversation()), 2, ["'empty'", "no turns"]),
    ("a scenario that nothing decides", cases(scenario()), 2, ["'plan'", "scenario"]),
    (
        "two cases of one id",
        cases(weather("Paris"), weather("Paris")),
        2,
        ["cases.evalset.json", "'paris'|\"paris\"|`paris`"],
    ),
    ("an unknown case id", lambda _: ["agent.py", "cases.evalset.json:rome"], 2, ["rome", "paris"]),
    (
        "one of two case ids is unknown",
        lambda _: ["agent.py", "cases.evalset.json:paris,olso"],
        2,
        ["olso", "oslo"],
    ),
    ("no case has the tag", arguments("--tag", "smoke"), 2, ["smoke"]),
    ("a limit of 0", arguments("--limit", "0"), 2, ["--limit", "0"]),
    ("the failed case is gone", only_failed_of_a_green_run, 2, ["gone"]),
    (
        "no such set",
        lambda _: ["agent.py", "caes.evalset.json"],
        2,
        ["caes.evalset.json", "cases.evalset.json"],
    ),
    (
        "no such set, the others run",
        lambda _: ["agent.py", "cases.evalset.json", "caes.evalset.json", "--keep-going"],
        2,
        ["caes.evalset.json: no such file"],
    ),
    ("a broken file in the folder", folder_with_a_broken_file(), 2, ["broken.evalset.json:1:57"]),
    (
        "a broken file, the others run",
        folder_with_a_broken_file("--keep-going"),
        3,
        ["broken.evalset.json:1:57", "PASSED  sets/good/paris"],
    ),
    # agents
    ("the agent crashes", agent("crashing"), 3, ["ValueError: no such city"]),
    ("the agent crashes half-way", agent("half"), 3, ["ConnectionResetError: the model hung up"]),
    ("the agent never answers", agent("hangs", "--timeout", "0.5"), 3, ["0.5 s"]),
    ("the agent gives no text", agent("silent"), 3, ["agent empty in turn 1: the agent gave no text"]),
    (
        "the agent only reports an error",
        agent("error_event"),
        3,
        ["agent unusable answer in turn 1: SAFETY: blocked by the filter"],
    ),
    ("the agent answers None", agent("none"), 3, ["None"]),
    ("the agent ends the process with 0", agent("exits_with_success"), 3, ["os._exit(0)"]),
    (
        "the agent becomes another program",
        agent("becomes_another_program"),
        3,
        ["ended the process: os.execv(", "/true'"],
    ),
    ("the agent raises SystemExit(0)", agent("ends_in_a_thread"), 3, ["SystemExit: 0"]),
    (
        "the agent cancels every task",
        agent("cancels_everything"),
        3,
        ["error: the run was cancelled from within: code of an agent"],
    ),
    (
        "the agent cannot be imported",
        file("agent.py", "import nowhere_at_all"),
        2,
        ["ModuleNotFoundError", "nowhere_at_all"],
    ),
    (
        "the agent exits while it is imported",
        file("agent.py", "raise SystemExit(0)"),
        2,
        ["SystemExit"],
    ),
    (
        "the process ends while it is imported",
        file("agent.py", "import os; os._exit(0)"),
        3,
        ["os._exit(0)"],
    ),
    ("a missing agent", lambda _: ["agnt.py", "cases.evalset.json"], 2, ["agnt.py", "agent.py"]),
    (
        "the module has no agent",
        file("agent.py", "rot_agent = 1"),
        2,
        ["root_agent", "rot_agent"],
    ),
]


@pytest.mark.parametrize(
    ("fault", "code", "named"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS]
)
def test_outcome_is_not_green_and_has_a_reason(
    tmp_path: Path, fault: Fault, code: int, named: list[str]
) -> None:
    project = Project(tmp_path)
    done = project.eval(*fault(project))
    output = done.stdout + done.stderr
    assert done.returncode == code, output
    assert [words for words in named if not any(word in output for word in words.split("|"))] == [], output
    assert "Traceback" not in output
    assert "bug in Proctor" not in output
    if code == 2:
        assert done.stdout == ""
