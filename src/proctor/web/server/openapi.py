"""Write the OpenAPI description of Proctor's API, for the types of the page: `python -m proctor.web.server.openapi`."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Write the OpenAPI document as JSON to standard output."""
    from proctor.web.server.app import create_app
    from proctor.web.server.context import ServerContext

    document = create_app(ServerContext(root=Path())).openapi()
    document["info"].pop("version", None)  # a new version alone changes no type
    json.dump(document, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
