"""May this code continue from this checkpoint? Rules that compare facts, and their verdict."""
