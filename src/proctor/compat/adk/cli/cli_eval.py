"""As `google.adk.cli.cli_eval`."""

from collections.abc import Sequence

from proctor.files.find import split_selectors

__all__ = ["parse_and_get_evals_to_run"]


def parse_and_get_evals_to_run(evals_to_run_info: Sequence[str]) -> dict[str, list[str]]:
    """Return sets and their cases as a command line names them: `set`, or `set:case_1,case_2`."""
    return split_selectors(evals_to_run_info)
