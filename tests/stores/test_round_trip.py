"""Content of a store is read back unchanged, to the bit and to the byte."""

import base64
import json
import secrets
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.manifest import PlannedCase, RunSummary
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult, TrialRule
from proctor.schema.results.score import MetricScore, Score
from proctor.stores.base import Record, ScoreRecord, TrialRecord, VerdictRecord
from proctor.stores.sql import encoding
from proctor.stores.sql.database import compact, pack, unpack
from proctor.stores.sql.encoding import read_score, read_scores, scores_row
from proctor.stores.sqlite.file import open_sqlite_store
from tests.stores.sample_runs import (
    Heard,
    begun,
    case_json,
    case_of,
    evidence,
    manifest,
    scoring,
    shown,
    trials_of,
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NUMBER = st.one_of(st.none(), st.floats(), st.integers(-(2**70), 2**70).map(float))
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)
DETAILS = st.one_of(st.none(), st.dictionaries(TEXT, JSON, max_size=3))
FAILURE = st.one_of(
    st.none(),
    st.builds(
        Failure,
        where=st.sampled_from(["agent", "metric"]),
        kind=st.sampled_from(FailureKind),
        type=TEXT,
        message=TEXT,
        traceback=st.one_of(st.none(), TEXT),
        turn=st.one_of(st.none(), st.integers(0, 5)),
        infrastructure=st.booleans(),
    ),
)
SCORE = st.builds(Score, NUMBER, TEXT, DETAILS, st.booleans(), TEXT)
METRIC_SCORE = st.builds(
    MetricScore, NUMBER, st.lists(SCORE, max_size=3), TEXT, DETAILS, st.booleans(), FAILURE
)


def _again(score: MetricScore) -> MetricScore:
    return read_score(read_scores(scores_row({"metric": score}))["metric"])


def _same(one: Any, other: Any) -> bool:
    """Equality in which NaN is NaN, 1 is not 1.0, and 0.0 is not -0.0."""
    return repr(one) == repr(other)


@given(METRIC_SCORE)
def test_score_is_read_back_unchanged(score: MetricScore) -> None:
    assert _same(_again(score), score)


@pytest.mark.slow
@given(METRIC_SCORE)
def test_a_row_of_a_score_is_json_for_everybody(score: MetricScore) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    text = unpack(scores_row({"metric": score}))
    json.loads(text, parse_constant=refuse)
    text.decode()


@pytest.mark.parametrize(
    ("details", "kept"),
    [
        ({"a": float("nan"), "b": [float("-inf")]}, {"a": "NaN", "b": ["-Infinity"]}),
        ({"a": "half \ud83d a character"}, {"a": "half � a character"}),
        ({"half \udc00": 1}, {"half �": 1}),
        ({"a": (1, 2), "b": {3}}, {"a": [1, 2], "b": [3]}),
        ({"a": b"bytes \xff"}, {"a": "Ynl0ZXMg_w=="}),
        ({"a": object}, {"a": "<class 'object'>"}),
        ({1: "a"}, {"1": "a"}),
    ],
    ids=[
        "not numbers",
        "half a character",
        "half a key",
        "tuple and set",
        "bytes",
        "an object",
        "a number as key",
    ],
)
def test_what_is_not_json_is_kept_visibly(details: dict[Any, Any], kept: dict[str, Any]) -> None:
    assert _again(MetricScore(1.0, details=details)).details == kept


@pytest.mark.parametrize("value", [Fraction(1, 4), Decimal("0.25")])
def test_numbers_of_other_kinds_become_plain_ones(value: Any) -> None:
    again = _again(MetricScore(value, [Score(value)]))
    assert (again.value, type(again.value), again.per_invocation) == (0.25, float, [Score(0.25)])


def test_what_is_too_deep_or_holds_itself_is_cut_visibly() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    endless: dict[str, Any] = {}
    endless["again"] = endless
    for value in (deep, endless):
        text = compact({"value": value})
        assert "too deep to be kept" in text
        json.loads(text)


