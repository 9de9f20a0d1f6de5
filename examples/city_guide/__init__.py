"""A city guide, judged by rubrics and for what it makes up."""
