"""Record batches of all three formats: checked, patched, read, built and converted."""
