"""The metric `numeric_match`: numbers in an answer, in digits and in words, and how they are matched.

Start with `numeric_match`.
"""
