"""`--on`: the trials of a run on workers. The contract is in `engine/execution/workers.py`.

Start with `make_pool`; `trial_server` is the program of a worker, and the other modules are engines.
"""
