"""Simulated users: they play the user in conversations that are not recorded.

Start at `base` (the contract) and `pool` (the users of a run). `user_models` write their messages, from the prompt of `user_prompt`.
`faults` finds the turns in which a simulated user went off script.
"""
