"""One partition's log: its rules, its file formats and its files."""
