"""The table of a project's settings, from the declarations of the options of a run."""

from proctor.engine.run_options import OPTIONS
from proctor.runs.setup.settings import setting_kinds
from tests.docs.examples.pages import ROOT
from tests.docs.reference.docstrings import table

PAGE = "reference/settings.md"
BEGIN = "<!-- `make reference` writes this table: begin -->\n"
END = "<!-- end -->"

PROJECT = {
    "agent": ("first argument, `--agent`", "The agent to run. Several make one table side by side."),
    "sets": (
        "further arguments, `--set`",
        "Files, folders, `file.json:case_1,case_2`, or ids of sets in the folder of the agent.",
    ),
    "store": (
        "`--store`",
        "Where runs are stored; `memory:` for nowhere. `adk:DIR` also writes results in google-adk's format.",
    ),
    "artefacts": (
        "",
        "Store images, sounds and files above 256 kB [here](store.md#large-artefacts-outside-of-the-database), not in the database.",
    ),
    "env": ("", "Environment variables for the agent. One that is already set keeps its value."),
}
"""Settings that are not options of a run: how the command line spells them, and what they mean."""


def pages() -> dict[str, str]:
    """Return the page of settings with the present table."""
    text = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return {PAGE: f"{before}{BEGIN}\n{_table()}\n{END}{rest.partition(END)[2]}"}


def _table() -> str:
    rows = [[f"`{name}`", kind.expected, *_meaning(name)] for name, kind in setting_kinds().items()]
    return table(["key", "value", "meaning", "default", "command line"], rows)


def _meaning(name: str) -> tuple[str, str, str]:
    if name in PROJECT:
        flags, meaning = PROJECT[name]
        return meaning, "", flags
    option = OPTIONS[name]
    return option.help, option.default_text, ", ".join(f"`{flag}`" for flag in option.flags)
