"""Consumers of a whole simulated broker, and a model of what their coordinator may answer."""
