"""Test the tests: mutation analysis of eval sets. The recorded conversation must pass, and its mutants must fail.

Start with `audit_sets`; `mutant` explains the words. The operators are in `*_mutants` and `wrong_facts`, and listed in `operators`.
"""
