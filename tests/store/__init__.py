"""The store against the nodes that real brokers wrote."""
