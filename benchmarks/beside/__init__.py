"""Ottla beside Apache Kafka: the same drivers, the same topics, one machine, one run."""
