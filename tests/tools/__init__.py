"""Kafka's own command-line tools against a broker under test: what they print is asserted."""
