"""Writes batches as files."""
