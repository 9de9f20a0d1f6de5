"""The verdicts that people label next, and how many more labels a calibration needs.

Held-out cases come at random, the others from the most informative one on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from proctor.analysis.acceptance.held_out_set import stable_position
from proctor.analysis.calibration.judge_verdicts import JudgedItem
from proctor.schema.analysis.calibration import Agreement, Key, Labelled
from proctor.stats.agreement import items_for_width


def is_held_out(key: Key, share: float) -> bool:
    """Choose by the ids of set and case alone: the same cases in every run, independent of other labels."""
    return stable_position(f"{key[0]}\0{key[1]}") < share


def next_to_label(
    items: Iterable[JudgedItem], labelled: Collection[Key], count: int, *, held_out: float
) -> list[JudgedItem]:
    """Return the next `count` verdicts to label, in an order that reveals nothing about them.

    A share `held_out` of them is of held-out cases, drawn at random: TPR and TNR are computed from these, and a choice by the score
    or by the verdict would bias both (verification bias). The others come from the most informative one on (see
    `most_informative`): they show where the judge is wrong. If one kind has too few, the other fills up. The draw depends on
    the ids alone, and an item without a verdict is left out.

    Source of the bias: C. B. Begg, R. A. Greenes, "Assessment of diagnostic tests when disease verification is subject to
    selection bias", Biometrics 39 (1983), 207-215.
    """
    candidates = [item for item in items if item.passes is not None and item.key not in labelled]
    held_out_items = sorted((item for item in candidates if is_held_out(item.key, held_out)), key=_draw)
    others = most_informative([item for item in candidates if not is_held_out(item.key, held_out)])
    first = min(len(held_out_items), max(round(count * held_out), count - len(others)))
    return sorted([*held_out_items[:first], *others[: count - first]], key=_draw)


def second_to_label(
    items: Iterable[JudgedItem],
    others: Collection[Key],
    labelled: Collection[Key],
    count: int,
    *,
    held_out: float,
) -> list[JudgedItem]:
    """Return the next verdicts that other people have labelled, and this person has not: held-out cases first, else at random."""
    verdicts = [item for item in items if item.passes is not None]
    candidates = [item for item in verdicts if item.key in others and item.key not in labelled]
    chosen = sorted(candidates, key=lambda item: (not is_held_out(item.key, held_out), _draw(item)))
    return sorted(islice(chosen, count), key=_draw)


def most_informative(items: Sequence[JudgedItem]) -> list[JudgedItem]:
    """Return verdicts, the most informative first.

    First those whose votes disagree most, then those whose scores are nearest to the threshold; among equals passes and fails
    alternate, each drawn by its ids.

    Sources: H. S. Seung, M. Opper, H. Sompolinsky, "Query by committee", COLT 1992, 287-294 (disagreement of votes);
    D. D. Lewis, W. A. Gale, "A sequential algorithm for training text classifiers", SIGIR 1994, 3-12 (nearest to the threshold).
    """
    drawn: Counter[tuple[float, float, bool]] = Counter()
    ranked = []
    for item in sorted(items, key=_draw):
        group = item.agreement, item.distance, bool(item.passes)
        ranked.append((*group[:2], drawn[group], group[2], item))
        drawn[group] += 1
    ranked.sort(key=lambda one: one[:4])
    return [item for *_, item in ranked]


def _draw(item: JudgedItem) -> float:
    return stable_position("\0".join(map(str, item.key)))


# --- progress ---------------------------------------------------------------------------------------------------------


AIM_WIDTH = 0.2
"""The aim: the confidence intervals of TPR and TNR are at most this wide."""


@dataclass(frozen=True, slots=True)
class LabellingProgress:
    """The labels of one judge's verdicts so far."""

    agreement: Agreement
    """The figures over the labels of held-out cases: those that a calibration would store now."""
    other_labels: int
    """The number of labels of the other cases."""
    wanted_passes: int
    """How many more labels pass of held-out cases narrow the interval of TPR to the aim, if TPR remains as it is."""
    wanted_fails: int
    """The same for labels fail and TNR."""
    wanted: int
    """The estimated number of labels until both are reached, of all cases, at the present share of passes."""


def labelling_progress(
    items: Mapping[Key, JudgedItem], labels: Iterable[Labelled], *, held_out: float, confidence: float = 0.95
) -> LabellingProgress:
    """Return the progress; `labels`: the label of each item that counts."""
    pairs = [(label, passes) for label in labels if (passes := _verdict(items, label)) is not None]
    held_out_pairs = [(label.passes, passes) for label, passes in pairs if is_held_out(label.key, held_out)]
    agreement = Agreement.of(held_out_pairs, confidence=confidence)
    confusion = agreement.confusion
    more_passes = _wanted(confusion.both_pass, confusion.human_passes, confidence)
    more_fails = _wanted(confusion.both_fail, confusion.human_fails, confidence)
    share = (confusion.human_passes + 1) / (confusion.total + 2)
    labels_needed = ceil(max(more_passes / share, more_fails / (1 - share)) / held_out)
    return LabellingProgress(
        agreement, len(pairs) - len(held_out_pairs), more_passes, more_fails, labels_needed
    )


def _wanted(right: int, total: int, confidence: float) -> int:
    return max(0, items_for_width(right, total, AIM_WIDTH, confidence=confidence) - total)


def _verdict(items: Mapping[Key, JudgedItem], label: Labelled) -> bool | None:
    return item.passes if (item := items.get(label.key)) is not None else None
