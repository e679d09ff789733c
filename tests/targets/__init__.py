"""The brokers that tests speak to: a real Kafka, and Ottla as a program of its own."""
