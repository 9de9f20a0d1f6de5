"""Reading, checking and writing the files of the format. `load` reads, `find` says what a name means, `check` judges."""
