"""The agent of the recorded runs, twice: its script played again, and google-adk's own agent run by our adapter."""

from pathlib import Path
from typing import Any

import pytest

from tests.compat.golden.recorded import golden, scripted

REAL = pytest.param(
    "google-adk",
    marks=[pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")],  # google-adk warns about itself
)


@pytest.fixture(scope="module", params=["replayed", REAL])
def agent(request: pytest.FixtureRequest, shared: Path) -> Any:
    if request.param == "replayed":
        return scripted(shared)
    from tests.compat.golden.golden_agent import golden_agent

    return golden_agent(golden(shared, "service_runs.json", 16)["script"])
