"""Who may ask for what: tokens, origins, addresses, and which agents and models a page may name.

Start with `guard`.
"""
