"""Setup of a run: turns the user's arguments into a plan of agents, eval sets, configs, judges and simulated users.

Start with `prepare`, which reports all problems at once.
"""
