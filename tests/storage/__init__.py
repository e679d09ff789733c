"""Storage against the log directories of real brokers."""
