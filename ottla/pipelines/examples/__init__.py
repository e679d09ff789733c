"""Pipelines to try, to read and to begin with; `ottla demo` runs them."""
