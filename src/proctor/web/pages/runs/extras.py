"""What is known of each case only by its evidence, beside the table that is there at once."""

from __future__ import annotations

from proctor.schema.results.page_model import PageModel


class CaseExtras(PageModel):
    """Tags and costs of the cases of a run."""

    tags: dict[str, list[int]]
    """By tag the positions of its cases."""
    costs: list[float | None]
    """US dollars by position; null: not known. Empty where nothing is known of any."""
