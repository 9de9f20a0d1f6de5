"""What google-adk's server was recorded to answer, asked of Proctor in the same order; every difference has its reason."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from tests.web.adk.adk_apps import ADK, PLAIN, client_of, write_app

GOLDEN = Path(__file__).parents[4] / "shared" / "golden" / "rest.json"
RECORDED: dict[str, Any] = (
    json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.is_file() else {"vectors": []}
)
ADK_ONLY = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]


class Difference(NamedTuple):
    """A place where we answer otherwise, and why."""

    request: str
    """The names of requests, as a pattern."""
    place: str
    """Where in the answer, as a pattern."""
    reason: str
    agent: str = ""
    """`plain` or `adk`: of a plain agent, or of a google-adk one; empty: of both."""

    def covers(self, request: str, place: str) -> bool:
        return bool(re.fullmatch(self.request, request) and re.fullmatch(self.place, place))


_RESULT = r"body\.(runEvalResults|evalCaseResults)\.\*"
_METRIC = rf"{_RESULT}\.(overallEvalMetricResults|evalMetricResultPerInvocation\.\*\.evalMetricResults)\.\*"
_ACTUAL = rf"{_RESULT}\.evalMetricResultPerInvocation\.\*\.actualInvocation"
_SESSION = rf"{_RESULT}\.sessionDetails"

DIFFERENCES = [
    Difference(
        "run error in the agent", "content_type|body", "an exception of an agent is reported, as JSON"
    ),
    Difference(
        "(run eval|get eval result).*", rf"{_RESULT}\.proctor(_outcome)?", "what ADK's form has no place for"
    ),
    Difference(
        "(run eval|get eval result).*",
        rf"{_METRIC}\.(threshold|criterion)",
        "both spellings are there, whichever was sent",
    ),
    Difference("(run eval|get eval result).*", rf"{_ACTUAL}\.invocationId", "turns are numbered: e-0, e-1"),
    Difference(
        "run eval.*",
        rf"{_ACTUAL}\.appDetails\..*\.toolDeclarations\.\*\.(functionDeclarations|function_declarations)",
        "declarations of tools are as the file has them, in snake_case",
    ),
    Difference(
        "run eval, unknown metric",
        "status|body.*",
        "a metric that there is not is refused, and nothing is run",
    ),
    Difference(
        "run eval, unknown case", "status|body.*", "a case that there is not is refused, and nothing is run"
    ),
    Difference("run eval, no body fields", r"body\.detail\.\*\.msg", "the message is not in the recording"),
    Difference(
        "list eval results",
        "body.evalResultIds#",
        "two of the runs were refused, and two are not in the file",
    ),
    Difference("metrics info", r"body\.metricsInfo\.\*\.description", "the wording is not in the recording"),
    Difference(
        "metrics info",
        r"body\.metricsInfo\.\*\.metricValueInfo\.interval",
        "each has one: the page of adk-js breaks without",
    ),
    Difference(
        ".*(dot-dot|drive-qualified).*",
        "status|content_type|body",
        "a bad id is the client's mistake: 400, as JSON",
    ),
    Difference("null origin", "content_type|body", "refused, as JSON"),
    Difference("api: eval sets are not served", "status|body.*", "there is one server, for development"),
    Difference(
        "trace of session .*",
        "content_type|body|span_.*",
        "spans are made of the events, and none are of the server's own code",
    ),
    Difference(
        "get eval result", rf"{_SESSION}\.state\..*", "ADK's recording had its own plug-in's key in the state"
    ),
    Difference(
        "get eval result", rf"{_SESSION}\.events\.\*\.(id|invocationId)", "events of a trial are numbered"
    ),
    Difference(
        "get eval result",
        rf"{_SESSION}\.events\.\*\.(customMetadata|actions\.stateDelta\..*)",
        "that plug-in's, too",
    ),
    Difference(
        "get eval result",
        rf"{_ACTUAL}\.appDetails\..*\.toolDeclarations\.\*\..*",
        "declarations of tools have no nulls",
        "adk",
    ),
    # an agent that is none of google-adk
    Difference(
        "(run eval|get eval result).*",
        rf"{_METRIC}\.details\.durationDetails\..*",
        "it does not report its durations",
        "plain",
    ),
    Difference(
        "(run eval|get eval result).*", rf"{_ACTUAL}\.(tool|model)Duration", "nor in its turns", "plain"
    ),
    Difference(
        "(run eval|get eval result).*",
        rf"{_ACTUAL}\.appDetails\..*",
        "it describes itself in its own words",
        "plain",
    ),
]


def without_junk_turn(response: dict[str, Any]) -> dict[str, Any]:
    """ADK makes a turn without a message of a change of the state, which no user can repeat: we leave it out."""
    conversation = [turn for turn in response["body"]["conversation"] if turn["userContent"]["parts"]]
    return {**response, "body": {**response["body"], "conversation": conversation}}


CHANGED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "get eval case": without_junk_turn,
    "get eval case legacy": without_junk_turn,
}
"""What we answer in the place of the recorded, where a list of differences would show less."""

OMITTED: dict[str, list[tuple[str, str, Any]]] = {
    "run error in the agent": [("POST", "/apps/weather_app/users/u1/sessions/s2", {})],
    "list eval sets": [("POST", "/dev/apps/weather_app/eval-sets", {"evalSet": {"eval_set_id": "set2"}})],
}
"""Requests that were made before a recorded one, and are not in the file."""


# --- comparing ---------------------------------------------------------------------------------------------------------


class Recorded:
    """Compares answers with recorded ones, where each `<uuid-N>` means one and the same text."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def differences(self, golden: Any, ours: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
        """Yield the place, what was recorded and what came, wherever they differ; `*` is any item of a list."""
        if isinstance(golden, dict) and isinstance(ours, dict):
            for key in golden.keys() | ours.keys():
                below = f"{place}.{key}".lstrip(".")
                if key not in golden or key not in ours:
                    yield below, golden.get(key, "<none>"), ours.get(key, "<none>")
                else:
                    yield from self.differences(golden[key], ours[key], below)
        elif isinstance(golden, list) and isinstance(ours, list):
            if len(golden) != len(ours):
                yield f"{place}#", len(golden), len(ours)
            for one, other in zip(golden, ours, strict=False):
                yield from self.differences(one, other, f"{place}.*".lstrip("."))
        elif not self.same(golden, ours):
            yield place, golden, ours

    def same(self, golden: Any, ours: Any) -> bool:
        if golden in ("<time>", "<seconds>"):
            return isinstance(ours, int | float) and not isinstance(ours, bool) and ours >= 0
        if golden == "<text>":
            return isinstance(ours, str) and bool(ours)
        if not (isinstance(golden, str) and "<" in golden):
            return type(golden) is type(ours) and golden == ours
        return isinstance(ours, str) and self._fits(golden, ours)

    def _fits(self, golden: str, ours: str) -> bool:
        names = re.findall(r"<(?:uuid-\d+|time)>", golden)
        pattern = re.escape(golden)
        for name in names:
            pattern = pattern.replace(
                re.escape(name), r"([\d.]+)" if name == "<time>" else r"([0-9a-f-]{36}(?:-\d+)?)", 1
            )
        if (found := re.fullmatch(pattern, ours)) is None:
            return False
        named = [(name, text) for name, text in zip(names, found.groups(), strict=True) if name != "<time>"]
        return all(self.known.setdefault(name, text) == text for name, text in named)

    def filled(self, value: Any) -> Any:
        """A recorded request with what its placeholders mean here."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if value == "<time>":
            return 1.5
        if isinstance(value, str):
            return re.sub(r"<uuid-\d+>", lambda found: self.known.get(found[0], "x"), value)
        return value


def ask(client: TestClient, vector: dict[str, Any], recorded: Recorded) -> dict[str, Any]:
    """Send a recorded request; the answer in the shape of the file."""
    request = vector["request"]
    path = request["path"]
    if "<time>" in path:
        results = client.get("/dev/apps/weather_app/eval_results").json()
        path = f"{path.rpartition('/')[0]}/{results[0]}"
    headers = {
        name: value.replace("<self>", "127.0.0.1:8000") for name, value in request.get("headers", {}).items()
    }
    body = {"json": recorded.filled(request["body"])} if "body" in request else {}
    answer = client.request(request["method"], path, headers=headers, **body)
    kind = answer.headers["content-type"].partition(";")[0]
    return {"status": answer.status_code, "content_type": kind, "body": read(kind, answer.text)}


def read(kind: str, text: str) -> Any:
    if kind == "application/json":
        return json.loads(text)
    if kind == "text/event-stream":
        return [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n") if line]
    return text


def answered(
    tmp_path: Path, source: str, vectors: list[dict[str, Any]]
) -> Iterator[tuple[str, list[tuple[str, Any, Any]]]]:
    """Ask everything in order; yield the name of each request, and where its answer differs."""
    recorded = Recorded()
    write_app(tmp_path / "agents", source, RECORDED["script"])
    with client_of(tmp_path, tmp_path / "agents") as client:
        for vector in vectors:
            for method, path, body in OMITTED.get(vector["name"], []):
                client.request(method, path, json=body).raise_for_status()
            change = CHANGED.get(vector["name"])
            golden = change(vector["response"]) if change else vector["response"]
            ours = ask(client, vector, recorded)
            yield vector["name"], list(recorded.differences(golden, ours))


@pytest.mark.slow
@pytest.mark.parametrize(
    "source", [pytest.param(PLAIN, id="plain"), pytest.param(ADK, id="adk", marks=ADK_ONLY)]
)
def test_every_recorded_request_is_answered_alike(tmp_path: Path, source: str, shared: Path) -> None:
    agent = "adk" if source is ADK else "plain"
    table = [one for one in DIFFERENCES if one.agent in ("", agent)]
    unexplained, used = [], set()
    for name, differences in answered(tmp_path, source, RECORDED["vectors"]):
        for place, golden, ours in differences:
            reasons = [one for one in table if one.covers(name, place)]
            used.update(reasons)
            if not reasons:
                unexplained.append((name, place, golden, ours))
    assert unexplained == []
    assert [one for one in table if one not in used] == [], "differences that there are none of any more"
