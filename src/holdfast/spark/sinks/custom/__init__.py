"""Functions of the user's, and sinks for development."""
