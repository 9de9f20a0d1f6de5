"""Edit eval-set files in place: only the changed text is replaced, and the rest of the file stays as written.

Start with `case`; `json_edit` and `yaml_edit` edit a text, and `editable_file` locks the file and checks the result.
"""
