"""Metrics for Prometheus: one table of families, served while jobs run or written to a file."""
