"""The simulation's own rules: what its ports may and may not do."""
