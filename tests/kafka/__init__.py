"""Ottla's log files beside a real Apache Kafka: its tools read them, its broker serves them."""
