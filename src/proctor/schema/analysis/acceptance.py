"""The answer of the gate for searches: whether a candidate is accepted, and how many looks at the held-out cases are left."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.schema.analysis.comparison import Comparison


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The result of testing one candidate of a search on held-out cases. `bool()` of it is `accepted`."""

    accepted: bool
    """Whether cases like these pass more often with the candidate, significantly at `level`, and nothing is significantly worse."""
    comparison: Comparison
    """The comparison of the two runs. Do not let the search read it: it describes held-out cases."""
    level: float
    """The significance level of this look: `alpha` / `budget_of_looks`. The confidence interval of the comparison has the same level."""
    alpha: float
    """The probability that the whole budget accepts a candidate that is not better."""
    budget_of_looks: int
    looks_used: int
    """With this look."""
    sentence: str
    """A sentence with the decision and its basis. It describes no single case."""

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        return f"<Acceptance: {self.sentence}>"

    @property
    def looks_left(self) -> int:
        """The number of looks that are left in the budget."""
        return self.budget_of_looks - self.looks_used
