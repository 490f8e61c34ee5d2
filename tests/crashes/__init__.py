"""Kills real runs at every named moment of every sink, runs them again, and judges the output."""
