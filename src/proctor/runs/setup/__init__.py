"""From what the user named to a plan: agents, eval sets, configs, judges, simulated users.

Start with `prepare`, which reports all problems at once.
"""
