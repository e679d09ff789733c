"""The source and sink without jars."""
