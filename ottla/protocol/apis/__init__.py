"""The requests and responses of Kafka's wire protocol: one file for each API."""
