"""Access control: tokens, origins, request limits, and the agents and models that a page may name.

Start with `guard`.
"""
