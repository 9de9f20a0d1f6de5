"""Agents in other processes: any command that exchanges JSON lines, and Python agents in workers.

Start at `process_agent` (the common part, and `cmd:`) and `worker_agent` (`--isolate`).
"""
