"""Reports: runs, cases, comparisons and lists as text, tables and JSON.

`base` is the contract of a report, `content` has what reports state, and `terminal`, `plain` and `formats` write it.
Start with `content.text_blocks`, the model of text, and `content.run_blocks`, which uses it.
"""
