"""`rescore(batch=True)`: judges are asked in batches of their provider, and the result is that of single calls."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

import proctor
from proctor.engine.usage.budget import RunBudget
from proctor.errors import ProctorError, SetupError
from proctor.judges import batch as judge_batch
from proctor.models import batch_endpoint
from proctor.models.base import ModelError, ModelFault
from proctor.models.providers.provider_batches import AnthropicBatches
from proctor.runs.batch_scoring import BatchScoring
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.stores.judge_batches import StoredBatch
from proctor.stores.open import open_store_url
from proctor.stores.sql.store import SqlStore
from tests.models.loopback import Completion, ModelRequest, Status, serve_models
from tests.models.loopback.batches import BatchServer, Script, serve_batches

pytestmark = pytest.mark.slow  # many runs, each judged in a batch

pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")

METRIC = "final_response_match_v2"
CLAUDE, GPT = "claude-haiku-4-5", "openai-responses:gpt-4.1"
JUDGED = {"criteria": {METRIC: {"threshold": 0.5, "judge_model_options": {"num_samples": 3}}}}
"""Two votes that agree decide."""
CASES = 4


class Heard:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.if_interrupted = ""

    def noted(self, text: str) -> None:
        self.notes.append(text)

    def waiting(self, if_interrupted: str) -> None:
        self.if_interrupted = if_interrupted

    def run_started(self, run: RunResult, trials: int) -> None: ...
    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None: ...
    def case_finished(self, result: object) -> None: ...
    def run_finished(self, run: RunResult) -> None: ...


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_endpoint, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(batch_endpoint, "LONGEST_WAIT", 0.001)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Script], BatchServer]]:
    """Start the server of this test, and point both providers at it."""
    running = []

    def start(script: Script) -> BatchServer:
        context = serve_batches(script)
        running.append(context)
        server = context.__enter__()
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        return server

    yield start
    for context in running:
        context.__exit__(None, None, None)


@pytest.fixture
def store() -> Iterator[SqlStore]:
    """Return a store with one run of four cases, c0 to c3."""
    opened = open_store_url(f"memory:{uuid4()}")
    assert isinstance(opened, SqlStore)
    cases = [
        {
            "eval_id": f"c{number}",
            "conversation": [
                {
                    "user_content": {"parts": [{"text": f"c{number}"}]},
                    "final_response": {"parts": [{"text": f"hello, c{number}"}]},
                }
            ],
        }
        for number in range(CASES)
    ]
    eval_set = {"eval_set_id": "s", "eval_cases": cases}
    config = {"criteria": {"response_match_score": 0.5}}
    proctor.evaluate_sync(lambda text: f"hello, {text}", eval_set, config=config, store=opened)
    yield opened
    opened.close()


def score(store: SqlStore, judge: Any = CLAUDE, **options: Any) -> RunResult:
    return proctor.rescore_sync(store=store, judge=judge, **{"batch": True, "config": JUDGED, **options})


def case_of(asked: ModelRequest) -> str:
    found = re.search(r"<<<BEGIN \w+ user message>>>\n(c\d)\n<<<END", asked.text)
    assert found
    return found[1]


def says(asked: ModelRequest, verdict: str = "valid", **more: Any) -> Completion:
    number = asked.text.partition("The number of this ballot: ")[2].split()[0]
    return Completion(data={"ballot": number, "rationale": "It is the same.", "verdict": verdict}, **more)


def scores(result: RunResult, *, price: float = 1.0) -> str:
    """Return everything that a scoring found, but for the random ballot numbers, with costs times `price`."""
    found = [
        [case.eval_id, case.outcome, case.reason, case.metrics[METRIC].score, case.metrics[METRIC].per_trial]
        for case in result.cases
    ]
    text = re.sub(r"(ballot\W+)[0-9a-f]{16}", r"\1number", repr(found))
    return re.sub(r"'cost': ([\d.e-]+)", lambda match: f"'cost': {float(match[1]) * price:.9f}", text)


@pytest.mark.slow
@pytest.mark.parametrize("judge", [CLAUDE, GPT])
def test_the_result_is_that_of_single_calls(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch, judge: str
) -> None:
    def verdicts(asked: ModelRequest) -> Completion:
        return says(asked, "invalid" if case_of(asked) == "c2" else "valid")

    server, heard = serve(verdicts), Heard()
    result = score(store, judge, progress=heard)
    assert [case.outcome for case in result.cases] == [
        Outcome.PASSED,
        Outcome.PASSED,
        Outcome.FAILED,
        Outcome.PASSED,
    ]
    assert (len(server.batches), server.asked) == (1, 2 * CASES), "two votes that agree decide"
    (spent,) = result.spent
    assert (spent.calls, spent.cached, spent.input_tokens) == (2 * CASES, 0, 2 * CASES * 10)
    assert store.judge_batches() == []
    assert heard.notes[0].startswith(f"batch batch_1: 8 requests to {judge}")
    assert heard.notes[-1] == "batch batch_1: 8 of 8 requests answered"

    other = open_store_url(f"memory:{uuid4()}")
    assert isinstance(other, SqlStore)
    other.copy_run(store, result.run_id)
    with other._database.transaction() as transaction:
        transaction.execute("DELETE FROM answers")
    with serve_models(verdicts) as live:
        for name, value in live.environment().items():
            monkeypatch.setenv(name, value)
        single = score(other, judge, batch=False)
    assert live.count == 2 * CASES
    assert scores(result, price=2.0) == scores(single)
    other.close()


def test_votes_that_disagree_are_completed_in_a_second_batch(
    serve: Callable[[Script], BatchServer], store: SqlStore
) -> None:
    asked_before: dict[str, int] = {}

    def verdicts(asked: ModelRequest) -> Completion:
        number = asked_before[asked.text] = asked_before.setdefault(asked.text, len(asked_before))
        return says(asked, "invalid" if case_of(asked) == "c1" and number % 2 else "valid")

    server = serve(verdicts)
    result = score(store)
    assert [len(batch.requests) for batch in server.batches] == [2 * CASES, 1]
    assert result.outcome is Outcome.PASSED
    assert [spent.calls for spent in result.spent] == [2 * CASES + 1]


@pytest.mark.nightly(check=4)
@pytest.mark.slow
@pytest.mark.parametrize("judge", [CLAUDE, GPT])
@pytest.mark.parametrize(
    ("outcome", "reason", "count"),
    [
        pytest.param("expired", "the batch expired before it answered", 2, id="expired"),
        pytest.param("missing", "the results of the batch have no answer to this request", 1, id="left out"),
        pytest.param(Status(code=400, message="too long for us"), "too long for us", 1, id="error"),
        pytest.param(Completion(finish="length", data={"ballot": "1"}), "cut off at its maximum length", 2, id="cut off"),
        pytest.param(Completion(data={"ballot": "0", "rationale": "", "verdict": "valid"}), "not the number of this ballot", 6, id="foreign"),
        pytest.param(Completion(text="valid, I think"), "does not have the requested form", 6, id="no form"),
    ],
)  # fmt: skip
def test_a_request_without_a_usable_answer_is_an_error_of_its_case(
    serve: Callable[[Script], BatchServer], store: SqlStore, judge: str, outcome: Any, reason: str, count: int
) -> None:
    is_broken = True

    def verdicts(asked: ModelRequest) -> Any:
        return outcome if is_broken and case_of(asked) == "c3" else says(asked)

    server = serve(verdicts)
    result = score(store, judge)
    assert [case.outcome for case in result.cases] == [*[Outcome.PASSED] * 3, Outcome.ERROR]
    assert reason in result.cases[3].reason
    assert result.exit_code == 3
    assert len(server.batches) == count, (
        "as with single calls: three tries of an unusable answer, then a further vote"
    )
    is_broken, before = False, server.asked
    again = score(store, judge)
    assert again.outcome is Outcome.PASSED
    assert server.asked - before == 2, "only what has no answer is asked again"


# --- Interruptions: a batch is submitted once -------------------------------------------------------------------------


class KilledError(Exception):
    """Stands for a kill of the process."""


@pytest.mark.parametrize("judge", [CLAUDE, GPT])
@pytest.mark.parametrize("moment", ["before it was submitted", "after it was submitted", "while it waits"])
def test_a_batch_is_submitted_once_whenever_the_process_is_killed(
    serve: Callable[[Script], BatchServer],
    store: SqlStore,
    monkeypatch: pytest.MonkeyPatch,
    judge: str,
    moment: str,
) -> None:
    def kill(*_: object) -> None:
        raise KilledError

    server = serve(says)
    places = {
        "before it was submitted": (BatchScoring, "_confirm"),
        "after it was submitted": (SqlStore, "update_judge_batch"),
        "while it waits": (BatchScoring, "_wait"),
    }
    with monkeypatch.context() as killed:
        killed.setattr(*places[moment], kill)
        with pytest.raises(KilledError):
            score(store, judge)
    (recorded,) = store.judge_batches()
    assert bool(recorded.reference) == (moment == "while it waits")
    assert len(server.batches) == (moment != "before it was submitted")
    heard = Heard()
    result = score(store, judge, progress=heard)
    assert result.outcome is Outcome.PASSED
    assert (len(server.batches), server.asked) == (1, 2 * CASES)
    assert store.judge_batches() == []
    if server.batches[0].id in heard.notes[0] and moment != "before it was submitted":
        assert heard.notes[0] == "batch batch_1: 8 requests of an earlier command; not submitted again"


@pytest.mark.parametrize("judge", [CLAUDE, GPT])
def test_a_submission_whose_confirmation_was_lost_is_found(
    serve: Callable[[Script], BatchServer], store: SqlStore, judge: str
) -> None:
    server = serve(says)
    path = "POST /v1/messages/batches" if judge == CLAUDE else "POST /v1/batches"
    server.refusals[path], server.is_created_before_refusal = [Status(code=503, message="busy")], True
    assert score(store, judge).outcome is Outcome.PASSED
    assert (len(server.batches), server.asked) == (1, 2 * CASES)


def test_another_batch_of_the_same_size_is_not_adopted(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(says)
    server._create([(f"other-{number}", {}) for number in range(2 * CASES)])

    def killed(*_: object) -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(BatchScoring, "_confirm", killed)
        with pytest.raises(KilledError):
            score(store)
    server.script = lambda asked: says(asked) if "ballot" in asked.text else "expired"
    assert score(store).outcome is Outcome.PASSED
    assert [len(batch.requests) for batch in server.batches] == [2 * CASES] * 2


def test_requests_that_another_process_records_meanwhile_are_not_submitted_again(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process records and submits after this one has read the records, and before it writes its own."""
    server, add = serve(says), SqlStore.add_judge_batch
    is_first = True

    def other_first(self: SqlStore, batch: StoredBatch, known: Any) -> bool:
        nonlocal is_first
        if is_first:
            is_first = False
            monkeypatch.setattr(SqlStore, "add_judge_batch", add)
            kill_while_it_waits(lambda: raise_in_thread(lambda: score(store)), monkeypatch)
        return add(self, batch, known)

    monkeypatch.setattr(SqlStore, "add_judge_batch", other_first)
    assert score(store).outcome is Outcome.PASSED
    assert (len(server.batches), server.asked) == (1, 2 * CASES)


