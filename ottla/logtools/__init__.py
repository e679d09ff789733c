"""Tools for log files: show, check and rebuild what lies in a log directory, broker or not."""
