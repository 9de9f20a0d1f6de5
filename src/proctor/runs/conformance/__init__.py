"""`proctor agent check`: checks whether an agent conforms to the contract.

Start with `check`.
"""
