"""The import path: which packages no folder of a project may hide."""

import re
from importlib.metadata import packages_distributions, requires

from proctor.agents.import_user_code import REQUIRED


def test_required_packages_are_those_of_the_installation() -> None:
    names = {
        re.split(r"[^\w.-]", line)[0].lower() for line in requires("proctor") or [] if "extra ==" not in line
    }
    owners = packages_distributions()
    assert {owner.lower() for name in REQUIRED for owner in owners[name]} == names
