"""One partition's log on one disk."""
