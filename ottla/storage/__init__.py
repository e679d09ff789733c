"""One partition's log on one disk, in Kafka's files."""
