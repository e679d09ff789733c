"""The clients of the benchmark beside Kafka, in C so that the broker is what limits, not they."""
