"""The prompts of the LLM judges, one Markdown file per metric."""
