"""Chat models: the models that LLM judges and user simulators call, never the agent under test.

Start at `base` (the contract) and `load` (from a name to a model). `retries` adds retries and limits; `providers` holds the clients.
"""
