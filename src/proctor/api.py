"""The doors' door: everything the command line can do, from Python."""

from __future__ import annotations
