"""Conversations with an agent in the page.

Start with `chats`.
"""
