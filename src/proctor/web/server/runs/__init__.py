"""Runs that the page starts and follows.

Start with `run_command`, which makes a command of the form.
"""
