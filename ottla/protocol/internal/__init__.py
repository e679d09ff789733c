"""What brokers and clients store or carry inside records and other messages."""
