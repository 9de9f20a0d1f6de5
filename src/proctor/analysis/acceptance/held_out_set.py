"""Held-out cases: the split of an eval set, and what identifies a case."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from proctor.errors import SetupError
from proctor.schema.serialize import json_hash

if TYPE_CHECKING:
    from proctor.runs.arguments import EvalSetLike
    from proctor.schema.format.case import EvalCase, EvalSet

_RANGE = 2**64


def split(eval_set: EvalSetLike, *, held_out: float = 0.4, seed: int = 0) -> tuple[EvalSet, EvalSet]:
    """Split an eval set into the cases that a search may read, and the cases that decide whether its result is accepted.

    The hash of `seed` and the case id decides the side of a case. The order of the cases is irrelevant, and adding or removing
    a case never moves another one. A larger `held_out` only moves cases to the held-out side.

    * `eval_set`: as for `evaluate`: a path, an `EvalSet`, a dict.
    * `held_out`: the probability that a case is held out, above 0 and below 1. The share of a small set may differ from it.
    * `seed`: any whole number. Another seed is another split.

    Returns the two sets, in the order of the cases. Their ids are the id of the set with `_search` and `_held_out`.

    The caller is responsible for keeping the held-out cases apart from everything that the search can read: files, examples
    of a prompt, stored runs, comparisons.

    Raises:
        EvalFileError: the file or dict is not an eval set.
        SetupError: a number is out of range, two cases share an id, or one of the sides has no case.
    """
    from proctor.runs.load import load_eval_set

    if not is_share(held_out):
        raise SetupError(f"held_out: expected the share of the cases, above 0 and below 1, got {held_out!r}")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise SetupError(f"seed: expected a whole number, got {seed!r}")
    whole = load_eval_set(eval_set)
    sides: tuple[list[EvalCase], list[EvalCase]] = [], []
    for case in whole.eval_cases:
        sides[stable_position(f"{seed}/{case.eval_id}") < held_out].append(case)
    if not all(sides):
        raise SetupError(_empty_side(len(whole.eval_cases), len(sides[1]), held_out, seed))
    search, held_out_set = (
        whole.model_copy(update={"eval_set_id": f"{whole.eval_set_id}_{name}", "eval_cases": cases})
        for name, cases in zip(("search", "held_out"), sides, strict=True)
    )
    return search, held_out_set


def is_share(value: object) -> bool:
    """Return whether an argument is a number above 0 and below 1."""
    return isinstance(value, int | float) and 0 < value < 1


def stable_position(name: str) -> float:
    """Return a number of at least 0 and below 1 that depends on the name alone: what is below the share is held out."""
    digest = sha256(name.encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / _RANGE


def _empty_side(cases: int, held_out_cases: int, held_out: float, seed: int) -> str:
    if cases < 2:
        count = "1 case" if cases else "no case"
        return f"the set has {count}: a split needs at least 2, and a decision some dozens of held-out cases"
    empty = "held-out" if not held_out_cases else "search"
    return (
        f"with held_out={held_out:g} and seed={seed}, none of the {cases} cases is on the {empty} side. "
        "Add cases, or choose another share or seed"
    )


def input_hash(case: EvalCase) -> str:
    """Return the hash of what an agent receives in a case: the user's messages or scenario, and the initial state.

    It identifies the case whatever its id, its set, its expectations and its file are.
    """
    messages = [turn.user_content for turn in [*(case.opening or ()), *(case.conversation or ())]]
    scenario, session = case.conversation_scenario, case.session_input
    return json_hash(
        [
            [content.model_dump(mode="json", exclude_none=True) for content in messages],
            scenario and scenario.model_dump(mode="json", exclude_none=True),
            session.state if session is not None else {},
        ]
    )
