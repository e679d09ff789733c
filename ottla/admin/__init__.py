"""Administration over the wire protocol, of Ottla and of Apache Kafka alike."""
