"""What holds for every file: sizes, names, banned calls."""