@st.composite
def cases(draw: st.DrawFn) -> tuple[CaseResult, list[Record], list[bytes]]:
    """A case with its trials, as the engine hands it to the store."""
    count = draw(st.integers(1, 3))
    names = draw(st.lists(TEXT.filter(lambda name: "\x00" not in name), max_size=3, unique=True))
    failures = draw(st.lists(FAILURE, min_size=count, max_size=count))
    scores: list[dict[str, MetricScore]] = [
        {} if failure else {name: draw(METRIC_SCORE) for name in names} for failure in failures
    ]
    shown_bytes = [
        json.dumps(
            {"eval_set_id": "s", "eval_id": draw(TEXT), "number": i, "notes": draw(st.lists(TEXT))}
        ).encode()
        for i in range(count)
    ]
    metrics = {}
    for name in names:
        verdict = MetricVerdict(
            name,
            draw(st.sampled_from(Outcome)),
            draw(st.one_of(st.none(), st.floats(allow_nan=False))),
            draw(st.one_of(st.none(), st.floats(0, 1))),
            draw(st.booleans()),
            draw(TEXT),
            [one.get(name) for one in scores],
            draw(FAILURE),
        )
        metrics[name] = verdict
    rule = draw(
        st.one_of(st.none(), st.builds(TrialRule, st.floats(0.1, 1), st.integers(1, 3), st.just(0.95)))
    )
    trials = [
        TrialResult(i, draw(st.sampled_from(Outcome)), evidence=shown_bytes[i], failure=failures[i])
        for i in range(count)
    ]
    result = CaseResult(
        "basics", "case_0", draw(st.sampled_from(Outcome)), draw(TEXT), metrics, trials, "basics.evalset.json:1",
        rule, draw(TEXT), draw(st.booleans()),
    )  # fmt: skip
    records: list[Record] = []
    for i in range(count):
        records.append(TrialRecord(0, i, 0, shown_bytes[i], failures[i] is not None, case_json(0)))
        if failures[i] is None:
            records.append(ScoreRecord(0, i, 0, scores[i]))
    return result, [*records, VerdictRecord(0, result)], shown_bytes


@pytest.mark.nightly
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(cases())
def test_a_case_comes_back_as_the_engine_had_it(made: tuple[CaseResult, list[Record], list[bytes]]) -> None:
    result, records, shown_bytes = made
    store = open_sqlite_store(f"memory:{secrets.token_hex(8)}")
    writer = begun(store, cases=1)
    writer.put(records)
    writer.finish(RunSummary(), complete=True)
    assert _same(shown(store.load("run1").cases[0]), shown(result))
    assert [trial.evidence for trial in trials_of(store, "run1", 0, 1)] == shown_bytes


def test_every_field_of_a_verdict_is_written() -> None:
    """A new field of a verdict must be added to `encoding.py`, too."""
    assert set(CaseResult.__dataclass_fields__) == {
        "eval_set_id", "eval_id", "outcome", "reason", "metrics", "trials", "place", "rule", "missed",
        "is_played",
    }  # fmt: skip
    assert set(MetricVerdict.__dataclass_fields__) == {
        "name", "outcome", "score", "threshold", "gate", "reason", "per_trial", "failure", "counted",
    }  # fmt: skip
    assert set(Score.__dataclass_fields__) == {"value", "reason", "details", "not_applicable", "warning"}
    assert set(MetricScore.__dataclass_fields__) == {
        "value", "per_invocation", "reason", "details", "not_applicable", "failure",
    }  # fmt: skip


def test_scores_that_were_dropped_from_a_verdict_come_back_with_it() -> None:
    """A run that keeps no evidence of passes in memory hands in verdicts without scores."""
    store = open_sqlite_store(f"memory:{secrets.token_hex(8)}")
    one = MetricScore(1.0, [Score(1.0)])
    verdict = MetricVerdict("m", Outcome.PASSED, 1.0, 0.5, per_trial=[one])
    verdict.drop_scores()
    case = CaseResult("basics", "case_0", Outcome.PASSED, metrics={"m": verdict})
    case.trials = [TrialResult(0, Outcome.PASSED, evidence=None)]
    writer = begun(store, cases=1)
    writer.put([TrialRecord(0, 0, 0, evidence(0), failed=False), ScoreRecord(0, 0, 0, {"m": one})])
    writer.put([VerdictRecord(0, case)])
    writer.finish(RunSummary(), complete=True)
    read = store.load("run1").cases[0]
    assert read.metrics["m"].per_trial == [one]
    assert (read.metrics["m"].scored, read.metrics["m"].met) == (1, 1)
    assert read.trials[0].trial is not None


