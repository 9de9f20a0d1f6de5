"""Reading, checking, converting and writing eval sets and configs.

Start with `source` (`open_eval_set`) and `load` (configs and other files). `documents` decides which document a file is,
and `selectors` resolves names such as `FILE:CASE`.
"""
