"""How well faults of simulated users are found, and what users that get worse do to the agent's figures.

    python benchmarks/simulator_faults.py [EACH]

Plays the conversations of `tests/simulation/planted` through the engine, with scripted agents and users: precision and
recall for each kind of fault, for the conversations that the rules were adjusted on and for those that they were not.
Then the same agent meets users of whom none, a fifth and a half are at fault, EACH times (10) with every scenario.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proctor.schema.results.case_result import FaultRate


def main() -> None:
    """Print both tables."""
    from tests.simulation.planted_conversations import HELD_OUT, SECOND_LOOK, TUNED

    for source in (TUNED, HELD_OUT, SECOND_LOOK):
        _print_found(source)
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    _print_degraded(each)


def _print_found(source: str) -> None:
    from tests.simulation.detection_rates import figures
    from tests.simulation.planted_conversations import conversations

    found = figures(conversations(source))
    print(f"{source}: {found.planted} with a planted fault, {found.clean} clean")
    print(f"{'kind':<18}{'planted':>8}{'found':>7}{'wrongly':>9}{'precision':>11}{'recall':>8}")
    for kind, one in found.kinds.items():
        row = f"{kind:<18}{one.planted:>8}{one.right:>7}{len(one.wrong):>9}"
        print(f"{row}{one.precision:>11.2f}{one.recall:>8.2f}")
    print(
        f"any fault found in {found.spoiled} of {found.planted}; clean ones accused: {len(found.accused)}\n"
    )


def _print_degraded(each: int) -> None:
    from tests.simulation.detection_rates import FAULTY, degraded

    print(f"the agent is at fault in {FAULTY:.0%}; users at fault at rates of")
    for rate in (0.0, 0.2, 0.5):
        found, planted = degraded(rate, each=each)
        made = sum(count for kind, count in planted.items() if kind)
        print(
            f"{rate:.1f}: {made:>3} of {found.user.of} users at fault; "
            f"agent {_rate_text(found.agent)}; simulator {_rate_text(found.user)}"
        )


def _rate_text(found: FaultRate) -> str:
    low, high = found.interval or (0.0, 1.0)
    return f"{found.faults}/{found.of} = {found.rate or 0:.3f} ({low:.2f}-{high:.2f})"


if __name__ == "__main__":
    main()
