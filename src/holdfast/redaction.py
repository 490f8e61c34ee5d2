"""Keeps secrets out of everything that is printed or written."""
