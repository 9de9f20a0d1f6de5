"""Labels of several people: the label of an item that counts, and the agreement of the people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from proctor.schema.analysis.calibration import Figure, Key, Labelled, LabellerPair
from proctor.stats.agreement import Confusion, cohen_kappa


@dataclass(slots=True)
class SettledLabels:
    """The labels of a metric: one for each item, as far as people agree."""

    counted: list[Labelled] = field(default_factory=list)
    """Of each item the label of the majority, as the first of these people in the order of their names gave it."""
    disputed: list[list[Labelled]] = field(default_factory=list)
    """The labels of each item that people label differently."""
    undecided: list[Key] = field(default_factory=list)
    """The items without a majority."""


def labels_of_metric(labels: Iterable[Labelled], metric: str) -> list[Labelled]:
    """Return the labels for a metric or for any; if a person gave both for one item, the one that names the metric."""
    candidates = [label for label in labels if label.metric in ("", metric)]
    candidates.sort(key=lambda label: bool(label.metric))
    return list({(label.key, label.labeller): label for label in candidates}.values())


def settle_labels(labels: Iterable[Labelled]) -> SettledLabels:
    """Return the label of each item that the majority of people gave; a tie has none."""
    of_items: defaultdict[Key, list[Labelled]] = defaultdict(list)
    for label in labels:
        of_items[label.key].append(label)
    settled = SettledLabels()
    for key, several in of_items.items():
        several.sort(key=lambda label: label.labeller)
        chosen = majority_label(several)
        if chosen is None:
            settled.undecided.append(key)
        else:
            settled.counted.append(chosen)
        if len({label.passes for label in several}) > 1:
            settled.disputed.append(several)
    return settled


def majority_label(labels: Sequence[Labelled]) -> Labelled | None:
    """Return the first label of the majority; `None` if there is a tie."""
    passes = sum(label.passes for label in labels)
    if 2 * passes == len(labels):
        return None
    return next(label for label in labels if label.passes is (2 * passes > len(labels)))


def labeller_pairs(labels: Iterable[Labelled], *, confidence: float = 0.95) -> list[LabellerPair]:
    """Return the agreement of each two people who labelled the same items, in the order of their names.

    Source of kappa and its interval: see `proctor.stats.agreement.cohen_kappa`. It treats both people alike.
    """
    of_people: defaultdict[str, dict[Key, bool]] = defaultdict(dict)
    for label in labels:
        of_people[label.labeller][label.key] = label.passes
    pairs = []
    for first, second in combinations(sorted(of_people), 2):
        one, other = of_people[first], of_people[second]
        confusion = Confusion.of((one[key], other[key]) for key in one if key in other)
        if confusion.total:
            pairs.append(
                LabellerPair(
                    first, second, confusion, Figure.of(cohen_kappa(confusion, confidence=confidence))
                )
            )
    return pairs
