"""The pages of an audit: the list of audits, one audit with its classes of faults, and one case with its mutants."""
