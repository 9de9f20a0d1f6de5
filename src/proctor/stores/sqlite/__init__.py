"""The store in one SQLite file, or in memory. Start with `open_store` in `file`; `connection` migrates files of older versions."""
