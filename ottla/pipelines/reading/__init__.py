"""From a record's bytes to a row that keeps its contract, in Arrow batches."""
