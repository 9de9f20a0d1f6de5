"""Making and changing eval sets: record, bless, edit, generate, adopt; and checking them.

Each module is one verb. `files.edit` changes the files.
"""
