"""Reading, checking, converting and writing eval sets and configs.

`load` is the entry point; `detect_format` decides what a file is, and `selectors` what a name such as `FILE:CASE` selects.
"""
