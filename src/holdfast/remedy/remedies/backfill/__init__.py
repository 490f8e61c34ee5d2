"""Backfill: compute a bounded range again into the same sink, next to the running stream."""
