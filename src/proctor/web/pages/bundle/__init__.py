"""The page as a single HTML file that needs no server (`--report html=FILE`).

Start with `html_report`; `single_file` writes the file, `store_pages` adds the pages that need a store.
"""
