"""Draws answers for the terminal; everything here gets data without secrets."""
