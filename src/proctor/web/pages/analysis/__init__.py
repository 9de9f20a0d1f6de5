"""The data of the pages about several runs: comparison, history, judges."""
