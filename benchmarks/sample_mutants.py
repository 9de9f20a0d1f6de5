"""A sample of mutants to read: does each of them really have a fault? The classes have equal shares, as far as they have so many.

    python -m benchmarks.sample_mutants [FOLDER] [--seed N] [--count N] [--class NAME]

FOLDER holds eval sets (`../shared/corpus` next to the repository when not given). Equal mutants of several files count once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, zip_longest
from pathlib import Path
from random import Random

from benchmarks.corpus_table import CORPUS
from proctor import load_eval_set
from proctor.authoring.audit.make_mutants import OPERATORS, Mutant, mutants_of
from proctor.authoring.audit.mutant import Events, Recording, texts_before_answer
from proctor.errors import ProctorError
from proctor.schema.analysis.audit_result import AGENTS

CONTEXT = 60
"""Characters that are shown on each side of a change."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A mutant as a reader needs it."""

    operator: str
    asked: str
    fault: str
    before: str
    after: str

    def lines(self) -> Iterator[str]:
        """Yield the question, the fault, and the change with the words around it."""
        yield f"[{self.operator}] {_one_line(self.asked, 160)}"
        yield f"  {_one_line(self.fault, 200)}"
        for mark, text in zip("-+", _around(self.before, self.after), strict=True):
            if self.before != self.after:
                yield f"  {mark} {_one_line(text, 260)}"


def _around(before: str, after: str) -> tuple[str, str]:
    """Return both texts from a little before their first difference to a little after their last one."""
    start = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    end = SequenceMatcher(
        None, before[start:][::-1][:400], after[start:][::-1][:400], autojunk=False
    ).find_longest_match()
    same = end.size if end.a == end.b == 0 else 0
    cut = [text[max(0, start - CONTEXT) : max(start, len(text) - same) + CONTEXT] for text in (before, after)]
    return cut[0], cut[1]


def _one_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def all_mutants(folder: Path, seed: int) -> dict[str, list[Sampled]]:
    """Return the mutants of all eval sets in a folder by class, each once."""
    found: dict[str, dict[Sampled, None]] = {
        name: {} for name, each in OPERATORS.items() if each.family != AGENTS
    }
    for path in sorted(folder.rglob("*.json")):
        try:
            cases = load_eval_set(path, allow_duplicate_ids=True).eval_cases
        except ProctorError:
            continue
        for case in cases:
            recording = Recording(case)
            for name, known in found.items():
                known.update(
                    dict.fromkeys(
                        _sampled(recording, each) for each in mutants_of(recording, OPERATORS[name], seed)
                    )
                )
    return {name: [*known] for name, known in found.items()}


def _sampled(recording: Recording, mutant: Mutant) -> Sampled:
    turn = len(recording.turns) - 1 if mutant.turn is None else mutant.turn
    asked = " / ".join(recording.messages[: turn + 1])
    before = _texts(recording.turns[turn], recording.answers[turn])
    after = before if mutant.turn is None else _texts(mutant.turns[turn], mutant.answer(turn))
    return Sampled(mutant.operator.name, asked, mutant.fault, before, after)


def _texts(events: Events, answer: str) -> str:
    return "\n".join([*texts_before_answer(events), answer])


def sample(mutants: dict[str, list[Sampled]], count: int, seed: int) -> Sequence[Sampled]:
    """Return so many mutants: one of each class in turn, until there are enough."""
    random = Random(seed)
    shuffled = [random.sample(each, len(each)) for each in mutants.values()]
    rounds = chain.from_iterable(zip_longest(*shuffled))
    return [each for each in rounds if each is not None][:count]


def main() -> None:
    """Print the sample, class by class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--class", dest="name", choices=[*OPERATORS])
    given = parser.parse_args()
    mutants = all_mutants(given.folder, given.seed)
    chosen = sample({given.name: mutants[given.name]} if given.name else mutants, given.count, given.seed)
    names = list(mutants)
    for number, each in enumerate(sorted(chosen, key=lambda one: names.index(one.operator)), 1):
        print(number, "\n".join(each.lines()))


if __name__ == "__main__":
    main()
