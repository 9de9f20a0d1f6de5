"""Reading, checking and writing the files of the format. `load` reads, `find` resolves names, `check` validates."""