@pytest.mark.slow
@given(TEXT, TEXT, st.sampled_from(["\ud800", "\x00", ""]))
def test_ids_that_no_database_holds_are_kept_visibly(set_id: str, eval_id: str, bad: str) -> None:
    store = open_sqlite_store(f"memory:{secrets.token_hex(8)}")
    case = PlannedCase(0, set_id + bad, eval_id + bad, "hash", "place" + bad)
    damaged = manifest(cases=1)
    damaged.agent.label = "agent" + bad
    damaged.command = ["proctor", bad]
    store.begin(damaged, [case], scoring(), Heard()).close()
    (read,) = store.planned("run1")
    kept = bad and "\ufffd"
    assert read.eval_set_id == set_id.replace("\x00", "\ufffd") + kept
    assert read.eval_id == eval_id.replace("\x00", "\ufffd") + kept
    assert (read.place, next(store.runs()).agent) == (f"place{kept}", f"agent{kept}")
    assert store.manifest("run1").run_id == "run1"


# --- bodies --------------------------------------------------------------------------------------------------------------


@given(st.binary(max_size=300), st.integers(0, 400))
def test_a_packed_body_comes_back_byte_for_byte(body: bytes, least: int) -> None:
    assert unpack(pack(body, least)) == body


def test_large_bodies_are_compressed_and_small_ones_are_left_as_they_are() -> None:
    body = json.dumps({"text": "the same again and again " * 400}).encode()
    assert len(pack(body, 4096)) < len(body) / 10
    assert pack(body[:1000], 4096) == body[:1000]


def _with_media(*pieces: bytes, words: str = "") -> bytes:
    parts = [
        {"inline_data": {"data": base64.urlsafe_b64encode(piece).decode(), "mime_type": "image/png"}}
        for piece in pieces
    ]
    return json.dumps({"parts": [{"text": words}, *parts]}, separators=(",", ":")).encode()


@given(st.lists(st.binary(max_size=3000), max_size=4), TEXT)
def test_media_are_taken_out_and_put_back_byte_for_byte(pieces: list[bytes], words: str) -> None:
    body = _with_media(*pieces, words=words)
    kept, places, found = encoding.extract_media(body)
    large = {piece for piece in pieces if len(base64.b64encode(piece)) >= 1366}
    assert set(found.values()) == large
    assert len(kept) <= len(body)
    assert (encoding.restore_media(kept, places, found.__getitem__) if places else kept) == body


@pytest.mark.parametrize(
    "text",
    [
        "A" * 2001,  # no whole number of bytes
        "A" * 2000 + "B==",
        "A" * 1998 + "A=",  # padding without content
        "+" * 2000,  # the other alphabet
        "é" * 2000,
    ],
)
def test_what_only_looks_like_media_stays_where_it_is(text: str) -> None:
    body = json.dumps({"inline_data": {"data": text}}, separators=(",", ":"), ensure_ascii=False).encode()
    kept, places, found = encoding.extract_media(body)
    assert (kept if places is None else encoding.restore_media(kept, places, found.__getitem__)) == body


def test_media_claims_of_an_agent_are_not_media() -> None:
    inner = _with_media(b"x" * 3000).decode()
    body = json.dumps({"text": inner}, separators=(",", ":")).encode()
    assert encoding.extract_media(body) == (body, None, {})


def test_the_same_picture_is_kept_once_over_cases_trials_and_runs() -> None:
    store = open_sqlite_store(f"memory:{secrets.token_hex(8)}")
    picture, sound = b"\x89PNG" + bytes(range(256)) * 20, b"RIFF" * 1000
    shown_bytes = _with_media(picture, picture, sound)
    for run_id in ("a", "b"):
        writer = begun(store, run_id, cases=2)
        for position in range(2):
            writer.put([TrialRecord(position, 0, 0, shown_bytes, failed=False, case=_with_media(picture))])
        writer.finish(RunSummary(), complete=False)
    assert store._database.rows("SELECT COUNT(*), SUM(LENGTH(body)) FROM media") == [
        (2, len(picture) + len(sound))
    ]
    store.delete(["a"])
    assert trials_of(store, "b", 1, 1)[0].evidence == shown_bytes
    assert case_of(store, "b", 0) == _with_media(picture)
    store.delete(["b"])
    assert store._database.rows("SELECT COUNT(*) FROM media") == [(0,)]


def test_shared_media_of_a_deleted_run_stay_for_the_other_run() -> None:
    store = open_sqlite_store(f"memory:{secrets.token_hex(8)}")
    case = _with_media(b"picture" * 500)
    for run_id in ("a", "b"):
        writer = begun(store, run_id, cases=1)
        writer.put([TrialRecord(0, 0, 0, evidence(0), failed=False, case=case)])
        writer.finish(RunSummary(), complete=False)
    store.delete(["a"])
    assert case_of(store, "b", 0) == case
