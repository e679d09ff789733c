"""One partition's log: the rules and file formats."""
