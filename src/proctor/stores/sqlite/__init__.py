"""The store in one SQLite file, or in memory. Start with `open`; `connection` migrates files of older versions."""
