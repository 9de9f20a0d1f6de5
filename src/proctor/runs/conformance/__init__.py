"""`proctor agent check`: whether an agent keeps the contract.

Start with `check`.
"""
