"""The page as a single HTML file that needs no server (`--report html=FILE`).

Start with `single_file`.
"""
