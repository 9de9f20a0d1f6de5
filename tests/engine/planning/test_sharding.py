"""`--shard I/N`: which machine runs which case."""

import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import proctor
from proctor.engine.planning.plan import make_plan
from proctor.engine.planning.set_plan import MOST_SHARDS, SetRequest, Shard, parse_shard
from proctor.engine.run_options import RunOptions
from proctor.errors import NothingToRunError, SetupError, SetupProblems
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content, Part
from proctor.schema.format.invocation import Invocation

IDS = st.lists(st.text(max_size=8), unique=True, max_size=60)
COUNTS = st.integers(1, 12)


@pytest.mark.parametrize(
    ("text", "number", "count"),
    [("1/1", 1, 1), ("2/4", 2, 4), (" 3 / 4 ", 3, 4), ("10/10000", 10, MOST_SHARDS)],
)
def test_what_a_shard_is_called(text: str, number: int, count: int) -> None:
    assert parse_shard(text) == Shard(number, count)


@pytest.mark.parametrize(
    "text", ["", "0/4", "5/4", "1/0", "4", "/", "1/", "/4", "a/b", "1/4/2", "-1/4", "1.5/4", "1/10001", "٢/٤", "1/99999999999", 3, None, (1, 2)]
)  # fmt: skip
def test_invalid_shard(text: object) -> None:
    with pytest.raises(SetupError, match="shard must be I/N"):
        parse_shard(text)


@given(IDS, COUNTS)
def test_every_case_is_in_exactly_one_shard(ids: list[str], count: int) -> None:
    for eval_id in ids:
        assert sum(Shard(n + 1, count).holds("set", eval_id) for n in range(count)) == 1


@given(IDS, st.text(max_size=5), COUNTS)
def test_what_else_is_in_the_set_moves_no_case(ids: list[str], eval_set_id: str, count: int) -> None:
    alone = {eval_id: _shard_of(eval_set_id, eval_id, count) for eval_id in ids}
    assert {eval_id: _shard_of(eval_set_id, eval_id, count) for eval_id in reversed([*ids, "new"])} == {
        **alone,
        "new": _shard_of(eval_set_id, "new", count),
    }


def _shard_of(eval_set_id: str, eval_id: str, count: int) -> int:
    return next(n for n in range(1, count + 1) if Shard(n, count).holds(eval_set_id, eval_id))


@pytest.mark.nightly(check=2)
@pytest.mark.slow  # many shards
@pytest.mark.parametrize("count", [2, 3, 4, 7, 8, 16, 100])
@pytest.mark.parametrize("name", ["case_{}", "{:06}", "{}x{}"])
def test_shards_are_of_about_one_size(count: int, name: str) -> None:
    found = Counter(_shard_of("booking", name.format(n, n), count) for n in range(20_000))
    expected = 20_000 / count
    assert len(found) == count
    assert all(abs(size - expected) < 5 * expected**0.5 for size in found.values())


