"""The same requests to Apache Kafka and to another broker, answers compared field by field."""
