"""The models of the eval-set format, as ADK writes it: eval sets, cases, invocations, configs, results.

They hold data and read every spelling of the format. Start with `case`, then `invocation`.
"""
