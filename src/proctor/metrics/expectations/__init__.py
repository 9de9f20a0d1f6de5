"""What a case expects of tool calls beyond a list: optional ones, alternatives, groups in any order, limits."""
