"""A gate for searches that improve an agent: held-out cases, and a budget of looks at them.

Start with `accept_candidate`, then `split`.
"""
