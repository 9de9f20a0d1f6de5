"""As `google.adk.evaluation.eval_rubrics`."""

from proctor.schema.format.rubric import Rubric, RubricContent, RubricScore

__all__ = ["Rubric", "RubricContent", "RubricScore"]
