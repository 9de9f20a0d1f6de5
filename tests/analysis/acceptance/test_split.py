"""The split of an eval set into cases for a search and held-out cases: stable, complete, and never with an empty side."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor.errors import SetupError
from proctor.schema import EvalSet

IDS = st.lists(st.text(min_size=1, max_size=8), min_size=20, max_size=60, unique=True)
SEEDS = st.integers(-5, 1_000)


def eval_set(ids: list[str]) -> EvalSet:
    cases = [{"eval_id": eval_id, "conversation": [{"user_content": {"parts": [{"text": eval_id}]}}]} for eval_id in ids]  # fmt: skip
    return EvalSet.model_validate({"eval_set_id": "desk", "eval_cases": cases})


def held_out_ids(ids: list[str], seed: int, share: float = 0.5) -> set[str]:
    _, held_out = proctor.split(eval_set(ids), held_out=share, seed=seed)
    return {case.eval_id for case in held_out.eval_cases}


@given(IDS, SEEDS, st.randoms(use_true_random=False))
def test_every_case_is_on_one_side_whatever_the_order_is(ids: list[str], seed: int, random: object) -> None:
    search, held_out = proctor.split(eval_set(ids), held_out=0.5, seed=seed)
    found = [[case.eval_id for case in side.eval_cases] for side in (search, held_out)]
    assert sorted(found[0] + found[1]) == sorted(ids)
    assert found[0] == [eval_id for eval_id in ids if eval_id in {*found[0]}]
    shuffled = [*ids]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis' own Random
    assert held_out_ids(shuffled, seed) == {*found[1]}


@pytest.mark.slow
@given(IDS, SEEDS, st.data())
def test_a_removed_case_moves_no_other_case(ids: list[str], seed: int, data: st.DataObject) -> None:
    removed = data.draw(st.sampled_from(ids))
    before = held_out_ids(ids, seed)
    remaining = [eval_id for eval_id in ids if eval_id != removed]
    assert held_out_ids(remaining, seed) == before - {removed}


@pytest.mark.slow
@given(IDS, SEEDS)
def test_a_larger_share_only_adds_held_out_cases(ids: list[str], seed: int) -> None:
    assert held_out_ids(ids, seed, 0.4) <= held_out_ids(ids, seed, 0.6)


@pytest.mark.slow
def test_the_share_and_the_seed_decide() -> None:
    ids = [f"case_{number}" for number in range(2_000)]
    shares = {share: len(held_out_ids(ids, 1, share)) / len(ids) for share in (0.1, 0.4, 0.9)}
    assert all(abs(found - share) < 0.04 for share, found in shares.items())  # 3.5 standard errors
    assert held_out_ids(ids, 1) != held_out_ids(ids, 2)


def test_the_split_is_the_same_in_every_version_and_process() -> None:
    assert sorted(held_out_ids([f"case_{number}" for number in range(10)], 7, 0.4)) == PINNED


PINNED = ["case_0", "case_2", "case_6", "case_9"]


def test_a_file_is_split_and_the_sets_keep_what_the_set_has(tmp_path: Path) -> None:
    path = tmp_path / "desk.evalset.json"
    whole = eval_set([f"case_{number}" for number in range(30)]).model_copy(update={"name": "Desk"})
    path.write_text(whole.model_dump_json(by_alias=True), encoding="utf-8")
    search, held_out = proctor.split(path, seed=1)
    assert [search.eval_set_id, held_out.eval_set_id] == ["desk_search", "desk_held_out"]
    assert search.name == held_out.name == "Desk"


@pytest.mark.parametrize(
    ("ids", "arguments", "message"),
    [
        pytest.param([], {}, "the set has no case: a split needs at least 2", id="no case"),
        pytest.param(["a"], {}, "the set has 1 case: a split needs at least 2", id="one case"),
        pytest.param(["a", "b"], {"held_out": 1e-9}, "none of the 2 cases is on the held-out side", id="nothing held out"),
        pytest.param(["a", "b"], {"held_out": 1 - 1e-9}, "none of the 2 cases is on the search side", id="nothing to search"),
        pytest.param(["a", "b"], {"held_out": 0}, "above 0 and below 1, got 0", id="share 0"),
        pytest.param(["a", "b"], {"held_out": 1}, "above 0 and below 1, got 1", id="share 1"),
        pytest.param(["a", "b"], {"held_out": float("nan")}, "got nan", id="share NaN"),
        pytest.param(["a", "b"], {"held_out": "0.4"}, "got '0.4'", id="share as text"),
        pytest.param(["a", "b"], {"seed": 1.5}, "seed: expected a whole number, got 1.5", id="broken seed"),
        pytest.param(["a", "b"], {"seed": True}, "seed: expected a whole number, got True", id="seed true"),
        pytest.param(["a", "a"], {}, "duplicate case id 'a'", id="two cases of one id"),
    ],
)  # fmt: skip
def test_what_cannot_be_split_is_refused(ids: list[str], arguments: dict[str, object], message: str) -> None:
    with pytest.raises(SetupError, match=message):
        proctor.split(eval_set(ids), **arguments)  # type: ignore[arg-type]  # wrong on purpose
