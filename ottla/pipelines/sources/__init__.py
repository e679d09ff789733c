"""Where a pipeline's rows come from: topics, files of a folder, a table."""
