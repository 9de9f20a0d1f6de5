"""Metrics that need the scores of others: in which order all are asked, and what keeps one from being asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from proctor.errors import CriterionError, SetupError, did_you_mean

__all__ = ["Order", "order_of"]


@dataclass(slots=True)
class Order:
    """The order in which metrics are asked, those that are left out with one they need, and what is wrong."""

    names: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """Name -> what leaves it out."""
    problems: list[SetupError] = field(default_factory=list)


def order_of(
    combines: Mapping[str, Collection[str]],
    *,
    skipped: Mapping[str, str],
    broken: Collection[str] = (),
) -> Order:
    """Put each metric after those that it combines, all others where they are.

    `combines`: name -> names that it needs (most need none), in the order of the config. `skipped`: what options leave
    out, and which option. `broken`: what the config names and could not be built, which is said elsewhere.
    """
    order = Order()
    for name, problem in _problems(combines, skipped, broken):
        problem.path = ("criteria", name)
        order.problems.append(problem)
    waiting = dict(combines)
    while waiting:
        gone = {**skipped, **order.skipped}
        for name, needed in waiting.items():
            if without := next((part for part in needed if part in gone), None):
                order.skipped[name] = gone[without]
                break
            if all(part in order.names or part not in combines for part in needed):
                order.names.append(name)
                break
        else:
            order.problems.append(_circle(waiting))
            return order
        del waiting[name]
    return order


def _problems(
    combines: Mapping[str, Collection[str]], skipped: Mapping[str, str], broken: Collection[str]
) -> Iterable[tuple[str, SetupError]]:
    """What is wrong, each with the metric that it is wrong with."""
    for name, needed in combines.items():
        for part in needed:
            if part in combines or part in broken:
                continue
            if skipped.get(part) == "--metrics":
                left_out = f"{name!r} combines {part!r}, which --metrics leaves out. Name it there, too."
                yield name, CriterionError(left_out)
            elif part not in skipped:
                others = [other for other in combines if other != name]
                yield (
                    name,
                    CriterionError(
                        f"{name!r} combines {part!r}, which the criteria do not have.{did_you_mean(part, others)} "
                        f"They have: {', '.join(others) or 'no others'}."
                    ),
                )


def _circle(waiting: Mapping[str, Collection[str]]) -> CriterionError:
    """Follow what is left from one metric to the next until one comes again."""
    way = [next(iter(waiting))]
    while True:
        following = next(part for part in waiting[way[-1]] if part in waiting)
        way.append(following)
        if following in way[:-1]:
            break
    circle = " → ".join(map(repr, way[way.index(way[-1]) :]))
    problem = CriterionError(f"metrics combine each other in a circle: {circle}.")
    problem.path = ("criteria", way[-1])
    return problem
