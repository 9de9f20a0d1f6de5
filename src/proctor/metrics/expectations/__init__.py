"""The metric `tool_expectations`: optional calls, alternatives, groups in any order, forbidden calls, limits.

Start with `tool_expectations`; `call_patterns` describes single calls, `grammar` aligns a turn's calls with the expected ones, and
`forbidden_calls` and `misspelled_calls` guard against expectations that a misspelling would always meet.
"""
