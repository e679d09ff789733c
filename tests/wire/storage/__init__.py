"""Logs that Apache Kafka kept, and what became of them there."""
