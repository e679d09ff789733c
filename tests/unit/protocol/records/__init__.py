"""Record batches of all three formats."""
