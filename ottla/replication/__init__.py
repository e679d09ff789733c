"""The partitions that this broker holds: who may append, what is committed, who waits for it."""
