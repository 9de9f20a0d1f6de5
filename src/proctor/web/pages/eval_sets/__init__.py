"""The models of the pages that show and edit eval sets.

Start with `load_eval_sets`, which reads them from the files of a project.
"""
