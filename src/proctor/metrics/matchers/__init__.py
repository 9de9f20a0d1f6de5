"""Matchers: how an argument, a tool's response or a part of the state is compared with the expected one.

`kinds` holds the matchers, `parse` reads them from JSON, `templates` combines them with plain values.
"""
