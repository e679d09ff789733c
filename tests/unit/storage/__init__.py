"""The log's rules and files, without a real disk."""
