"""One attempt at one case: the conversation with the agent, and the evidence that it leaves.

Start with `trial_runner`, then `conversation`.
"""
