"""Why a case failed: text blocks, and the differences between what was expected and what happened.

Start with `case_evidence`.
"""
