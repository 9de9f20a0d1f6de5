"""Pages of many rows: sent as pydantic writes them, without going through Python's own JSON."""

from __future__ import annotations

from fastapi import Response

from proctor.schema.results.page_model import PageModel


def as_json(page: PageModel) -> Response:
    """Return a page as an answer. Of a route that has the page's model as its `response_model`."""
    return Response(page.model_dump_json(), media_type="application/json")