@pytest.mark.slow
def test_sets_of_one_name_are_distinguished_in_every_process() -> None:
    assert [_shard_of("a", f"bc{n}", 7) for n in range(50)] != [
        _shard_of("ab", f"c{n}", 7) for n in range(50)
    ]
    shards = [(n, _shard_of("booking", f"case_{n}", 5)) for n in range(40)]
    code = (
        "from proctor.engine.planning.set_plan import Shard\n"
        "print([(n, next(s for s in range(1, 6) if Shard(s, 5).holds('booking', f'case_{n}'))) for n in range(40)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(shards)
    assert [shard for _, shard in shards[:10]] == FIXED, "shards of runs that are under way must not move"


FIXED = [4, 4, 1, 1, 5, 5, 3, 4, 3, 5]


# --- in a run ------------------------------------------------------------------------------------------------------------


def _case(eval_id: str, **more: Any) -> EvalCase:
    content = Content(role="user", parts=[Part(text="hello")])
    turn = Invocation(user_content=content, final_response=Content(role="model", parts=[Part(text="hello")]))
    return EvalCase(eval_id=eval_id, conversation=[turn], **more)


def _eval_set(count: int) -> EvalSet:
    return EvalSet(
        eval_set_id="s",
        eval_cases=[_case(f"c{n}", **({"tags": ["odd"]} if n % 2 else {})) for n in range(count)],
    )


CONFIG = {"criteria": {"response_match_score": 0.5}}


def run_of(shard: str | None, **options: Any) -> list[str]:
    try:
        result = proctor.evaluate_sync(
            lambda message: message, _eval_set(30), config=CONFIG, shard=shard, **options
        )
    except NothingToRunError:
        return []
    return [case.eval_id for case in result.cases]


@pytest.mark.nightly(check=5)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"limit": 11},
        {"tags": ["odd"]},
        {"tags": ["odd"], "limit": 4},
        {"only": {"s": ["c1", "c2", "c3", "c29"]}},
    ],
    ids=["all", "limit", "tags", "tags and limit", "some"],
)
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_all_shards_together_run_what_one_run_does(options: dict[str, Any], count: int) -> None:
    shards = [run_of(f"{n + 1}/{count}", **options) for n in range(count)]
    together = [eval_id for shard in shards for eval_id in shard]
    assert sorted(together) == sorted(run_of(None, **options))


def test_sharded_run_names_its_shard() -> None:
    result = proctor.evaluate_sync(lambda message: message, _eval_set(30), config=CONFIG, shard="2/4")
    assert result.passed
    assert result.warnings == [f"shard 2/4: {len(result.cases)} of 30 cases; the other shards run the rest"]


def test_empty_shard_is_not_a_result() -> None:
    empty = next(f"{n}/50" for n in range(1, 51) if not run_of(f"{n}/50"))
    with pytest.raises(
        NothingToRunError, match=rf"^shard {empty}: none of 30 cases; the other shards run the rest$"
    ):
        proctor.evaluate_sync(lambda message: message, _eval_set(30), config=CONFIG, shard=empty)


def test_invalid_shard_is_reported_with_all_other_errors() -> None:
    with pytest.raises(SetupProblems) as raised:
        proctor.evaluate_sync(lambda message: message, _eval_set(3), config=CONFIG, shard="5/4", num_runs=0)
    messages = [str(problem) for problem in raised.value.problems]
    assert any(each.startswith("shard must be I/N") for each in messages)
    assert any(each.startswith("num_runs must be") for each in messages)


class _Large:
    """A set of which no case is in memory."""

    eval_set_id, label = "large", None

    def __init__(self, count: int) -> None:
        self._ids = [f"case_{n}" for n in range(count)]
        self.read = 0

    def ids(self) -> Sequence[str]:
        return self._ids

    def case(self, index: int) -> EvalCase:
        self.read += 1
        return _case(self._ids[index])

    def where(self, index: int) -> str:
        return ""

    def __iter__(self) -> Iterator[EvalCase]:
        return map(self.case, range(len(self._ids)))


@pytest.mark.nightly
def test_of_a_large_set_only_the_shard_is_read_and_memory_stays_flat() -> None:
    source = _Large(100_000)
    config = EvalConfig.model_validate(CONFIG)
    tracemalloc.start()
    plan = make_plan([SetRequest(source, config, "here")], RunOptions(shard="7/50"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert source.read == len(plan.sets[0].cases)
    assert abs(source.read - 2_000) < 250
    assert peak < 2_000_000


@given(COUNTS, st.integers(0, 40))
@settings(max_examples=20)
def test_a_plan_of_shards_is_the_plan_cut(count: int, cases: int) -> None:
    config, chosen = EvalConfig.model_validate(CONFIG), Counter[int]()
    for number in range(1, count + 1):
        try:
            plan = make_plan(
                [SetRequest(_Large(cases + 1), config, "x")], RunOptions(shard=f"{number}/{count}")
            )
        except NothingToRunError:
            continue
        chosen.update(plan.sets[0].cases)
    assert chosen == Counter(range(cases + 1))
