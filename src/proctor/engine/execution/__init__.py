"""Many trials at a time: the queue, the worker tasks, the event loop, what is written to the store.

Start with `run`, then `executor`.
"""
