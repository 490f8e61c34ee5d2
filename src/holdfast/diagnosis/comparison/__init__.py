"""Compares two checkpoints, or one checkpoint at two batches."""
