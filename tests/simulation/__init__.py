"""Storage under faults, from seeds: one number repeats a failure exactly."""
