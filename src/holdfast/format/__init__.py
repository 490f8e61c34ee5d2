"""Bytes to entries and back: pure functions, no disk, no clock, no Spark."""
