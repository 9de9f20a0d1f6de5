"""The providers of chat models: one module each, and the client of pydantic-ai that they share.

A provider makes one request and reports what failed; `models.retries` decides whether to try again.
"""
