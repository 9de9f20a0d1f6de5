"""The metric `tool_expectations`: optional calls, alternatives, groups in any order, forbidden calls, limits.

Start with `tool_expectations`; `grammar` compares calls with expected ones, `forbidden_calls` guards against misspelled names.
"""
