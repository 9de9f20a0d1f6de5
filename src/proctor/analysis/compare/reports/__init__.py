"""A comparison as text: for a terminal, plain, as Markdown and as JSON.

Start with `text`, which holds the sentences that all of them share.
"""
