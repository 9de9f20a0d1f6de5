"""Matchers: how an argument, a tool's response or a part of the state is compared with the expected one.

`kinds` holds the matchers and combines them with plain values, `parse` reads them from JSON.
"""
