"""One file per API; `HANDLERS` is the one list of what a broker serves."""
