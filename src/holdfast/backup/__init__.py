"""Verified copies of a checkpoint beside it, and the way back."""