def kill_while_it_waits(call: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(BatchScoring, "_wait", _killed)
        with pytest.raises(KilledError):
            call()


async def _killed(*_: object) -> None:
    raise KilledError


def raise_in_thread(call: Callable[[], object]) -> None:
    """Call from within a running loop, as another process would."""
    import threading

    errors: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - it is raised in the test
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def test_an_unreachable_provider_is_waited_for(
    serve: Callable[[Script], BatchServer], store: SqlStore
) -> None:
    server, heard = serve(says), Heard()
    server.refusals["GET /v1/messages/batches/batch_1"] = [Status(code=529, message="overloaded")] * 3
    assert score(store, progress=heard).outcome is Outcome.PASSED
    (note,) = [note for note in heard.notes if "overloaded" in note]
    assert note.endswith("; Proctor continues to wait for batch batch_1")
    assert heard.if_interrupted.startswith("interrupted: nothing was scored yet; the provider continues")


@pytest.mark.parametrize(
    ("judge", "path"),
    [(CLAUDE, "POST /v1/messages/batches"), (GPT, "POST /v1/files"), (GPT, "POST /v1/batches")],
)
def test_a_refused_batch_is_an_error_before_anything_is_scored(
    serve: Callable[[Script], BatchServer], store: SqlStore, judge: str, path: str
) -> None:
    server = serve(says)
    server.refusals[path] = [Status(code=401, message="no such key")]
    with pytest.raises(SetupError, match=r"401 Unauthorized: no such key\. .*the same command asks"):
        score(store, judge)
    assert store.judge_batches() == []
    assert len(store.scorings(store.find("latest"))) == 1
    assert score(store, judge).outcome is Outcome.PASSED


def test_a_batch_that_its_provider_does_not_know_is_submitted_by_the_next_command(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(says)
    kill_while_it_waits(lambda: score(store), monkeypatch)
    server.batches.clear()
    with pytest.raises(ProctorError, match="no such batch"):
        score(store)
    assert score(store).outcome is Outcome.PASSED
    assert len(server.batches) == 1


def test_answers_to_other_questions_of_a_batch_stay_to_be_collected(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch with two metrics, of which the next command scores one: the batch keeps the requests of the other."""
    server = serve(says)
    kill_while_it_waits(lambda: score(store), monkeypatch)
    (recorded,) = store.judge_batches()
    store.update_judge_batch(replace(recorded, keys=(*recorded.keys, "another-question-0")))
    assert score(store).outcome is Outcome.PASSED
    assert [batch.keys for batch in store.judge_batches()] == [("another-question-0",)]
    assert len(server.batches) == 1


# --- Limits -----------------------------------------------------------------------------------------------------------


def test_max_judge_calls_limits_the_requests_of_all_batches(
    serve: Callable[[Script], BatchServer], store: SqlStore
) -> None:
    server = serve(says)
    result = score(store, max_judge_calls=5)
    assert server.asked == 5
    assert sorted(case.outcome for case in result.cases) == sorted(
        [Outcome.PASSED] * 2 + [Outcome.NOT_RUN] * 2
    )
    assert "max_judge_calls" in result.stopped_by
    assert score(store).outcome is Outcome.PASSED
    assert server.asked == 2 * CASES


@pytest.mark.slow
def test_max_cost_counts_half_of_the_price_and_is_never_exceeded(
    serve: Callable[[Script], BatchServer], store: SqlStore
) -> None:
    server = serve(lambda asked: says(asked, tokens=(1_000, 100)))
    whole = score(store).spent[0].cost
    assert whole == pytest.approx(2 * CASES * (1_000 * 1e-6 + 100 * 5e-6) / 2)
    again = open_store_url(f"memory:{uuid4()}")
    assert isinstance(again, SqlStore)
    again.copy_run(store, store.find("latest"))
    with again._database.transaction() as transaction:
        transaction.execute("DELETE FROM answers")
    before, limit = server.asked, 0.03  # one request of unknown length may cost 0.02
    result = score(again, max_cost=limit)
    assert result.outcome is Outcome.PASSED
    assert [len(batch.requests) for batch in server.batches[1:]] == [1, 2 * CASES - 1]
    result = score(
        again,
        max_cost=limit,
        config={"criteria": {METRIC: {"threshold": 0.5, "judge_model_options": {"num_samples": 5}}}},
    )
    assert server.asked - before == 3 * CASES
    again.close()


@pytest.mark.slow
def test_max_cost_holds_over_all_batches_of_a_round(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_batch, "MOST_BYTES", 1)
    most_under_way = 0

    def counted(self: RunBudget, purpose: str, calls: int = 1) -> None:
        nonlocal most_under_way
        begin(self, purpose, calls)
        most_under_way = max(most_under_way, self._under_way)

    begin = RunBudget.begin
    monkeypatch.setattr(RunBudget, "begin", counted)
    server = serve(lambda asked: says(asked, tokens=(1_000, 1_800)))  # 0.005 dollars
    result = score(store, max_cost=0.0301)  # a request of unknown length may cost 0.02
    assert result.stopped_by.startswith("max_cost")
    assert (server.asked, most_under_way) == (6, 5)
    assert result.spent[0].cost == pytest.approx(0.03)


def test_max_cost_below_one_request_asks_nothing(
    serve: Callable[[Script], BatchServer], store: SqlStore
) -> None:
    server = serve(says)
    result = score(store, max_cost=0.001)
    assert server.asked == 0
    assert {case.outcome for case in result.cases} == {Outcome.NOT_RUN}
    assert "one more request may cost" in result.stopped_by


# --- Configuration errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "options", "message"),
    [
        pytest.param("openai-chat:gpt-4.1", {}, "name the model openai-responses:gpt-4.1", id="chat completions"),
        pytest.param("ollama/llama3.2", {}, "ollama/llama3.2 has no batch endpoint: --batch supports", id="another provider"),
        pytest.param(lambda messages: "valid", {}, "has no batch endpoint", id="a function"),
        pytest.param(CLAUDE, {"config": {"criteria": {"response_match_score": 0.5}}}, "no metric of this config asks a language model", id="no judge"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_in_a_batch_is_refused(
    serve: Callable[[Script], BatchServer], store: SqlStore, judge: Any, options: dict[str, Any], message: str
) -> None:
    server = serve(says)
    with pytest.raises(SetupError, match=re.escape(message)):
        score(store, judge, **options)
    assert server.requests == []


def test_a_chunk_is_submitted_as_soon_as_the_provider_accepts_no_more(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = AnthropicBatches.__init__

    def small(self: Any, *arguments: Any) -> None:
        first(self, *arguments)
        self.most_requests = 3

    monkeypatch.setattr(AnthropicBatches, "__init__", small)
    server = serve(says)
    assert score(store).outcome is Outcome.PASSED
    assert [len(batch.requests) for batch in server.batches] == [3, 3, 2]


def test_bodies_of_requests_are_in_memory_only_until_their_batch_of_limited_size_is_submitted(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_batch, "MOST_BYTES", 1)
    server, bodies, results = serve(says), list[object](), AnthropicBatches.results

    async def noting(self: Any, reference: str, requests: Any, group: str) -> Any:
        bodies.extend(request.body for request in requests.values())
        return await results(self, reference, requests, group)

    monkeypatch.setattr(AnthropicBatches, "results", noting)
    assert score(store).outcome is Outcome.PASSED
    assert [len(batch.requests) for batch in server.batches] == [1] * 2 * CASES
    assert bodies == [None] * 2 * CASES


def test_a_request_that_the_provider_would_not_accept_is_an_error_of_its_case(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = AnthropicBatches.encode

    async def refusing(self: Any, request_id: str, messages: Any, options: Any) -> Any:
        if "\nc1\n" in messages[1].text:
            raise ModelError("larger than a batch", fault=ModelFault.REJECTED)
        return await encode(self, request_id, messages, options)

    monkeypatch.setattr(AnthropicBatches, "encode", refusing)
    server = serve(says)
    result = score(store)
    assert [case.outcome for case in result.cases] == [Outcome.PASSED, Outcome.ERROR, *[Outcome.PASSED] * 2]
    assert "larger than a batch" in result.cases[1].reason
    assert server.asked == 2 * (CASES - 1)


def test_an_error_while_a_full_chunk_is_submitted_ends_the_command(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = AnthropicBatches.__init__

    def small(self: Any, *arguments: Any) -> None:
        first(self, *arguments)
        self.most_requests = 1

    monkeypatch.setattr(AnthropicBatches, "__init__", small)
    server = serve(says)
    server.refusals["POST /v1/messages/batches"] = [Status(code=401, message="no such key")]
    with pytest.raises(SetupError, match="401 Unauthorized: no such key"):
        score(store)
    assert score(store).outcome is Outcome.PASSED
    assert server.asked == 2 * CASES, "batches that were submitted at the same time are continued"


def test_an_answer_that_the_store_does_not_return_is_not_asked_again(
    serve: Callable[[Script], BatchServer], store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(says)
    monkeypatch.setattr(SqlStore, "answer", lambda *_: None)
    result = score(store)
    assert result.outcome is Outcome.ERROR
    assert "the store did not return the answer" in result.cases[0].reason
    assert server.asked == 2 * CASES


def test_a_cancelled_command_leaves_the_batch_recorded(
    serve: Callable[[Script], BatchServer], store: SqlStore
) -> None:
    server = serve(says)
    server.is_held = True

    class Cancels(Heard):
        def noted(self, text: str) -> None:
            task = asyncio.current_task()
            if text.startswith("waiting for the provider") and task is not None:
                task.cancel()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(proctor.rescore(store=store, judge=CLAUDE, batch=True, config=JUDGED, progress=Cancels()))
    server.is_held = False
    assert score(store).outcome is Outcome.PASSED
    assert len(server.batches) == 1
