"""Examines a checkpoint with everything around it, and says what the next start will meet."""
