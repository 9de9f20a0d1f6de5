"""Read and write result files: Proctor's reports, ADK's results, baselines, labels and recorded answers.

Start with `read`, which accepts each of these forms.
"""
