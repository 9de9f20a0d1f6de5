"""Reading, checking, converting and writing eval sets and configs.

`load` is the entry point; `detect_format` decides which document a file is, and `selectors` resolves names such as `FILE:CASE`.
"""
