"""Reading result files and writing them: Proctor's reports, ADK's results, baselines, labels and recorded answers.

Start with `read`, which accepts each of these forms.
"""
