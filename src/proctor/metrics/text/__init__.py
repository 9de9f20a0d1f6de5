"""Metrics of the final answer's text.

Start with `answer`, the base class, and `exact_match`, a simple metric. `rouge` and `unicode_words` split texts into words,
`visible` and `normal_form` determine which differences of texts count.
"""
