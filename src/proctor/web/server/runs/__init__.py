"""Runs that the page starts and watches.

Start with `run_command`, which turns a request into a command; `active_runs` executes it, `follow` streams its events.
"""
