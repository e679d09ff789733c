"""Ottla: a broker cluster in Python that any Kafka client takes for Apache Kafka."""

__version__ = "0.1.0"
