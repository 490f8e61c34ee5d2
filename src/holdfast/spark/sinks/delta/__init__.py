"""Writes batches to a Delta table."""
