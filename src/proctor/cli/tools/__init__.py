"""The other commands: `agent`, `metrics`, `trace`, `score-trace`, `web`.

One module per command.
"""
