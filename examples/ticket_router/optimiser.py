"""A scripted optimiser that overfits, with and without the gate: `python -m examples.ticket_router.optimiser [SEARCHES]`.

It looks for a rule that answers a failing ticket, and keeps it if more search tickets pass. Many of its rules are about words
that mean nothing, such as "monday". Two baselines: one knows all words of the topics, so that there is nothing to learn; the
other one knows a third of them.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random

import proctor

from .agent import Rules, first_rules, router
from .tickets import tickets

LOOKS = 8
CONFIG = {"criteria": {"response_match_score": 1.0}}
Ticket = tuple[str, str]
"""A text and its queue."""


@dataclass(frozen=True)
class Winners:
    """The rules that a search ends with. Shares are from 0 to 1."""

    ungated: Rules
    """The best ones on the search tickets."""
    gated: Rules
    """The last ones that the gate accepted, or the baseline."""
    accepted: int
    on_search: float
    """The share of the search tickets that pass with the ungated rules."""


def search(baseline: Rules, eval_set: proctor.EvalSet, store: Path, seed: int) -> Winners:
    """Search for better rules, once without and once with the gate."""
    for_search, held_out = proctor.split(eval_set, held_out=0.6, seed=1)
    examples = pairs(for_search)
    ungated = gated = candidate = baseline
    accepted = 0
    for step in range(LOOKS):
        ungated = climb(ungated, examples, Random(f"{seed} {step}"))
        further = climb(candidate, examples, Random(f"{seed} {step}"))
        candidate = (
            further if further != candidate else climb(gated, examples, Random(f"{seed} again {step}"))
        )
        found = proctor.accept_candidate_sync(
            router(candidate), router(gated), held_out, config=CONFIG, trials=1, store=store, budget_of_looks=LOOKS
        )  # fmt: skip
        if found.accepted:  # all that the search may know
            gated, accepted = candidate, accepted + 1
    return Winners(ungated, gated, accepted, share(ungated, examples))


def climb(rules: Rules, examples: list[Ticket], random: Random, most: int = 4) -> Rules:
    """Add up to `most` rules, each of which makes more of the examples pass."""
    best, limit = share(rules, examples), len(rules) + most
    for _ in range(60):
        failing = [(text, queue) for text, queue in examples if router(rules)(text) != queue]
        if not failing or len(rules) >= limit:
            break
        text, queue = random.choice(failing)
        longer = {**rules, random.choice(text.split()): queue}
        if (reached := share(longer, examples)) > best:
            rules, best = longer, reached
    return rules


def share(rules: Rules, examples: list[Ticket]) -> float:
    """Return the share of the tickets that reach their queue."""
    answer = router(rules)
    return sum(answer(text) == queue for text, queue in examples) / len(examples)


def pairs(eval_set: proctor.EvalSet) -> list[Ticket]:
    """Return the text and the queue of each ticket."""
    turns = [turn for case in eval_set.eval_cases for turn in case.conversation or ()]
    return [
        (turn.user_content.joined_text(), turn.final_response.joined_text())
        for turn in turns
        if turn.final_response is not None
    ]


def main(searches: int) -> None:
    """Search from both baselines, and print which winners are worse than the baseline on fresh tickets."""
    fresh = pairs(tickets(2_000, seed=-1))
    for title, baseline in (("nothing to learn", first_rules(6)), ("much to learn", first_rules(2))):
        before = share(baseline, fresh)
        print(f"{title}: the baseline answers {before:.0%} of 2,000 fresh tickets")
        found = [one_search(baseline, seed) for seed in range(searches)]
        on_search = sum(one.on_search for one in found) / searches
        accepted = sum(one.accepted for one in found)
        ungated = describe([share(one.ungated, fresh) for one in found], before)
        gated = describe([share(one.gated, fresh) for one in found], before)
        print(f"  without the gate: {on_search:.0%} of the search tickets, {ungated}")
        print(f"  with the gate: {accepted} of {searches * LOOKS} candidates accepted, {gated}")


def one_search(baseline: Rules, seed: int) -> Winners:
    """Search on 300 new tickets, with a new store."""
    with tempfile.TemporaryDirectory() as folder:
        return search(baseline, tickets(300, seed), Path(folder) / "store.sqlite3", seed)


def describe(shares: list[float], before: float) -> str:
    """Return how the winners do on fresh tickets, in words."""
    worse, better = (sum(sign * (one - before) > 0 for one in shares) for sign in (-1, 1))
    mean = sum(shares) / len(shares)
    return f"{mean:.0%} of the fresh ones; of {len(shares)} winners {better} better, {worse} worse"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
