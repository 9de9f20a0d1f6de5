"""Conversations with an agent on the page.

Start with `chats`.
"""
