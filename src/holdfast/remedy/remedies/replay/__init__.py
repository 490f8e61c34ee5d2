"""Replay: which batch it begins with, and whether checkpoint, sink and sources allow it."""
