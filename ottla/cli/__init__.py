"""The commands of `ottla`, one file per command group."""
