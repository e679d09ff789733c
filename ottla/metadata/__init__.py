"""The cluster as one immutable value, as this broker was told of it."""
