"""The toy as a plain Python function, in worker processes (`--isolate`)."""

import proctor

root_agent = proctor.load_agent("tests.agents.frameworks.toys.function:root_agent", isolate=True)
