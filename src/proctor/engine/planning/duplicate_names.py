"""Cases of one name in one run: reports, `show` and `compare` name a case by its set and its id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from proctor.engine.planning.plan import SetPlan

__all__ = ["same_names"]


def same_names(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Say which sets have cases that nobody can tell apart afterwards; of many sets of one name, two say it."""
    by_name: dict[str, list[SetPlan]] = defaultdict(list)
    for plan in plans:
        by_name[plan.source.eval_set_id].append(plan)
    for name, called_so in by_name.items():
        seen: dict[str, SetPlan] = {}
        for plan in called_so if len(called_so) > 1 else ():
            ids = _ids(plan)
            if both := [case_id for case_id in ids if case_id in seen]:
                more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
                yield (
                    f"{_label(seen[both[0]])} and {_label(plan)} are both called {name!r}, and each has a case "
                    f"{both[0]!r}{more}: reports, `show` and `compare` cannot tell these apart; give one of the sets "
                    "another `eval_set_id`"
                )
                break
            seen.update(dict.fromkeys(ids, plan))


def _ids(plan: SetPlan) -> list[str]:
    ids = plan.source.ids()
    return [ids[index] for index in plan.cases]


def _label(plan: SetPlan) -> str:
    return plan.source.label or "a set made in Python"
