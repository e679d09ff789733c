"""Where a pipeline's rows go, one sink a file, each with the guarantee it names."""
