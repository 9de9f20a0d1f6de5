"""Rules that find faults of simulated users in finished conversations: pure functions, one module for each kind of fault.

Start at `detect` (the table of rules) and `conversation` (what a rule gets).
"""
