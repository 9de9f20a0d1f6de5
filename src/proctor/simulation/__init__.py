"""Simulated users: they play the user in conversations that are not recorded.

Start at `base` (the contract) and `pool` (the users of a run). `scenario_user` plays one scenario, with messages from `user_models`.
`faults` finds the turns in which a simulated user went off script.
"""
