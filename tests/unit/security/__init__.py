"""Rules of security, without I/O."""
