"""Who leads and who holds what: decided from the store, told to the brokers."""
