"""The logic of the rules that need more than a list of symbols, one file per topic."""
