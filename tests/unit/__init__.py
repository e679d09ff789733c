"""The package's tree again: rules and commands, without I/O, in milliseconds."""
