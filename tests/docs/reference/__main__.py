"""Rewrite every generated page: `make reference`, or `python -m tests.docs.reference`."""

from tests.docs import help_pages
from tests.docs.reference.all_pages import rewrite

help_pages.rewrite()
rewrite()
